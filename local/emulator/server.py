"""Serves the embedded AWS on one socket until it is told to stop, and leaves no process behind."""

import asyncio
import json
import logging
import os
import signal
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

ACCOUNT: Final = "000000000000"
REAL_TIME_EVALUATION_SECONDS: Final = 10
PARENT_POLL_SECONDS: Final = 0.5

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def configure(port: int, state: Path) -> None:
    """Set what ministack and the Lambda workers read from the environment; before ministack is imported."""
    state.mkdir(parents=True, exist_ok=True)
    temporary = state / "tmp"
    temporary.mkdir(exist_ok=True)
    logging.basicConfig(
        filename=state / "emulator.log",
        filemode="w",
        level=logging.WARNING,
        format="%(asctime)s %(levelname)s [%(name)s] %(message)s",
    )
    # A Lambda worker inherits this environment: what belongs to the caller's shell must not reach the handlers.
    for name in list(os.environ):
        if name.startswith(("AWS_", "POWERTOOLS_", "PYTHON")) and name != "PYTHONDONTWRITEBYTECODE":
            del os.environ[name]
    os.environ |= {
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
        "MINISTACK_ACCOUNT_ID": ACCOUNT,
        "LOG_LEVEL": "WARNING",
        "LAMBDA_EXECUTOR": "local",
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        # State machines wait for what others do, who are quicker here: their minutes pass in three seconds.
        "SFN_WAIT_SCALE": "0.05",
        "TMPDIR": str(temporary.resolve()),
    }


def serve(listener: socket.socket, parent: int | None) -> None:
    """Serve until SIGTERM or SIGINT, or until the process ``parent`` is gone."""
    asyncio.run(_serve(listener, parent))


async def _serve(listener: socket.socket, parent: int | None) -> None:
    # Imported here because ministack reads its environment at import: ``configure`` comes first.
    import ministack.app  # noqa: PLC0415 - see above
    from hypercorn.asyncio import serve as hypercorn_serve  # noqa: PLC0415 - see above
    from hypercorn.config import Config  # noqa: PLC0415 - see above
    from ministack.core import lambda_runtime  # noqa: PLC0415 - see above

    from local.emulator.control import Control  # noqa: PLC0415 - see above
    from local.emulator.extensions import install, new_platform  # noqa: PLC0415 - see above
    from local.emulator.extensions.faults import resource_types  # noqa: PLC0415 - see above
    from local.emulator.extensions.stacks import stacked_resources  # noqa: PLC0415 - see above

    platform = new_platform(ACCOUNT)
    install(platform)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    control = Control(platform, stacked_resources, resource_types())
    background = [asyncio.create_task(_evaluate_in_real_time(platform.evaluate_now, control.changes.tell))]
    if parent is not None:
        background.append(asyncio.create_task(_stop_with(parent, stop)))
    config = Config()
    config.bind = [f"fd://{listener.fileno()}"]
    config.errorlog = logging.getLogger("hypercorn.error")
    config.graceful_timeout = 1
    config.shutdown_timeout = 5
    application = _with_control(ministack.app.app, control.answer)
    try:
        await hypercorn_serve(application, config, shutdown_trigger=stop.wait)  # type: ignore[arg-type]  # a plain ASGI function
    finally:
        for task in background:
            task.cancel()
        lambda_runtime.reset()


def _with_control(
    application: Application, answer: Callable[[str, str, bytes], Awaitable[tuple[int, dict[str, Any]]]]
) -> Application:
    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/_local"):
            await application(scope, receive, send)
            return
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        status, content = await answer(scope["method"], scope["path"], body)
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(content).encode()})

    return route


async def _evaluate_in_real_time(evaluate: Callable[[], None], tell: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(REAL_TIME_EVALUATION_SECONDS)
        try:
            await asyncio.to_thread(evaluate)
            tell()
        except Exception:
            logging.getLogger(__name__).exception("an evaluation of the alarms failed")


async def _stop_with(parent: int, stop: asyncio.Event) -> None:
    is_own_parent = os.getppid() == parent
    while os.getppid() == parent if is_own_parent else Path(f"/proc/{parent}").exists():
        await asyncio.sleep(PARENT_POLL_SECONDS)
    stop.set()
