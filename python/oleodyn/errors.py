"""Exceptions and warnings."""
from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .jobs import Result


class Error(Exception):
    """An error of the library."""


class Message(NamedTuple):
    """A message about a file: its place, and the value found, what is allowed, a suggestion."""

    file: str | None
    line: int
    column: int
    text: str
    is_warning: bool

    def __str__(self) -> str:
        place = ":".join([self.file or "", *(str(n) for n in (self.line, self.column) if n)])
        kind = "warning" if self.is_warning else "error"
        return f"{place}: {kind}: {self.text}" if place else f"{kind}: {self.text}"


class InputError(Error, ValueError):
    """A file or an option is wrong. `messages` has all errors of the file, each with its place."""

    def __init__(self, text: str, messages: list[Message] | None = None):
        super().__init__(text)
        self.messages = messages or []


class SimulationError(Error, ArithmeticError):
    """A step or an evaluation failed. `status` is the text of the status."""

    def __init__(self, text: str, status: str = ""):
        super().__init__(text)
        self.status = status


class JobError(Error, RuntimeError):
    """A command failed, for example because a search did not converge. `result` has its partial result, or None."""

    def __init__(self, text: str, result: Result | None = None):
        super().__init__(text)
        self.result = result


class OleodynWarning(UserWarning):
    """A warning about a file or an option."""


class VerdictWarning(OleodynWarning):
    """A verdict that is not sound."""


# Statuses of oleodyn/status.h that have their own exception.
_BAD_INPUT, _BAD_ARGUMENT, _IO = 1, 2, 4


def of_status(status: int, meaning: str, text: str) -> Exception:
    """Returns the exception of a status."""
    full = text or meaning
    if status == _BAD_INPUT:
        return InputError(full)
    if status == _BAD_ARGUMENT:
        return ValueError(full if text else meaning)
    if status == _IO:
        return OSError(full)
    return with_cause(SimulationError(full, meaning))


def with_cause(error: Exception) -> Exception:
    """Adds the exception of a law in Python as the cause of an error."""
    from . import _core

    error.__cause__ = _core.law_failure()
    return error


def warn(text: str, category: type[Warning]) -> None:
    """Warns with the place of the call outside of this package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def report(places: list[tuple[Any, ...]]) -> InputError | None:
    """Warns about warnings. Returns the exception for the errors, or None."""
    messages = [Message(*place) for place in places]
    for m in messages:
        if m.is_warning:
            warn(str(m), OleodynWarning)
    errors = [m for m in messages if not m.is_warning]
    return InputError("\n".join(map(str, errors)), errors) if errors else None
