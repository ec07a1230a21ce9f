"""Precompilations: executions of the state machine, started, followed and looked back upon."""

import json
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from cli.account import Account
from cli.cache.targets import CompileCache
from fleet.compile_cache.request import BATCH_SIZES, MODELS, PrecompileRequest, RequestError, read

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions.literals import ExecutionStatusType
    from mypy_boto3_stepfunctions.type_defs import HistoryEventTypeDef

RUNNING: Final = "RUNNING"
SUCCEEDED: Final = "SUCCEEDED"
ABSENT: Final = ("StateMachineDoesNotExist",)
# How many that ended are looked back upon.
_NEWEST: Final = 10
_MOST_RUNNING: Final = 100
_ENTERED: Final = "StateEntered"
_LATEST_EVENTS: Final = 40


@dataclass(frozen=True, slots=True)
class Run:
    """One execution; times UTC. ``request`` is None where its input names an object, which ``asked`` is then."""

    arn: str
    status: str
    started: datetime
    stopped: datetime | None
    request: PrecompileRequest | None
    asked: str
    cause: str = ""

    @property
    def name(self) -> str:
        """The last part of its ARN."""
        return self.arn.rpartition(":")[2]

    @property
    def fleet(self) -> str:
        """Whose node compiles it, also where an object asked: ``models/<fleet>/…``; empty where nothing says it."""
        if self.request is not None:
            return self.request.fleet
        root, _, below = self.asked.partition("/")
        return below.partition("/")[0] if root == MODELS else ""


def running(account: Account, place: CompileCache) -> list[Run] | None:
    """Those that run now; None: there is no pipeline. Raises AwsError."""
    return _listed(account, place, RUNNING, _MOST_RUNNING)


def failed(account: Account, place: CompileCache) -> list[Run] | None:
    """The newest that failed or ran out of time, newest first; None: there is no pipeline. Raises AwsError."""
    found: list[Run] = []
    statuses: tuple[ExecutionStatusType, ...] = ("FAILED", "TIMED_OUT")
    for status in statuses:
        some = _listed(account, place, status, _NEWEST)
        if some is None:
            return None
        found += some
    return sorted(found, key=lambda run: run.started, reverse=True)[:_NEWEST]


def start(account: Account, place: CompileCache, request: PrecompileRequest) -> str:
    """Begin a precompilation; the execution's ARN. Said again under the same name it is the same. Raises AwsError."""
    name = f"{request.artifact.prefix.rpartition('/')[2]}-{secrets.token_hex(4)}"
    answer = account.stepfunctions.start_execution(
        stateMachineArn=place.machine, name=name, input=json.dumps(fields(request))
    )
    return str(answer["executionArn"])


def fields(request: PrecompileRequest) -> dict[str, Any]:
    """What the state machine is given."""
    artifact = request.artifact
    batches = {BATCH_SIZES: sorted(set(artifact.batch_sizes))} if artifact.batch_sizes else {}
    return {
        "fleet": request.fleet,
        "model": artifact.model,
        "model_version": artifact.model_version,
        "sdk_version": artifact.sdk_version,
        "sequence_lengths": sorted(set(artifact.sequence_lengths)),
        "command": list(request.command),
        **batches,
    }


def look(account: Account, arn: str) -> Run:
    """The execution as it is now. Raises AwsError."""
    told = account.stepfunctions.describe_execution(executionArn=arn)
    request, asked = _request(str(told.get("input") or ""))
    return Run(
        arn=arn,
        status=str(told["status"]),
        started=told["startDate"],
        stopped=told.get("stopDate"),
        request=request,
        asked=asked,
        cause=" ".join(str(told.get("cause") or told.get("error") or "").split()),
    )


def step(account: Account, arn: str) -> str:
    """The name of the state that it entered last; empty before the first. Raises AwsError."""
    history = account.stepfunctions.get_execution_history(
        executionArn=arn, reverseOrder=True, maxResults=_LATEST_EVENTS, includeExecutionData=False
    )
    return next(_names(history.get("events", [])), "")


def follow(
    account: Account, arn: str, say: Callable[[str], None], seconds: float, pause: Callable[[float], None] = time.sleep
) -> Run:
    """Wait for its end, looking every ``seconds``; ``say`` hears each step once. Raises AwsError."""
    before = ""
    while True:
        run = look(account, arn)
        now = step(account, arn) if run.status == RUNNING else ""
        if now and now != before:
            say(now)
            before = now
        if run.status != RUNNING:
            return run
        pause(seconds)


def _names(events: "Iterable[HistoryEventTypeDef]") -> Iterator[str]:
    return (str(each["stateEnteredEventDetails"]["name"]) for each in events if str(each["type"]).endswith(_ENTERED))


def _listed(account: Account, place: CompileCache, status: "ExecutionStatusType", most: int) -> list[Run] | None:
    answer = account.find(
        ABSENT, account.stepfunctions.list_executions,
        stateMachineArn=place.machine, statusFilter=status, maxResults=most,
    )  # fmt: skip
    if answer is None:
        return None
    return [look(account, str(each["executionArn"])) for each in answer.get("executions", [])]


def _request(text: str) -> tuple[PrecompileRequest | None, str]:
    try:
        told = json.loads(text)
    except ValueError:
        return None, text
    try:
        return read(told), ""
    except RequestError:
        return None, str(told.get("object", text)) if isinstance(told, dict) else text
