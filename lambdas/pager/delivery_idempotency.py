"""At most one message for each transition and destination, by Powertools' idempotency records."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyAlreadyInProgressError,
    IdempotencyItemNotFoundError,
    IdempotencyPersistenceLayerError,
)
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas.pager.errors import DeliveryError, IncidentStoreError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

EXPIRES_SECONDS: Final = 24 * 24 * 3600
KEY_PREFIX: Final = "page"


class Once:
    """Runs an effect unless it is recorded as done. A failed effect is not recorded, so a repetition tries again."""

    def __init__(self, dynamodb: "DynamoDBClient", table: str) -> None:
        self._store = DynamoDBPersistenceLayer(table_name=table, boto3_client=dynamodb)
        self._config = IdempotencyConfig(expires_after_seconds=EXPIRES_SECONDS)
        # `run` configures the store again, to the same end; it may be asked before anything was run.
        self._store.configure(self._config, key_prefix=KEY_PREFIX)

    def register(self, context: LambdaContext) -> None:
        """Tell when this invocation ends, so that one that was cut off does not lock its successor out."""
        self._config.register_lambda_context(context)

    def run(self, key: str, effect: Callable[[], None]) -> bool:
        """Run ``effect`` once for ``key``; True when it ran now.

        A table that does not answer must not keep a page back: the effect then runs without a record, and the worst
        is a second message.

        Raises:
            DeliveryError: another invocation is at it; whether that one succeeds is not known yet.
        """
        ran = False

        def recorded(*, key: str) -> str:
            nonlocal ran
            effect()
            ran = True
            return key

        once = idempotent_function(
            recorded,
            data_keyword_argument="key",
            persistence_store=self._store,
            config=self._config,
            key_prefix=KEY_PREFIX,
        )
        try:
            once(key=key)
        except IdempotencyAlreadyInProgressError:
            raise DeliveryError("another invocation is sending it") from None
        except IdempotencyPersistenceLayerError:
            if not ran:
                effect()
                ran = True
        return ran

    def is_done(self, key: str) -> bool:
        """Whether the effect of ``key`` is recorded as done.

        Raises:
            IncidentStoreError: the table did not answer.
        """
        try:
            # Its type says dict; what `run` has stored under is the plain text, as the decorator hands it over.
            record = self._store.get_record(key)  # type: ignore[arg-type]
        except IdempotencyItemNotFoundError:
            return False
        except Exception as error:
            raise IncidentStoreError(f"the record cannot be read ({type(error).__name__})") from None
        return record is not None and record.status == "COMPLETED"
