"""The commands of the program `oleodyn` as functions."""
from __future__ import annotations

import html
import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from . import _core
from .errors import InputError, JobError, Message, OleodynWarning, VerdictWarning, report, warn, with_cause
from .table import Array, Table

Path = str | PathLike[str]
Progress = Callable[[float], object]

# Outcomes of oleodyn/job.h.
_DONE, _FAILED, _BAD_INPUT, _UNSOUND, _UNMET, _INTERRUPTED = 0, 1, 2, 3, 4, 130


class Remark(NamedTuple):
    """A remark of a verdict: its effect, a code for programs, a heading and sentences."""

    trust: str
    code: str
    lead: str
    text: str


class Verdict:
    """The trust in a result: "sound", "doubtful" or "unsound", with the reasons."""

    def __init__(self, trust: str, remarks: list[Remark]):
        self.trust = trust
        self.remarks = remarks

    @property
    def is_sound(self) -> bool:
        """Whether no remark reduces the trust."""
        return self.trust == "sound"

    def __bool__(self) -> bool:
        return self.is_sound

    def __repr__(self) -> str:
        reasons = "; ".join(r.code for r in self.remarks if r.trust != "sound")
        return f"<Verdict: {self.trust}{': ' + reasons if reasons else ''}>"


class Page:
    """A report page, which notebooks display."""

    def __init__(self, html: str):
        self.html = html

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.html, quote=True)}" style="width:100%;height:720px;border:1px solid #8884" '
                'title="oleodyn report"></iframe>')

    def save(self, path: Path) -> None:
        """Writes the page to a file."""
        with open(path, "w", encoding="utf-8") as to:
            to.write(self.html)


class Result:
    """The result of a command.

    `data` has the numbers in SI units, as the option --json; `table` the rows, or None; `verdict` the trust; `text` what the program shows.
    """

    def __init__(self, call: tuple[str, Sequence[Path], list[tuple[str, str | None]]], answer: dict[str, Any]):
        self._call = call
        self.kind: str = call[0]
        self.data: dict[str, Any] = json.loads(answer["json"])
        self.text: str = answer["text"]
        self.verdict = Verdict(answer["trust"], [Remark(*r) for r in answer["remarks"]])
        self.notes: list[str] = [text for kind, text in answer["messages"] if kind in ("note", "stop")]
        self.requirements_met: bool = answer["outcome"] != _UNMET
        table = answer.get("table")
        self.table: Table | None = Table._of_core(table) if table is not None else None

    def __getitem__(self, name: str) -> Any:
        """Returns a column of the table, or a field of the data."""
        if self.table is not None and name in self.table.units:
            return self.table[name]
        if name in self.data:
            return self.data[name]
        if self.table is not None:
            return self.table[name]
        raise KeyError(f"the result has no field '{name}'; it has {', '.join(self.data)}")

    def to_pandas(self) -> Any:
        """Returns the table as a pandas.DataFrame."""
        return self._rows().to_pandas()

    def plot(self, *names: str, axes: Any = None, si: bool = False) -> Any:
        """Plots columns of the table with matplotlib (Table.plot)."""
        return self._rows().plot(*names, axes=axes, si=si)

    def _rows(self) -> Table:
        if self.table is None:
            raise ValueError(f"the result of '{self.kind}' has no table")
        return self.table

    def show(self) -> Page:
        """Returns the report page. The command runs again with --report, with the same numbers."""
        kind, files, options = self._call
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.html")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OleodynWarning)
                _run(kind, files, [*options, ("report", path)], None)
            with open(path, encoding="utf-8") as page:
                return Page(page.read())

    def __repr__(self) -> str:
        return self.text


def _text(value: Any) -> str:
    """Returns a value as on the command line. Numbers keep all their bits."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def settings(numbers: Mapping[str, Any] | None) -> list[str]:
    """Returns the texts of `--set`: {"boom.mass": "120 kg"} or {"boom.mass": 120.0}."""
    return [f"{path}={_text(value)}" for path, value in (numbers or {}).items()]


def _option_texts(options: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    """Returns pairs of names and values. True: a flag. A list: the option several times. A mapping: NAME=VALUE for each entry."""
    texts: list[tuple[str, str | None]] = []
    for key, value in options.items():
        name = key.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            texts.append((name, None))
        elif isinstance(value, Mapping):
            texts += [(name, text) for text in settings(value)]
        elif isinstance(value, Iterable) and not isinstance(value, (str, PathLike)):
            texts += [(name, _text(v)) for v in value]
        else:
            texts.append((name, _text(value)))
    return texts


def _run(kind: str, files: Sequence[Path], options: list[tuple[str, str | None]], progress: Progress | None) -> Result:
    answer = _core.run_job(kind, files, options, progress)
    for what, text in answer["messages"]:
        if what == "warning":
            warn(text, OleodynWarning)
    errors = [text for what, text in answer["messages"] if what == "error"]
    error = report(answer["places"])
    outcome = answer["outcome"]
    if outcome == _BAD_INPUT or error:
        places: list[Message] = error.messages if error else []
        raise InputError("\n".join([*map(str, places), *errors]), places)
    result = Result((kind, files, options), answer) if "json" in answer else None
    if outcome == _INTERRUPTED:
        raise KeyboardInterrupt
    if outcome == _FAILED:
        raise with_cause(JobError("\n".join(errors) or f"the command '{kind}' failed", result))
    if result is None:
        raise JobError(f"the command '{kind}' has no result", None)
    for r in result.verdict.remarks:
        if r.trust != "sound":
            warn(f"{r.lead} {r.text}".strip(), VerdictWarning)
    return result


def run(kind: str, *files: Path, progress: Progress | None = None, **options: Any) -> Result:
    """Runs a command of the program, such as run("simulate", "crane.yaml", time="5 s").

    Options have the names of the program with '_' for '-'; True is a flag, a list repeats the option, and set={"boom.mass": "120 kg"}
    gives numbers. progress(done) is called with the completed part (0 to 1) and may return False to stop. help_text(kind) lists the
    options. Raises InputError, JobError or KeyboardInterrupt; a verdict that is not sound is a VerdictWarning.
    """
    return _run(kind, list(files), _option_texts(options), progress)


def help_text(kind: str | None = None) -> str:
    """Returns the commands, or the options of a command."""
    if kind is None:
        return "\n".join(f"{name:12} {summary}" for name, summary in _core.job_kinds())
    options, files, details = _core.job_options(kind)
    lines = [f"{kind} {files or ''}".rstrip(), ""]
    for name, argument, text, _, values in options:
        head = f"{name.replace('-', '_')}={argument}" if argument else name.replace("-", "_")
        lines.append(f"  {head:24} {' '.join((text or '').split())}" + (f" ({values})" if values else ""))
    return "\n".join([*lines, "", details or ""]).rstrip()
