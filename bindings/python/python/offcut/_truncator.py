"""Bounding outputs and results."""

from __future__ import annotations

import functools
import inspect
import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar, overload

from ._cut import Cut, Limits, Text
from ._native import Engine
from ._spool import Spool
from ._steps import AsynchronousAnswer, Flow, Question, Work, run, run_async
from ._store import Store
from ._values import Data, ReturnType, as_json, dump, is_model, replace_surrogates, return_type, with_message

F = TypeVar("F", bound=Callable[..., Any])
V = TypeVar("V")

#: The store of the command line.
DEFAULT_STORE = object()

#: Below this many characters a thread costs more than the work itself.
SMALL = 64 << 10

#: The types of an output.
TEXTS = (str, bytes, bytearray, memoryview)


class Context(NamedTuple):
    """The call whose output is bounded."""

    tool: str | None = None
    call_id: str | None = None
    session: str | None = None
    #: The id of the message that contains the call.
    message_id: str | None = None


class Judged(NamedTuple):
    """A tool result after bounding."""

    #: The result: the same object if nothing in it changed.
    value: Any
    #: For each result in it: its shape, its tool and its verdict (`fits`, `passed` or `cut`); for one that was cut also
    #: `panel`, a summary for a terminal.
    results: list[dict[str, Any]]


