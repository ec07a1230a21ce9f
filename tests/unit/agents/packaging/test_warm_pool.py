"""A node that its group keeps stopped: what the installer does on the way into the pool, and at the boot after it.

The scripts are run for real in a folder that stands for a node's /; small scripts stand for the metadata service, AWS,
systemd and docker.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.agent_installation import PACKAGING, Machine, packed
from tests.unit.agents.packaging.test_bootstrap import INSTALLED, version

POOLED, WANTED = "Warmed:Stopped", "InService"
REGISTRY = "111122223333.dkr.ecr.us-east-2.amazonaws.com"
IMAGE = f"{REGISTRY}/chat:sdk2.28@sha256:{'a' * 64}"
COMPLETED = (
    "autoscaling complete-lifecycle-action --auto-scaling-group-name chat-nodes --lifecycle-hook-name prepare"
    " --instance-id i-1 --lifecycle-action-result CONTINUE"
)
PULLED = ["start docker.service", f"docker login --username AWS --password-stdin {REGISTRY}",
          f"docker pull --quiet {IMAGE}"]  # fmt: skip


class PooledNode(Machine):
    """``calls`` is what systemctl, docker and the group were told, in the order in which they were."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.states = folder / "states"
        self.put_script(
            "curl",
            'case "$*" in\n*api/token*) echo token ;;\n*instance-id) echo i-1 ;;\n'
            f'*target-lifecycle-state) [ -s "{self.states}" ] || exit 22\nhead -n 1 "{self.states}"\n'
            # The last one stays.
            f'[ "$(wc -l <"{self.states}")" -lt 2 ] || sed -i 1d "{self.states}" ;;\nesac',
        )
        self.put_script(
            "aws",
            f'case "$1 $2 $4" in\n"autoscaling "*) echo "$*" >>"{self.calls_file}" ;;\n"ecr "*) echo password ;;\n'
            f'"ssm get-parameter "*) cat "{self.s3}/parameter$(echo "$4" | tr / _)" ;;\n'
            f'"s3 cp "*) cp "{self.s3}/${{4##*/}}" "$5" ;;\nesac',
        )
        self.docker_answers()
        # EC2 stops the node where it waits; tests in which nobody does so say something else.
        self.put_script("sleep", "kill -TERM $PPID")
        (self.s3 / "parameter_pool").write_text(f"chat-nodes prepare {IMAGE}\n")

    def docker_answers(self, status: int = 0) -> None:
        self.put_script("docker", f'echo "docker $*" >>"{self.calls_file}"\nexit {status}')

    def boot(self, *states: str) -> subprocess.CompletedProcess[str]:
        """Start the node, whose group means it for ``states``, one after the other each time that it asks."""
        shutil.rmtree(self.root / "run", ignore_errors=True)
        self.calls()
        self.states.write_text("".join(f"{state}\n" for state in states))
        return self.install(WARM_POOL_PARAMETER="/pool")


@pytest.fixture
def node(tmp_path: Path) -> PooledNode:
    made = PooledNode(tmp_path)
    made.publish(packed("one"))
    return made


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_both_shells_of_the_images_understand_the_script(shell: str) -> None:
    assert subprocess.run([shell, "-n", str(PACKAGING / "warm-pool.sh")], check=False).returncode == 0


def test_a_node_on_its_way_into_the_pool_has_everything_ready_and_no_agent(node: PooledNode) -> None:
    run = node.boot(POOLED)

    # Stopped where it waits, and not by anything that went wrong.
    assert run.returncode != 0
    assert run.stdout == "neuron-fleet warm pool: ready to be stopped\n"
    assert node.calls() == [*PULLED, COMPLETED]
    assert (node.folder / "versions" / version("one") / ".whole").exists()
    # Nothing enabled and nothing started: no heartbeat, no health gate, also not at a later boot by itself.
    assert not (node.folder / "current").is_symlink()
    assert not (node.root / "etc/systemd/system/neuron-fleet-agent.service").exists()
    assert not (node.root / "run/neuron-fleet/gate").exists()


