"""The pager's environment variables, and what was deployed of alarms: the only place that reads them."""

import json
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

from pydantic import Field, Json

from fleet.alarm_page import FILE, AlarmPage, unknown
from fleet.paging import Directory, directory_of
from lambdas.pager.messages import AlarmChange
from lambdas.shared.observability import logger
from lambdas.shared.settings import FunctionSettings

FUNCTION: Final = "pager"
ALARMS: Final = Path(__file__).resolve().parents[2] / FILE


class Settings(FunctionSettings):
    """Names only; the secrets' values stay in Secrets Manager.

    ``paging`` is the directory of destinations as ``fleet.paging.content`` writes it. ``large_fleets`` have more nodes
    than a log query returns events for, those of ``endpoint_dashboards`` a dashboard of their own. ``alarms`` are the
    definitions by the alarm's name.
    """

    environment: str = Field(alias="ENVIRONMENT")
    node_log_group: str = Field(alias="NODE_LOG_GROUP")
    capacity_log_group: str = Field(alias="CAPACITY_LOG_GROUP")
    paging: Json[dict[str, Any]] = Field(alias="PAGING")
    large_fleets: Json[frozenset[str]] = Field(default=frozenset(), alias="LARGE_FLEETS")
    endpoint_dashboards: Json[frozenset[str]] = Field(default=frozenset(), alias="ENDPOINT_DASHBOARDS")
    runbooks_url: str = Field(alias="RUNBOOKS_URL")
    idempotency_table: str = Field(alias="IDEMPOTENCY_TABLE")
    waiting_queue: str = Field(alias="WAITING_QUEUE")
    alarms: Mapping[str, AlarmPage] = Field(default_factory=dict)

    @cached_property
    def directory(self) -> Directory:
        """Who hears of what."""
        return directory_of(self.paging)

    def alarm(self, change: AlarmChange) -> AlarmPage:
        """What to say of the alarm that changed: its definition, or what it says itself."""
        return (self.alarms.get(change.name) or unknown(change.name)).of(change.description)

    @classmethod
    def load(cls, environ: Mapping[str, str] = os.environ, alarms: Path = ALARMS) -> Self:
        """The settings of this deployment; a missing variable is named in the error.

        Without the file of definitions every alarm is told of in its own words, for a page must go out.
        """
        try:
            written = json.loads(alarms.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            logger(FUNCTION).error(
                "definitions of alarms cannot be read", file=alarms.name, reason=type(error).__name__
            )
            written = {}
        return cls.model_validate({**environ, "alarms": written})
