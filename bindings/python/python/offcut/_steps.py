"""One implementation for synchronous and asynchronous callers.

A flow is a generator of steps. `Work` runs in the engine, and an asynchronous caller runs it in a thread. `Question` calls
the caller's own store or strategy, which may be asynchronous.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Work(NamedTuple):
    """A step that the engine runs."""

    do: Callable[[], Any]


class Question(NamedTuple):
    """A step that the caller's own code runs."""

    ask: Callable[[], Any]


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
            raise TypeError("the store or strategy is asynchronous: call the asynchronous method instead")
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
            return await asyncio.to_thread(step.do)
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