def test_the_boot_after_it_starts_the_agent_of_the_disk_and_tells_the_group(node: PooledNode) -> None:
    node.boot(POOLED)
    built = (node.folder / "versions" / version("one") / ".whole").stat().st_mtime_ns

    run = node.boot(WANTED)

    assert (run.returncode, run.stderr) == (0, "")
    assert node.calls() == [COMPLETED, *INSTALLED]
    assert (node.folder / "versions" / version("one") / ".whole").stat().st_mtime_ns == built
    assert (node.root / "run/neuron-fleet/gate").read_text() == "passed\n"


def test_a_node_that_is_wanted_before_it_was_stopped_serves_without_another_boot(node: PooledNode) -> None:
    node.put_script("sleep", "exit 0")

    run = node.boot(POOLED, POOLED, POOLED, WANTED)

    assert run.returncode == 0
    assert node.calls() == [*PULLED, COMPLETED, COMPLETED, *INSTALLED]


def test_a_new_node_that_skips_the_pool_serves_at_once(node: PooledNode) -> None:
    run = node.boot(WANTED)

    assert run.returncode == 0
    assert node.calls() == [COMPLETED, *INSTALLED]


def test_an_installation_by_hand_tells_the_group_nothing_again(node: PooledNode) -> None:
    node.boot(WANTED)
    node.calls()

    run = node.install(WARM_POOL_PARAMETER="/pool")

    assert run.stdout.endswith("nothing to change\n")
    assert COMPLETED not in node.calls()


def test_an_image_that_cannot_be_fetched_does_not_keep_the_node_from_the_pool(node: PooledNode) -> None:
    node.docker_answers(1)

    run = node.boot(POOLED)

    assert run.stderr == f"neuron-fleet warm pool: {IMAGE} cannot be fetched: ECS fetches it\n"
    assert node.calls()[-1] == COMPLETED


def test_an_image_of_a_public_registry_needs_no_password(node: PooledNode) -> None:
    (node.s3 / "parameter_pool").write_text("chat-nodes prepare public.ecr.aws/chat:1\n")

    node.boot(POOLED)

    assert node.calls() == ["start docker.service", "docker pull --quiet public.ecr.aws/chat:1", COMPLETED]


def test_the_registrys_password_does_not_stay_on_the_disk(node: PooledNode) -> None:
    node.put_script("docker", f'[ "$1" != login ] || {{ touch "$DOCKER_CONFIG/config.json"; echo "$DOCKER_CONFIG" '
                              f'>>"{node.calls_file}"; }}')  # fmt: skip

    node.boot(POOLED)

    (_, folder, *_) = node.calls()
    assert folder.startswith("/tmp/")  # noqa: S108 - what mktemp made
    assert not Path(folder).exists()


@pytest.mark.parametrize("state", [POOLED, WANTED])
def test_without_its_parameter_the_node_goes_on_and_its_group_after_it(node: PooledNode, state: str) -> None:
    (node.s3 / "parameter_pool").unlink()

    run = node.boot(state)

    assert "the parameter /pool cannot be read" in run.stderr
    assert COMPLETED not in node.calls()
    assert (node.folder / "current").is_symlink() is (state == WANTED)


def test_a_node_of_which_the_metadata_service_knows_nothing_serves(node: PooledNode) -> None:
    node.put_script("sleep", "exit 0")

    run = node.boot()

    assert run.returncode == 0
    assert "the metadata service does not know what the node is meant for: it serves" in run.stderr
    assert node.calls() == INSTALLED


def test_a_group_that_is_behind_is_told_again(node: PooledNode, tmp_path: Path) -> None:
    node.put_script("sleep", "exit 0")
    aws = (node.bin / "aws").read_text().partition("\n")[2]
    node.put_script("aws", f'if [ "$1" = autoscaling ] && [ ! -e "{tmp_path}/ready" ]; then touch "{tmp_path}/ready"; '
                           f"exit 255; fi\n{aws}")  # fmt: skip

    run = node.boot(WANTED)

    assert (run.returncode, run.stderr) == (0, "")
    assert node.calls() == [COMPLETED, *INSTALLED]


def test_a_group_that_waits_for_nothing_keeps_no_agent_from_starting(node: PooledNode) -> None:
    node.put_script("sleep", "exit 0")
    node.put_script("aws", (node.bin / "aws").read_text().replace('"autoscaling "*) ', '"autoscaling "*) exit 255\n'))

    run = node.boot(WANTED)

    assert run.returncode == 0
    assert "the group waits for nothing, or cannot be told to go on" in run.stderr
    assert node.calls() == INSTALLED
