"""One implementation for synchronous and asynchronous callers.

A flow is a generator of steps. `Work` runs in the engine, and an asynchronous caller runs it in a thread. `Question` calls
the caller's own store or strategy, which may be asynchronous.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Work(NamedTuple):
    """A step that the engine runs."""

    do: Callable[[], Any]


class Question(NamedTuple):
    """A step that the caller's own code runs."""

    ask: Callable[[], Any]


class AsynchronousAnswer(TypeError):
    """The caller's own code is asynchronous, but the call is not."""


Step = Work | Question
Flow = Generator[Step, Any, T]


def run(flow: Flow[T]) -> T:
    """Run a flow synchronously."""

    def take(step: Step) -> Any:
        if isinstance(step, Work):
            return step.do()
        answer = step.ask()
        if inspect.isawaitable(answer):
            if inspect.iscoroutine(answer):
                answer.close()
            raise AsynchronousAnswer("the store or strategy is asynchronous: call the asynchronous method instead")
        return answer

    step = next_step(flow, None)
    while not isinstance(step, End):
        try:
            answer = take(step)
        except BaseException as error:
            step = next_step(flow, None, error)
        else:
            step = next_step(flow, answer)
    return step.value


async def run_async(flow: Flow[T]) -> T:
    """Run a flow without blocking the event loop."""

    async def take(step: Step) -> Any:
        if isinstance(step, Work):
            return await _to_thread()(step.do)
        answer = step.ask()
        return await answer if inspect.isawaitable(answer) else answer

    step = next_step(flow, None)
    while not isinstance(step, End):
        try:
            answer = await take(step)
        except BaseException as error:
            step = next_step(flow, None, error)
        else:
            step = next_step(flow, answer)
    return step.value


def _to_thread() -> Callable[[Callable[[], Any]], Awaitable[Any]]:
    """Return the function of the running library that runs another in a thread. anyio uses asyncio's or trio's loop."""
    sniffio, trio = sys.modules.get("sniffio"), sys.modules.get("trio")
    if sniffio is not None and trio is not None and sniffio.current_async_library() == "trio":
        run_sync: Callable[[Callable[[], Any]], Awaitable[Any]] = trio.to_thread.run_sync
        return run_sync
    return asyncio.to_thread


@dataclass
class End(Generic[T]):
    """The end of a flow."""

    value: T


def next_step(flow: Flow[T], answer: Any, error: BaseException | None = None) -> Step | End[T]:
    """Return the next step, or the end with the flow's value."""
    try:
        return flow.throw(error) if error is not None else flow.send(answer)
    except StopIteration as end:
        return End(end.value)
