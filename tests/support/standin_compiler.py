"""Stand-ins for what a Neuron image has: ``neuronx-cc``, and what asks it for graphs.

Both work as logs show the real ones to: whoever asks takes the graph's lock in the cache, has it compiled in a folder
of its own, and puts the NEFF into the cache.
"""

import sys
from pathlib import Path
from typing import Final

from tests.support.compiled_graphs import VERSION

REPOSITORY: Final = Path(__file__).parents[2]
WORDS: Final = "TilingError: out of state buffer"
# Graphs that the compiler refuses, and one that it takes its time for.
BROKEN: Final = (13, 14)
SLOW: Final = range(50, 100)

_COMPILER: Final = f"""
import os, signal, sys, time
from pathlib import Path
from tests.support.compiled_graphs import content, graph
if "--version" in sys.argv:
    print("NeuronX Compiler version {VERSION.removeprefix("neuronxcc-")}\\n\\nPython version 3.10.12")
    sys.exit()
if "compile" not in sys.argv:
    print(" ".join(sys.argv[1:]))
    sys.exit(4)
source, target = next(Path(w) for w in sys.argv if w.endswith(".pb")), Path(sys.argv[sys.argv.index("--output") + 1])
number = int(source.name.split("_")[1].split("+")[0])
with open(Path(__file__).parent / "compiled", "a") as log:
    log.write(f"{{number}}\\n")
if number in {BROKEN}:
    sys.exit("ERROR [neuronx-cc]: {WORDS}") if number == 13 else os.kill(os.getpid(), signal.SIGKILL)
time.sleep(3 if number in {SLOW} else 0.1)
target.write_bytes(content(graph(number), "model.neff"))
print("Compiler status PASS")
"""
# Its arguments: graphs=1,2; without, those two.
_FRAMEWORK: Final = """
import os, shutil, subprocess, sys, tempfile
from pathlib import Path
from tests.support.compiled_graphs import content, graph
failed = 0
asked = next((w.partition("=")[2] for w in sys.argv if w.startswith("graphs=")), "1,2")
for each in (graph(int(number)) for number in asked.split(",")):
    cached = Path(os.environ["NEURON_COMPILE_CACHE_URL"]) / str(each)
    if (cached / "model.done").exists():
        continue
    cached.mkdir(parents=True, exist_ok=True)
    lock = cached / "model.hlo_module.pb.lock"
    lock.touch()
    for name in ("model.hlo_module.pb", "compile_flags.json"):
        (cached / name).write_bytes(content(each, name))
    with tempfile.TemporaryDirectory() as work:
        source, target = f"{work}/model.{each.module}.hlo_module.pb", f"{work}/model.{each.module}.neff"
        shutil.copy(cached / "model.hlo_module.pb", source)
        words = ["neuronx-cc", "compile", "--framework=XLA", source, "--output", target, "--target=trn1"]
        done = subprocess.run(words, stderr=subprocess.PIPE, text=True)
        sys.stderr.write(done.stderr)
        if done.returncode:
            failed += 1
            (cached / "model.log").write_text(done.stderr)
        else:
            shutil.copy(target, cached / "model.neff")
            (cached / "model.done").touch()
    lock.unlink()
sys.exit(failed)
"""


def install(folder: Path) -> str:
    """Programs for a job's PATH, which is returned; ``torchrun`` asks as ``neuron_parallel_compile`` does."""
    folder.mkdir(exist_ok=True)
    for name, content in (
        ("neuronx-cc", _COMPILER),
        ("neuron_parallel_compile", _FRAMEWORK),
        ("torchrun", _FRAMEWORK),
    ):
        path = folder / name
        if path.exists():
            # It may run.
            continue
        path.write_text(f"#!{sys.executable}\n{content}", encoding="utf-8")
        path.chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def compiled(folder: Path) -> list[int]:
    """The numbers of the graphs that the compiler in ``folder`` was run for, in order."""
    log = folder / "compiled"
    return [int(line) for line in log.read_text(encoding="utf-8").split()] if log.exists() else []
