"""Experiment, fit and study files."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .jobs import Path, Result, run, settings


class _File:
    _command: str

    def __init__(self, path: Path, numbers: Mapping[str, Any] | None = None, **options: Any):
        """`numbers` replace numbers of the file; `options` are those of the command, for every run."""
        self.path = os.fspath(path)
        self.options = dict(options)
        if numbers:
            self.options["set"] = settings(numbers)

    def run(self, **options: Any) -> Result:
        """Runs the command of this class, such as `oleodyn fit`. help_text("fit") lists its options; run() describes errors."""
        return run(self._command, self.path, **{**self.options, **options})

    def __repr__(self) -> str:
        return f"<{type(self).__name__} '{self.path}'>"


class Experiment(_File):
    """An experiment file: an observer on a log or on a simulated machine. run() is `oleodyn observe`."""

    _command = "observe"

    def tune(self, **options: Any) -> Result:
        """Finds the noise of the observer from data: `oleodyn tune`."""
        return run("tune", self.path, **{**self.options, **options})


class Fit(_File):
    """A fit file: parameters of a machine from logs. run() is `oleodyn fit`."""

    _command = "fit"


class Study(_File):
    """A study file: many runs of experiments, fits or simulations. run() is `oleodyn study`."""

    _command = "study"


class FrictionFit(_File):
    """A friction file: a friction law from points or runs. run() is `oleodyn friction-fit`."""

    _command = "friction-fit"
