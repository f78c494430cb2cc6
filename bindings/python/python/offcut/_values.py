"""Values that tools return and exceptions that they raise."""

from __future__ import annotations

import json
import sys
import types
import typing
from collections.abc import Callable
from typing import Any, NamedTuple


def is_model(value: Any) -> bool:
    return hasattr(value, "model_dump") and hasattr(type(value), "model_validate")


class Data(NamedTuple):
    """A value, its JSON, and a function from JSON back to a value of its type."""

    value: Any
    text: str
    rebuild: Callable[[str], Any]


def as_json(value: Any) -> Data:
    if isinstance(value, str):
        return Data(value, value, lambda text: text)
    if isinstance(value, (bytes, bytearray)):
        return Data(value, bytes(value).decode("utf-8"), lambda text: text.encode("utf-8"))
    if isinstance(value, (dict, list, tuple)):
        return Data(value, _dump_value(value), json.loads)
    if is_model(value):
        data = value.model_dump(mode="json", by_alias=True, exclude_none=True)
        return Data(value, _dump_value(data), lambda text: type(value).model_validate(json.loads(text)))
    raise TypeError(f"a result is a dict, a list, JSON text or a model, not {type(value).__name__}")


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _dump_value(value: Any) -> str:
    text = dump(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        # UTF-8 cannot encode a lone surrogate, but JSON can escape it.
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


class ReturnType(NamedTuple):
    """The declared type of a return value, which a shorter value has to match too."""

    #: As JSON; None if it is not known.
    schema: str | None
    dump: Callable[[Any], str]
    load: Callable[[str], Any]


def return_type(function: Any) -> ReturnType | None:
    """Return the declared type, or None if the function may return text."""
    try:
        declared = typing.get_type_hints(function).get("return", str)
    except Exception:
        # A name that exists only for type checkers.
        return None
    is_union = typing.get_origin(declared) in (typing.Union, types.UnionType)
    if {str, bytes, Any, object} & set(typing.get_args(declared) if is_union else [declared]):
        return None
    # Indented, because servers show data that way to models.
    pydantic = sys.modules.get("pydantic")
    try:
        adapter = pydantic.TypeAdapter(declared)  # type: ignore[union-attr]
        schema = json.dumps(adapter.json_schema(mode="serialization"))
    except Exception:
        # Without a schema, what is shortened keeps its form.
        return ReturnType(None, lambda value: json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False), json.loads)

    def dumped(value: Any) -> str:
        text: bytes = adapter.dump_json(value, indent=2, by_alias=True, warnings=False)
        return text.decode()

    return ReturnType(schema, dumped, adapter.validate_json)


def with_message(error: Exception, message: str) -> Exception:
    """Return the exception with another message: the same object if possible, else a copy whose type is a subclass."""
    arguments = error.args
    error.args = (message,)
    if str(error) == message:
        return error
    error.args = arguments
    kind = type(error)
    try:
        members = {"__str__": lambda self: message, "__module__": kind.__module__, "__qualname__": kind.__qualname__}
        subclass = type(kind.__name__, (kind,), members)
        copy: Exception = subclass.__new__(subclass, *arguments)
        copy.__dict__.update(error.__dict__)
        copy.args = (message,)
    except Exception:
        # A class that has no subclasses: the built-in class that it is made from.
        base = next(base for base in kind.__mro__ if base.__module__ == "builtins")
        copy = base(message)
    copy.__cause__, copy.__context__ = error.__cause__, error.__context__
    copy.__suppress_context__ = error.__suppress_context__
    return copy.with_traceback(error.__traceback__)
