"""Paths that are injected into user data, and units as the node's systemd reads them."""

import base64
from pathlib import Path

import pytest

from local.sandbox.boot_data import injected, inside, scripts
from local.sandbox.units import NoUnitError, load

ROOT = "/tmp/nf-1/root"  # noqa: S108 - a name, not a file


def test_the_shell_scripts_of_multipart_user_data_are_found() -> None:
    body = base64.b64encode(b"#!/bin/bash\necho hello\n").decode()
    text = (
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n'
        "--b\nContent-Type: text/cloud-config\n\nruncmd: []\n"
        f"--b\nContent-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n{body}\n--b--\n"
    )
    assert scripts(base64.b64encode(text.encode()).decode()) == ["#!/bin/bash\necho hello\n"]


def test_commands_go_to_the_nodes_folder_and_the_files_they_write_stay_as_they_are() -> None:
    script = "#!/bin/sh\ncat >/etc/x.env <<'END'\nfolder=$root/opt/a\nrun=/run/neuron-fleet\nEND\ninstall -d /opt/a\n"
    assert injected(script, ROOT) == (
        f"#!/bin/sh\ncat >{ROOT}/etc/x.env <<'END'\nfolder=$root/opt/a\nrun=/run/neuron-fleet\nEND\n"
        f"install -d {ROOT}/opt/a\n"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/opt/neuron-fleet/current", f"{ROOT}/opt/neuron-fleet/current"),
        ("/neuron-fleet/local/agents/opt/x", "/neuron-fleet/local/agents/opt/x"),
        (f"{ROOT}/opt/x", f"{ROOT}/opt/x"),
        ("$root/etc/x ${root}/etc/x", "$root/etc/x ${root}/etc/x"),
        ("/bin/sh /usr/bin/env", "/bin/sh /usr/bin/env"),
    ],
)
def test_only_the_nodes_own_paths_are_changed(text: str, expected: str) -> None:
    assert inside(text, ROOT) == expected


def test_a_unit_is_read_with_its_drop_ins(tmp_path: Path) -> None:
    own, added = tmp_path / "usr/lib/systemd/system", tmp_path / "etc/systemd/system/ecs.service.d"
    for folder in (own, added):
        folder.mkdir(parents=True)
    (own / "ecs.service").write_text("[Unit]\nExecStart=no\n[Service]\nType=simple\nExecStart=/usr/libexec/ecs start\n")
    (added / "gate.conf").write_text("[Service]\n# ExecStart=no\nExecStartPre=/bin/sh /opt/gate.sh\nType=exec\n")
    unit = load(tmp_path, "ecs.service")
    assert unit.commands("ExecStartPre") == [["/bin/sh", "/opt/gate.sh"]]
    assert unit.commands("ExecStart") == [["/usr/libexec/ecs", "start"]]
    assert unit.last("Type") == "exec"
    with pytest.raises(NoUnitError, match=r"Unit none.service not found"):
        load(tmp_path, "none.service")


def test_a_units_environment_comes_from_its_lines_and_files(tmp_path: Path) -> None:
    (tmp_path / "etc/systemd/system").mkdir(parents=True)
    (tmp_path / "etc/x.env").write_text("B=two words\n\n")
    text = '[Service]\nEnvironment=A=1 "C=x y"\nEnvironmentFile=/etc/x.env\n'
    (tmp_path / "etc/systemd/system/x.service").write_text(text)
    assert load(tmp_path, "x.service").environment(tmp_path) == {"A": "1", "B": "two words", "C": "x y"}