class Truncator:
    """Bounds tool outputs. Can be shared between threads.

    profile: `native`, `opencode`, `coding-agent`, `unified`, `takumi`, `klaude`, or the path of a profile's TOML file.
    store: where complete outputs are stored: by default the command line's store; a directory, a `Store`, None for
        nowhere, or any object with `save(content, context) -> str`, which may be asynchronous.
    strategy: a name, or a function of a text and its `Limits` that returns the text to show.
    tools: options for each tool, which override those for all. skip_tools: tools whose outputs pass unchanged.
    decide: a function of a tool's name and its result that returns False to pass the result unchanged, True to bound it,
        or options for it.
    total: the limit for all results of one batch together, in bytes.
    reach: how the reader gets the rest back: `files`, `shell`, `tool:NAME` or `nothing`.
    project_root: the root of the project; the profile `unified` names files below it by a relative path.
    retention_days: how many days outputs are kept, instead of as long as the profile says; 0 for no limit.
    automatic_cleaning: whether the first output that the process stores in a directory starts `cleanup` on another thread.
    on_event: called with a dictionary for each event.
    options: max_lines, max_bytes, max_chars, max_tokens, keep_lines and so on, split, preset, task, raw, enabled.
    """

    def __init__(
        self,
        profile: str | os.PathLike[str] = "native",
        *,
        store: Any = DEFAULT_STORE,
        strategy: str | Callable[[str, Limits], str] | None = None,
        tools: Mapping[str, Mapping[str, Any]] | None = None,
        skip_tools: Iterable[str] = (),
        decide: Callable[[str | None, Any], bool | Mapping[str, Any]] | None = None,
        total: int | str | None = None,
        reach: str | None = None,
        project_root: str | os.PathLike[str] | None = None,
        max_output: int | str | None = None,
        retention_days: int | None = None,
        automatic_cleaning: bool = True,
        on_event: Callable[[dict[str, Any]], None] | None = None,
        **options: Any,
    ) -> None:
        self._store: Any = store if hasattr(store, "save") else None
        self._strategy = strategy if callable(strategy) else None
        self._decide = decide
        self._on_event = on_event
        self._plain = not (self._store or self._strategy or decide or on_event)
        described: dict[str, Any] = {
            **options,
            "profile": os.fspath(profile),
            "store": None if self._store else _store_name(store),
            "strategy": None if self._strategy else strategy,
            "tools": {name: dict(rule) for name, rule in (tools or {}).items()},
            "skip_tools": list(skip_tools),
            "total": total,
            "reach": reach,
            "project_root": None if project_root is None else os.fspath(project_root),
            "max_output": max_output,
            "retention_days": retention_days,
            "automatic_cleaning": automatic_cleaning,
            "foreign_store": self._store is not None,
            "foreign_strategy": "text" if self._strategy else None,
            "events": on_event is not None,
        }
        self._engine = Engine(dump(described))

    @property
    def profile(self) -> str:
        """The profile's name."""
        return self._engine.profile

    def cleanup(self) -> int:
        """Remove the stored outputs whose retention has ended, and return how many.

        Each output is kept as long as was set when it was stored. The outputs of an object with `save` are not known here.
        """
        return self._engine.cleanup()

    def cut(
        self,
        text: Text,
        tool: str | None = None,
        *,
        call_id: str | None = None,
        session: str | None = None,
        message_id: str | None = None,
        **options: Any,
    ) -> Cut[Text]:
        """Bound an output: `str` in, `str` out; `bytes` in, `bytes` out."""
        if self._plain and not options:
            content, report, _ = self._engine.cut(text, tool, call_id, session, message_id)
            return Cut(text) if report is None else Cut(content, report)
        return run(self._cut_steps(text, Context(tool, call_id, session, message_id), options))

    async def acut(
        self,
        text: Text,
        tool: str | None = None,
        *,
        call_id: str | None = None,
        session: str | None = None,
        message_id: str | None = None,
        **options: Any,
    ) -> Cut[Text]:
        """The same without blocking the event loop."""
        if self._plain and isinstance(text, TEXTS) and len(text) < SMALL:
            return self.cut(text, tool, call_id=call_id, session=session, message_id=message_id, **options)
        return await run_async(self._cut_steps(text, Context(tool, call_id, session, message_id), options))

    def result(
        self,
        value: V,
        tool: str | None = None,
        *,
        call_id: str | None = None,
        session: str | None = None,
        message_id: str | None = None,
        shape: str | None = None,
        **options: Any,
    ) -> V:
        """Bound the text in a tool result of any known shape; a result that does not change is the same object.

        A dictionary or a list gives the same type, JSON text gives JSON text, a pydantic model gives a model.
        """
        context = Context(tool, call_id, session, message_id)
        bounded: V = run(self._result_steps(value, context, {"shape": shape, **options})).value
        return bounded

    async def aresult(
        self,
        value: V,
        tool: str | None = None,
        *,
        call_id: str | None = None,
        session: str | None = None,
        message_id: str | None = None,
        shape: str | None = None,
        **options: Any,
    ) -> V:
        """The same without blocking the event loop."""
        context = Context(tool, call_id, session, message_id)
        bounded: V = (await run_async(self._result_steps(value, context, {"shape": shape, **options}))).value
        return bounded

    def judge(
        self,
        value: Any,
        tool: str | None = None,
        *,
        call_id: str | None = None,
        session: str | None = None,
        message_id: str | None = None,
        **options: Any,
    ) -> Judged:
        """Bound a tool result and report what was done."""
        return run(self._result_steps(value, Context(tool, call_id, session, message_id), options))

    def spool(
        self,
        tool: str | None = None,
        *,
        call_id: str | None = None,
        session: str | None = None,
        message_id: str | None = None,
        binary: bool = False,
        **options: Any,
    ) -> Spool:
        """Return a file that bounds what is written into it."""
        return Spool(self, Context(tool, call_id, session, message_id), binary=binary, options=options)

    @overload
    def tool(self, function: F, /, *, name: str | None = None, **options: Any) -> F: ...

    @overload
    def tool(self, /, *, name: str | None = None, **options: Any) -> Callable[[F], F]: ...

    def tool(self, function: Any = None, /, *, name: str | None = None, **options: Any) -> Any:
        """Decorate a function whose result a model reads; it may be asynchronous."""
        if function is None:
            return functools.partial(self.tool, name=name, **options)
        called = name or getattr(function, "__name__", None)
        # At the first call, because a framework may import pydantic after this.
        declared = functools.cache(lambda: return_type(function))

        async def later(value: Any) -> Any:
            try:
                returned = await value
            except Exception as error:
                failed = error
            else:
                flow = self._bound_steps(returned, called, {**options}, declared())
                return returned if flow is None else await run_async(flow)
            raise with_message(failed, await self.abound(str(failed), called, **options))

        @functools.wraps(function)
        def bounded(*arguments: Any, **keywords: Any) -> Any:
            try:
                value = function(*arguments, **keywords)
            except Exception as error:
                failed = error
            else:
                if inspect.isawaitable(value):
                    return later(value)
                flow = self._bound_steps(value, called, {**options}, declared())
                return value if flow is None else run(flow)
            raise with_message(failed, self.bound(str(failed), called, **options))

        @functools.wraps(function)
        async def bounded_async(*arguments: Any, **keywords: Any) -> Any:
            return await later(function(*arguments, **keywords))

        # Frameworks check whether a tool is a coroutine function before they call it.
        return bounded_async if inspect.iscoroutinefunction(function) else bounded

    def bound(self, value: Any, tool: str | None = None, **options: Any) -> Any:
        """Bound what a tool returned.

        Text is cut and results are bounded. Other dictionaries, lists, tuples and models pass if their JSON fits; otherwise
        that text is cut. Everything else passes.
        """
        flow = self._bound_steps(value, tool, options)
        return value if flow is None else run(flow)

    async def abound(self, value: Any, tool: str | None = None, **options: Any) -> Any:
        """The same without blocking the event loop."""
        flow = self._bound_steps(value, tool, options)
        return value if flow is None else await run_async(flow)

    def _bound_steps(
        self, value: Any, tool: str | None, options: dict[str, Any], declared: ReturnType | None = None
    ) -> Flow[Any] | None:
        context = Context(tool, *(options.pop(name, None) for name in Context._fields[1:]))
        if isinstance(value, TEXTS):
            return _content(self._cut_steps(value, context, options))
        if isinstance(value, (dict, list, tuple)) or is_model(value) or declared is not None:
            return self._bound_data_steps(value, context, self._with_decision(value, context, options), declared)
        return None

    def _bound_data_steps(
        self, value: Any, context: Context, options: dict[str, Any], declared: ReturnType | None
    ) -> Flow[Any]:
        if declared is not None:
            try:
                text = declared.dump(value)
            except Exception:
                # A value of another type: the caller finds that, or does not check it.
                pass
            else:
                return (yield from self._bound_declared_steps(value, text, context, options, declared))
        try:
            data = as_json(value)
        except (TypeError, ValueError, RecursionError):
            # The tool has done its work: a value that JSON cannot represent must not lose its result.
            text = str(value)
        else:
            text = data.text
            judged = yield from self._result_data_steps(data, context, options)
            if judged.results:
                return judged.value
        cut = yield from self._cut_text_steps(text, context, options)
        return cut.content if cut.truncated else value

    def _bound_declared_steps(
        self, value: Any, text: str, context: Context, options: dict[str, Any], declared: ReturnType
    ) -> Flow[Any]:
        """Shorten a value so that it still has its declared type."""
        call = dump(options)
        changed, report, saves = yield Work(lambda: self._engine.value(text, declared.schema, *context, call))
        if saves is not None:
            given = yield from self._ask_caller([save.decode() for save in saves], report, context)
            call = dump({**options, **given})
            changed, report, _ = yield Work(lambda: self._engine.value(text, declared.schema, *context, call))
        self._emit_events(json.loads(report))
        try:
            return value if changed is None else declared.load(changed)
        except ValueError:
            # A check that the schema does not express.
            return value

    def _cut_steps(self, text: Any, context: Context, options: dict[str, Any]) -> Flow[Cut[Any]]:
        return self._cut_text_steps(text, context, self._with_decision(text, context, options))

    def _result_steps(self, value: Any, context: Context, options: dict[str, Any]) -> Flow[Judged]:
        return self._result_data_steps(as_json(value), context, self._with_decision(value, context, options))

    def _cut_text_steps(self, text: Any, context: Context, options: dict[str, Any]) -> Flow[Cut[Any]]:
        call = dump(options) if options else None
        content, report, saves = yield Work(lambda: self._engine.cut(text, *context, call))
        if saves is not None:
            given = yield from self._ask_caller([text] if saves else [], report, context)
            call = dump({**options, **given})
            content, report, _ = yield Work(lambda: self._engine.cut(text, *context, call))
        if report is None:
            return Cut(text)
        cut = Cut(content, report)
        self._emit_events(cut.report)
        return cut if cut.report["truncated"] else Cut(text)

    def _result_data_steps(self, data: Data, context: Context, options: dict[str, Any]) -> Flow[Judged]:
        call = dump(options)
        changed, results, report, saves = yield Work(lambda: self._engine.result(data.text, *context, call))
        if saves is not None:
            # A result contains text only.
            texts = [save.decode("utf-8", "replace") for save in saves]
            given = yield from self._ask_caller(texts, report, context)
            call = dump({**options, **given})
            changed, results, report, _ = yield Work(lambda: self._engine.result(data.text, *context, call))
        self._emit_events(json.loads(report))
        return Judged(data.value if changed is None else data.rebuild(changed), json.loads(results))

    def _ask_caller(self, saves: list[Any], report: str, context: Context) -> Flow[dict[str, Any]]:
        """Call the caller's own store and strategy."""
        kept = yield from self._save_outputs(saves, context)
        return {**kept, **(yield from self._run_strategy(report))}

    def _save_outputs(self, saves: list[Any], context: Context) -> Flow[dict[str, Any]]:
        if self._store is None:
            return {}
        saved = []
        for content in saves:
            saved.append((yield from self._save_output(content, context)))
        return {"saved": saved}

    def _run_strategy(self, report: str) -> Flow[dict[str, Any]]:
        if self._strategy is None:
            return {}
        made = []
        for wanted in json.loads(report)["wanted"]:
            limits = Limits(**wanted["limits"])
            text = yield Question(functools.partial(self._strategy, wanted["text"], limits))
            if not isinstance(text, str):
                raise TypeError(f"the strategy must return str, not {type(text).__name__}")
            made.append(replace_surrogates(text))
        return {"made": made}

    def _save_output(self, content: Any, context: Context) -> Flow[dict[str, str]]:
        """Save one output. A failing store never loses the preview: the notice reports the error."""
        try:
            place = yield Question(functools.partial(self._store.save, content, context))
        except AsynchronousAnswer:
            # A mistake in the program: nothing is saved until the asynchronous method is called.
            raise
        except Exception as error:
            return {"error": replace_surrogates(str(error)) or type(error).__name__}
        if place is None:
            return {"error": "the store returned no path"}
        path = str(place)
        return {"path": path} if path == replace_surrogates(path) else {"error": "the store's path is not valid text"}

    def _with_decision(self, value: Any, context: Context, options: dict[str, Any]) -> dict[str, Any]:
        if self._decide is None:
            return options
        decision = self._decide(context.tool, value)
        if isinstance(decision, Mapping):
            return {**options, **decision}
        return options if decision else {**options, "skip": True}

    def _emit_events(self, report: dict[str, Any]) -> None:
        if self._on_event is not None:
            for event in report["events"]:
                self._on_event(event)


