"""A cloud assembly of each environment named, below a folder. Runs on the modules of whatever version is asked for:

    python synthesize.py FOLDER ENVIRONMENT...

It prints {environment: {stack: template file}}. No alarm is linted: what a version could not deploy as it was released
is compared all the same, because copies of its file with other endpoints could be.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import aws_cdk as cdk

from environments import loader
from stacks.platform import Platform

Files = dict[str, dict[str, str]]


def synthesize(folder: Path, environments: Sequence[str]) -> Files:
    """Write the assemblies, FOLDER/ENVIRONMENT each, as the CDK command would have it."""
    flags = json.loads(Path("cdk.json").read_text(encoding="utf-8"))["context"]
    own = {"aws:cdk:enable-path-metadata": True, "agent-archive": "none", "duckdb-layer": "none"}
    files: Files = {}
    for name in environments:
        app = cdk.App(
            outdir=str(folder / name),
            context={**flags, **own},
            stack_traces=False,
            builtin_cloud_formation_validation=False,
        )
        stage = Platform(app, name, environment=loader.load(name))
        app.synth()
        files[name] = {each.stack_name: each.template_full_path for each in stage.synth().stacks}
    return files


if __name__ == "__main__":
    sys.stdout.write(json.dumps(synthesize(Path(sys.argv[1]), sys.argv[2:])))
