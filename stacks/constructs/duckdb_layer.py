"""DuckDB as a Lambda layer: as ``make layers`` has unpacked it, because a synthesis downloads nothing."""

from pathlib import Path
from typing import Final

from aws_cdk import Annotations
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stacks.constructs.python_function import ROOT

FOLDER: Final = Path("dist/duckdb-layer")
# The context key of the folder: tests, and who deploys to an emulator, say that there is none.
LAYER_KEY: Final = "duckdb-layer"


def duckdb_layer(scope: Construct) -> list[lambda_.ILayerVersion]:
    """The layer; none where it was not made, which a warning then says.

    The function fails without it, is repeated and has an alarm. What arrives is kept meanwhile, and taken in by the
    first run that has it: a platform is not kept from being deployed by its accounts.
    """
    named = scope.node.try_get_context(LAYER_KEY)
    folder = ROOT / (FOLDER if named is None else str(named))
    if not (folder / "python" / "duckdb").is_dir():
        Annotations.of(scope).add_warning_v2(
            "neuron-fleet:ledger-without-duckdb",
            f"{FOLDER} is not there, so the ledger is not rolled up until you run `make layers` and deploy again; "
            "what arrives meanwhile is kept",
        )
        return []
    return [
        lambda_.LayerVersion(
            scope,
            "DuckDb",
            code=lambda_.Code.from_asset(str(folder), exclude=["**/__pycache__"]),
            compatible_runtimes=[lambda_.Runtime.PYTHON_3_14],
            compatible_architectures=[lambda_.Architecture.ARM_64],
        )
    ]