def _content(flow: Flow[Cut[Any]]) -> Flow[Any]:
    return (yield from flow).content


def _store_name(store: Any) -> str | None:
    if store is DEFAULT_STORE:
        return None
    if store is None:
        return "none"
    if isinstance(store, Store):
        return store.directory
    if isinstance(store, (str, os.PathLike)):
        return os.fsdecode(store)
    raise TypeError(f"a store is a path, a Store, None or has a method save, not {type(store).__name__}")


@functools.lru_cache(maxsize=32)
def _shared(profile: str, store: Any) -> Truncator:
    return Truncator(profile, store=store)


def _default(profile: Any, store: Any) -> Truncator:
    # The meaning of a path can change, so it is resolved at every call.
    is_fixed = (store is DEFAULT_STORE or store is None) and isinstance(profile, str) and not profile.endswith(".toml")
    return _shared(profile, store) if is_fixed else Truncator(profile, store=store)


def cut(
    text: Text, tool: str | None = None, *, profile: Any = "native", store: Any = DEFAULT_STORE, **options: Any
) -> Cut[Text]:
    """Bound an output: `str` in, `str` out; `bytes` in, `bytes` out."""
    return _default(profile, store).cut(text, tool, **options)


def result(value: V, tool: str | None = None, *, profile: Any = "native", store: Any = DEFAULT_STORE, **options: Any) -> V:
    """Bound the text in a tool result of any known shape."""
    return _default(profile, store).result(value, tool, **options)


@overload
def tool(function: F, /, *, profile: Any = "native", store: Any = DEFAULT_STORE, **options: Any) -> F: ...


@overload
def tool(*, profile: Any = "native", store: Any = DEFAULT_STORE, **options: Any) -> Callable[[F], F]: ...


def tool(function: Any = None, /, *, profile: Any = "native", store: Any = DEFAULT_STORE, **options: Any) -> Any:
    """Decorate a function whose result a model reads; it may be asynchronous."""
    if function is None:
        return functools.partial(tool, profile=profile, store=store, **options)
    return _default(profile, store).tool(function, **options)
