"""``python -m local.training.image.rank MODULE …``: one rank of a script on a machine without its frameworks."""

import runpy
import sys

from local.training.image import frameworks


def main() -> None:
    """Put stand-ins where the frameworks are imported from, and run the script as ``python -m`` would."""
    frameworks.install()
    module = sys.argv[1]
    sys.argv = sys.argv[1:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
