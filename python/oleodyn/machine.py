"""Machines: simulate, linearize, step, roll out."""
from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _core
from .errors import InputError
from .jobs import Result, run, settings


class Number(NamedTuple):
    """A number of a machine, in SI units: its value, the text in the file (None: a default), its allowed and its usual range."""

    path: str
    value: float
    unit: str
    given: str | None
    low: float
    high: float
    usual_low: float
    usual_high: float


class LinearModel(NamedTuple):
    """x' = A x + B u, y = C x + D u around an operating point, in SI units."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    result: Result


class Sensitivities(NamedTuple):
    """Outputs over time and their exact derivatives: y (rows, outputs), dy (rows, outputs, parameters), in SI units."""

    time: np.ndarray
    y: np.ndarray
    dy: np.ndarray
    outputs: list[str]
    parameters: list[str]


class Machine:
    """A machine file.

    >>> m = oleodyn.Machine("crane.yaml", {"boom.mass": "120 kg"}, variant="heavy")
    >>> run = m.simulate(time="5 s")
    >>> run["boom.angle"]
    """

    def __init__(self, path, numbers: Mapping[str, Any] | None = None, *, variant: str | None = None, spatial: bool = False, **more):
        """Loads a machine file. `numbers` and further arguments replace numbers of the file. Raises InputError with all errors."""
        self.path = os.fspath(path)
        self.variant = variant
        self._set = settings({**(numbers or {}), **more})
        self._spatial = spatial
        self._core = _core.Machine(path, self._set, variant, spatial)
        self._inputs = [name for name, _ in self._core.inputs]
        self._outputs = [name for name, _ in self._core.outputs]

    @property
    def title(self) -> str:
        """Title in the file."""
        return self._core.title

    @property
    def inputs(self) -> dict[str, str]:
        """Names of the inputs and their SI units."""
        return dict(self._core.inputs)

    @property
    def outputs(self) -> dict[str, str]:
        """Names of the outputs and their SI units."""
        return dict(self._core.outputs)

    @property
    def variants(self) -> list[str]:
        """Names of the variants in the file."""
        return self._core.variants

    @property
    def numbers(self) -> dict[str, Number]:
        """All numbers of the machine by path."""
        return {n[0]: Number(*n) for n in self._core.numbers}

    def __repr__(self) -> str:
        return f"<Machine '{self.title}': {len(self._inputs)} inputs, {len(self._outputs)} outputs>"

    # ---- commands

    def run(self, command: str, **options) -> Result:
        """Runs a command of the program on this machine, such as bode, equilibrium, inverse, optimize or info."""
        if self._set:
            options["set"] = self._set
        if self.variant:
            options["variant"] = self.variant
        if self._spatial:
            options["spatial"] = True
        return run(command, self.path, **options)

    def simulate(self, **options) -> Result:
        """Runs the machine over time, as `oleodyn simulate`: the error is controlled, and the verdict is measured.

        Options: time="5 s", step="1 ms", rows, output=["boom.*"], tolerance, integrator and others; help_text("simulate") lists them.
        """
        return self.run("simulate", **options)

    def linearize(self, **options) -> LinearModel:
        """Returns the linear model at the initial state, or at another operating point (at="2 s", hold=...)."""
        result = self.run("linearize", **options)
        d = result.data

        def matrix(name: str, rows: int, columns: int) -> np.ndarray:
            return np.array(d[name], dtype=float).reshape(rows, columns)

        names = [[s["name"] for s in d[key]] for key in ("states", "inputs", "outputs")]
        n, m, p = map(len, names)
        return LinearModel(matrix("A", n, n), matrix("B", n, m), matrix("C", p, n), matrix("D", p, m), *names, result)

    def show(self, **options):
        """Returns the report page of a run, which notebooks display."""
        return self.simulate(**options).show()

    # ---- steps

    def _output_indices(self, outputs: Iterable[str] | None) -> list[int]:
        if outputs is None:
            return self._core.default_outputs()
        wanted = [outputs] if isinstance(outputs, str) else list(outputs)
        found: list[int] = []
        for name in wanted:
            matches = [i for i, o in enumerate(self._outputs) if fnmatch.fnmatchcase(o, name)]
            if not matches:
                raise InputError(_unknown("output", name, self._outputs))
            found += [i for i in matches if i not in found]
        return found

    def _parameter_indices(self, parameters: Iterable[str]) -> list[int]:
        paths = [n[0] for n in self._core.numbers]
        index = {path: i for i, path in enumerate(paths)}
        for name in parameters:
            if name not in index:
                raise InputError(_unknown("number", name, paths))
        return [index[name] for name in parameters]

    def simulation(self, outputs: Iterable[str] | None = None, parameters: Sequence[str] = (), *, integrator: str | None = None,
                   tolerance: float = 0, longest: float = 0) -> "Simulation":
        """Returns a simulation that is advanced step by step, at the initial state.

        outputs: names or patterns; parameters: numbers that may change. integrator: trapezoid (default), tr-bdf2 or rk4.
        tolerance and longest (s): for Simulation.advance().
        """
        chosen = self._output_indices(outputs)
        s = Simulation(self._core, chosen, self._parameter_indices(parameters), integrator, tolerance, longest)
        s.inputs, s.output_names, s.parameter_names = self._inputs, [self._outputs[i] for i in chosen], list(parameters)
        s.start()
        return s

    def observer(self, sensors: Mapping[str, float], parameters: Mapping[str, float] | None = None, *, outputs: Iterable[str] = (),
                 filter: str | None = None, gate: float = 0, low=None, high=None) -> "Observer":
        """Returns an observer. sensors: names and standard deviations of their noise, SI. parameters: estimated numbers.

        outputs: further outputs to estimate. low, high: bounds of the parameters. Call start() with the initial covariance. Experiment
        files describe complete observers, with noise and initial errors in their usual units: Experiment(path).run().
        """
        chosen = self._output_indices(sensors)
        chosen += [i for i in self._output_indices(outputs) if i not in chosen] if outputs else []
        estimated = list(parameters or ())
        o = Observer(self._core, chosen, len(sensors), self._parameter_indices(estimated), np.array(list(sensors.values()), float),
                     low, high, filter, gate)
        o.inputs, o.output_names, o.parameter_names = self._inputs, [self._outputs[i] for i in chosen], estimated
        return o

    def sensitivities(self, parameters: Sequence[str], outputs: Iterable[str] | None = None, *, time: float, step: float = 1e-3,
                      every: int = 1) -> Sensitivities:
        """Returns outputs over time and their exact derivatives with respect to numbers of the machine.

        Fixed steps of the trapezoidal rule, with the inputs of the file. Machines with samples, modes or jumps of their inputs within the
        run are refused; `oleodyn fit` handles them.
        """
        s = self.simulation(outputs, parameters)
        s._require_smooth()
        steps = round(time / step)
        rows = steps // every + 1
        n, p = len(s.state), len(parameters)
        S = np.zeros((n, p))
        t, y, dy = np.empty(rows), np.empty((rows, len(s.output_names))), np.empty((rows, len(s.output_names), p))
        for k in range(steps + 1):
            if k > 0:
                s.file_inputs(k * step)
                F, _, _, Gp = s.step_with_derivatives(step)
                S = F @ S + Gp
            if k % every == 0:
                hx, _, hp = s.output_derivatives()
                t[k // every], y[k // every], dy[k // every] = k * step, s.outputs(), hx @ S + hp
        return Sensitivities(t, y, dy, s.output_names, list(parameters))

    def rollout(self, state=None, inputs=None, numbers: Mapping[str, Any] | None = None, *, steps: int, step: float,
                outputs: Iterable[str] | None = None, count: int | None = None, integrator: str | None = None,
                threads: int | None = None) -> np.ndarray:
        """Simulates many copies of the machine in one call and returns the outputs, (count, steps + 1, outputs), SI.

        state: (states,) or (count, states), in the coordinates of Simulation.state. inputs: (steps + 1, inputs) or (count, steps + 1,
        inputs), linear between the rows; default: the signals of the file. numbers: values for each copy, {"boom.mass": array}. A copy
        that fails has NaN from its failure on. The bits do not depend on the number of threads.
        """
        numbers = dict(numbers or {})
        sizes = {np.shape(a)[0] for a, inner in ((state, 1), (inputs, 2)) if a is not None and np.ndim(a) > inner}
        sizes |= {len(v) for v in numbers.values() if np.ndim(v) == 1}
        if count is not None:
            sizes.add(count)
        if len(sizes) > 1:
            raise ValueError(f"the arguments give different numbers of copies: {', '.join(map(str, sorted(sizes)))}")
        copies = sizes.pop() if sizes else 1
        p = np.array([np.broadcast_to(np.asarray(v, float), (copies,)) for v in numbers.values()]).T if numbers else None
        y, self.rollout_status = _core.rollout(self._core, self._output_indices(outputs), self._parameter_indices(list(numbers)), copies,
                                               steps, step, state, inputs, p, integrator, threads or os.cpu_count() or 1)
        return y


class Simulation(_core.Simulation):
    """A simulation step by step: write to `u`, call step(h) or advance(t), read outputs()."""

    inputs: list[str]
    output_names: list[str]
    parameter_names: list[str]

    def _require_smooth(self) -> None:
        if self.has_events:
            raise InputError("the machine has sampled blocks or modes that switch; exact sensitivities over time need a smooth machine")


class Observer(_core.Observer):
    """An observer: write to `u` and `y`, call predict(h) and correct(), read outputs(), parameters and covariance."""

    inputs: list[str]
    output_names: list[str]
    parameter_names: list[str]


def _unknown(what: str, name: str, names: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, names, 1)
    return f"the machine has no {what} '{name}'" + (f"; did you mean '{near[0]}'?" if near else "")
