"""Who looks is told when something has changed, and not before."""

import asyncio

from local.emulator.control import Changes


def test_a_change_is_told_at_once() -> None:
    async def look() -> int:
        changes = Changes()
        asyncio.get_running_loop().call_soon(changes.tell)
        return await asyncio.wait_for(changes.after(0, seconds=60), timeout=5)

    assert asyncio.run(look()) == 1


def test_a_change_that_came_before_the_question_is_told_too() -> None:
    async def look() -> int:
        changes = Changes()
        changes.tell()
        changes.tell()
        return await asyncio.wait_for(changes.after(0, seconds=60), timeout=5)

    assert asyncio.run(look()) == 2


def test_without_a_change_the_question_ends_by_itself() -> None:
    async def look() -> int:
        return await Changes().after(0, seconds=0.01)

    assert asyncio.run(look()) == 0
