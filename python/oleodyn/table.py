"""Tables: named columns with units."""
from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core

if TYPE_CHECKING:
    from .jobs import Result

Array = npt.NDArray[np.float64]

# Units of plots, with their factors from SI.
_DISPLAY = {"Pa": ("bar", 1e-5), "m": ("mm", 1e3), "m/s": ("mm/s", 1e3), "rad": ("deg", 180 / np.pi), "rad/s": ("deg/s", 180 / np.pi),
            "m3/s": ("l/min", 6e4)}


class Table:
    """Named columns with units, such as the rows of a run or the contents of a log.

    `table["boom.angle"]` is a column as a NumPy array, `table.values` all columns (rows, columns). The columns of a run and of a log refer to the memory of the library: nothing is
    copied. Values are in the units of `units`; runs are in SI units.
    """

    def __init__(self, values: Array, names: Iterable[str], units: Iterable[str]):
        self.values = values
        self.names = tuple(names)
        self.units = dict(zip(self.names, units))
        self._index = {name: i for i, name in enumerate(self.names)}

    @classmethod
    def _of_core(cls, table: _core.Table) -> "Table":
        return cls(table.values, table.names, table.units)

    def __getitem__(self, name: str) -> Array:
        try:
            column: Array = self.values[:, self._index[name]]
            return column
        except KeyError:
            import difflib

            near = difflib.get_close_matches(name, self.names, 1)
            advice = f"did you mean '{near[0]}'?" if near else "expected one of " + ", ".join(self.names[:12])
            raise KeyError(f"there is no column '{name}'; {advice}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def keys(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.names

    def items(self) -> Iterator[tuple[str, Array]]:
        """Pairs of names and columns."""
        return ((name, self[name]) for name in self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def time(self) -> Array:
        """The column "time" or "t", else the first column."""
        return self[self._time_name]

    @property
    def _time_name(self) -> str:
        return next((name for name in ("time", "t") if name in self._index), self.names[0])

    def to_pandas(self) -> Any:
        """Returns a pandas.DataFrame, whose `attrs["units"]` has the units. It shares the read-only memory of the table; use .copy() to
        change single cells."""
        import pandas

        frame = pandas.DataFrame(self.values, columns=list(self.names))
        frame.attrs["units"] = dict(self.units)
        return frame

    def plot(self, *names: str, axes: Any = None, si: bool = False) -> Any:
        """Plots columns over time (or over the first column) with matplotlib, one panel for each unit. si: SI units instead of bar, mm, deg, l/min. Returns the axes."""
        import matplotlib.pyplot as plt

        time, time_name = self.time, self._time_name
        chosen = names or [n for n in self.names if self[n] is not time and not np.shares_memory(self[n], time)]
        groups: dict[str, list[str]] = {}
        for name in chosen:
            groups.setdefault(self.units[name], []).append(name)
        if axes is None:
            axes = plt.subplots(len(groups), 1, sharex=True, squeeze=False, figsize=(8, 2.2 * len(groups)))[1][:, 0]
        for panel, (unit, group) in zip(np.atleast_1d(axes), groups.items()):
            shown, factor = (unit, 1.0) if si else _DISPLAY.get(unit, (unit, 1.0))
            for name in group:
                panel.plot(time, factor * self[name], label=name)
            panel.set_ylabel(shown)
            panel.legend(loc="best", fontsize="small")
            panel.grid(alpha=0.3)
        np.atleast_1d(axes)[-1].set_xlabel(f"{time_name} in {self.units[time_name] or '1'}")
        return axes

    def __repr__(self) -> str:
        columns = ", ".join(f"{n} [{u}]" if u else n for n, u in list(self.units.items())[:8])
        more = f", and {len(self) - 8} more" if len(self) > 8 else ""
        return f"<Table: {self.rows} rows of {columns}{more}>"


class Log:
    """Logs of machines."""

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Table:
        """Reads a log of any format: CSV, text, MATLAB, HDF5, MDF 4. Columns keep their names and units as in the file."""
        return Table._of_core(_core.open_table(path))

    @staticmethod
    def survey(path: str | os.PathLike[str], *machine: str | os.PathLike[str], **options: Any) -> "Result":
        """Surveys a log: channels, rates, gaps, faults. With a machine or experiment file, proposes the section `data`."""
        from .jobs import run

        return run("log", path, *machine, **options)
