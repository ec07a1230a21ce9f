"""The ledger as tables in Athena: one for its lines, one for what the bill says beside them."""

from collections.abc import Sequence
from typing import Final

from aws_cdk import Stack
from aws_cdk import aws_athena as athena
from aws_cdk import aws_glue as glue
from aws_cdk import aws_s3 as s3
from constructs import Construct

from fleet import naming
from fleet.ledger.columns import COLUMNS, LEDGER, RECONCILED, RECONCILIATION

RESULTS: Final = "athena/"
_PARQUET: Final = "org.apache.hadoop.hive.ql.io.parquet"


class LedgerTables(Construct):
    """A database, two tables whose partitions Athena works out by itself, and a workgroup to ask them in."""

    def __init__(self, scope: Construct, construct_id: str, *, environment: str, bucket: s3.IBucket) -> None:
        """Describe what lies in ``bucket``."""
        super().__init__(scope, construct_id)
        self._environment, self._bucket = environment, bucket
        name = naming.ledger_database(environment)
        account = Stack.of(self).account
        self._database = glue.CfnDatabase(
            self, "Database", catalog_id=account, database_input=glue.CfnDatabase.DatabaseInputProperty(name=name)
        )
        self._table(name, LEDGER, COLUMNS, "What was paid for, by day; sum(amount) / 6e7 is USD")
        self._table(name, RECONCILIATION, RECONCILED, "The ledger's days beside the bill's")
        athena.CfnWorkGroup(
            self,
            "Queries",
            name=name,
            recursive_delete_option=True,
            work_group_configuration=athena.CfnWorkGroup.WorkGroupConfigurationProperty(
                enforce_work_group_configuration=True,
                publish_cloud_watch_metrics_enabled=False,
                result_configuration=athena.CfnWorkGroup.ResultConfigurationProperty(
                    output_location=bucket.s3_url_for_object(RESULTS),
                    encryption_configuration=athena.CfnWorkGroup.EncryptionConfigurationProperty(
                        encryption_option="SSE_S3"
                    ),
                ),
            ),
        )

    def _table(self, database: str, name: str, columns: Sequence[tuple[str, str, str]], words: str) -> None:
        kind = glue.CfnTable
        where = self._bucket.s3_url_for_object(f"{name}/")
        table = kind(
            self,
            name.capitalize(),
            catalog_id=Stack.of(self).account,
            database_name=database,
            table_input=kind.TableInputProperty(
                name=name,
                description=words,
                table_type="EXTERNAL_TABLE",
                parameters={
                    "classification": "parquet",
                    # No crawler, and nothing to add when a day begins ("Partition projection", Athena User Guide).
                    "projection.enabled": "true",
                    "projection.environment.type": "enum",
                    "projection.environment.values": self._environment,
                    "projection.day.type": "date",
                    "projection.day.format": "yyyy-MM-dd",
                    "projection.day.range": "2026-01-01,NOW",
                    "storage.location.template": f"{where}environment=${{environment}}/day=${{day}}/",
                },
                partition_keys=[
                    kind.ColumnProperty(name="environment", type="string"),
                    kind.ColumnProperty(name="day", type="string", comment="UTC"),
                ],
                storage_descriptor=kind.StorageDescriptorProperty(
                    columns=[kind.ColumnProperty(name=n, type=t, comment=c) for n, t, c in columns],
                    location=where,
                    input_format=f"{_PARQUET}.MapredParquetInputFormat",
                    output_format=f"{_PARQUET}.MapredParquetOutputFormat",
                    serde_info=kind.SerdeInfoProperty(serialization_library=f"{_PARQUET}.serde.ParquetHiveSerDe"),
                ),
            ),
        )
        table.add_resource_dependency(self._database)
