"""pip without an index: the packages of this project's own environment stand for those that would be downloaded.

Refuses, as pip would, a version that it does not have. The environment's folder is in ``SANDBOX_PACKAGES``.
"""

import os
import re
import sys
from importlib import metadata
from pathlib import Path

PACKAGES = os.environ["SANDBOX_PACKAGES"]
LOCK = Path(sys.argv[sys.argv.index("-r") + 1])
wanted = dict(re.findall(r"^([A-Za-z0-9_.-]+)==([^ \\;]+)", LOCK.read_text(encoding="utf-8"), re.MULTILINE))
there = {
    each.metadata["Name"].lower().replace("_", "-"): each.version for each in metadata.distributions(path=[PACKAGES])
}
for name, version in wanted.items():
    if there.get(name.lower().replace("_", "-")) != version:
        sys.exit(f"ERROR: No matching distribution found for {name}=={version}")
Path(__file__).parents[1].joinpath("packages.pth").write_text(f"{PACKAGES}\n", encoding="utf-8")
