"""Machines: simulate, linearize, step, roll out."""
from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _core
from .errors import InputError
from .jobs import Page, Path, Result, run, settings
from .steps import Observer, Simulation
from .table import Array


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

    A: Array
    B: Array
    C: Array
    D: Array
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    result: Result

    def __repr__(self) -> str:
        return self.result.text


class Sensitivities(NamedTuple):
    """Outputs over time and their exact derivatives: y (rows, outputs), dy (rows, outputs, parameters), in SI units."""

    time: Array
    y: Array
    dy: Array
    outputs: list[str]
    parameters: list[str]


class Machine:
    """A machine file.

    >>> m = oleodyn.Machine("crane.yaml", {"boom.mass": "120 kg"}, variant="heavy")
    >>> run = m.simulate(time="5 s")
    >>> run["boom.angle"]
    """

    def __init__(self, path: Path, numbers: Mapping[str, Any] | None = None, *, variant: str | None = None, spatial: bool = False,
                 **more: Any):
        """Loads a machine file. `numbers` and further arguments replace numbers of the file. Raises InputError with all errors."""
        self.path = os.fspath(path)
        self.variant = variant
        self._set = settings({**(numbers or {}), **more})
        self._spatial = spatial
        self._core = _core.Machine(path, self._set, variant, spatial)
        self._inputs = [name for name, _ in self._core.inputs]
        self._outputs = [name for name, _ in self._core.outputs]
        self._states: dict[str, str] | None = None
        self.rollout_status: np.ndarray[Any, np.dtype[np.intc]] = np.zeros(0, np.intc)

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
    def states(self) -> dict[str, str]:
        """Names of the states at the initial state and their SI units, in the order of Simulation.state. A state has the name of the output
        that is equal to the state; a state without such an output (spherical joints) is named state[j]."""
        if self._states is None:
            units = self.outputs
            s = self.simulation(self._outputs)
            hx, hu, _ = s.output_derivatives()
            single = (np.count_nonzero(hx, axis=1) == 1) & ~np.any(hu, axis=1)
            names = [next((self._outputs[o] for o in np.flatnonzero(single & (hx[:, j] == 1))), f"state[{j}]") for j in range(len(s.state))]
            self._states = {name: units.get(name, "") for name in names}
        return dict(self._states)

    @property
    def variants(self) -> list[str]:
        """Names of the variants in the file."""
        return self._core.variants

    @property
    def numbers(self) -> dict[str, Number]:
        """All numbers of the machine by path."""
        return {n[0]: Number(*n) for n in self._core.numbers}

    def __repr__(self) -> str:
        counts = (f"{len(names)} {what}{'' if len(names) == 1 else 's'}" for names, what in ((self._inputs, "input"), (self._outputs, "output")))
        return f"<Machine '{self.title}': {', '.join(counts)}>"

    # ---- commands

    def run(self, command: str, **options: Any) -> Result:
        """Runs a command of the program on this machine, such as bode, equilibrium, inverse, optimize or info: run() of the module with this
        file, its numbers and variant. help_text(command) lists the options."""
        given = options.pop("set", [])
        given = settings(given) if isinstance(given, Mapping) else [given] if isinstance(given, str) else list(given)
        if self._set or given:
            options["set"] = [*self._set, *given]
        if self.variant:
            options["variant"] = self.variant
        if self._spatial:
            options["spatial"] = True
        return run(command, self.path, **options)

    def simulate(self, **options: Any) -> Result:
        """Runs the machine over time, as `oleodyn simulate`: the error is controlled, and the verdict is measured.

        Options: time="5 s", step="1 ms", rows, output=["boom.*"], tolerance, integrator and others; help_text("simulate") lists them.
        """
        return self.run("simulate", **options)

    def linearize(self, **options: Any) -> LinearModel:
        """Returns the linear model at the initial state, or at another operating point (at="2 s", hold=...). help_text("linearize")
        lists the options."""
        result = self.run("linearize", **options)
        d = result.data

        def matrix(name: str, rows: int, columns: int) -> Array:
            return np.array(d[name], dtype=float).reshape(rows, columns)

        states, inputs, outputs = ([s["name"] for s in d[key]] for key in ("states", "inputs", "outputs"))
        n, m, p = len(states), len(inputs), len(outputs)
        return LinearModel(matrix("A", n, n), matrix("B", n, m), matrix("C", p, n), matrix("D", p, m), states, inputs,
                           outputs, result)

    def show(self, **options: Any) -> Page:
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
                   tolerance: float = 0, longest: float = 0) -> Simulation:
        """Returns a simulation that is advanced step by step, at the initial state.

        outputs: names or patterns; default: those of `oleodyn simulate`. parameters: numbers that set() may change, and with respect to
        which derivatives are computed. integrator: trapezoid, tr-bdf2 or rk4; default: trapezoid for step(), tr-bdf2 for advance().
        tolerance and longest (s): for advance().
        """
        chosen = self._output_indices(outputs)
        s = Simulation(self._core, chosen, self._parameter_indices(parameters), integrator, tolerance, longest)
        s.inputs, s.output_names, s.parameter_names = self._inputs, [self._outputs[i] for i in chosen], list(parameters)
        s.start()
        return s

    def observer(self, sensors: Mapping[str, float], parameters: Mapping[str, float] | Sequence[str] = (), *,
                 outputs: Iterable[str] | None = None, filter: str | None = None, gate: float = 0, low: Any = None,
                 high: Any = None) -> Observer:
        """Returns an observer of this machine. Call its start() with the initial errors.

        sensors: names or patterns of outputs and the standard deviations of their noise, SI. parameters: numbers that are estimated, with
        the standard deviations of their initial errors (or a list, if start() gets the whole covariance). outputs: further outputs to
        estimate. filter: ekf, iterated-ekf and others; a wrong name lists all; default: the first of the list. gate: innovations beyond this many
        standard deviations are not used. low, high: bounds of the parameters. Experiment(path).run() runs complete observers of
        experiment files, with noise and initial errors in their usual units.
        """
        sigma = {i: value for name, value in sensors.items() for i in self._output_indices([name])}
        chosen = [*sigma, *(i for i in (self._output_indices(outputs) if outputs is not None else ()) if i not in sigma)]
        estimated = list(parameters)
        o = Observer(self._core, chosen, len(sigma), self._parameter_indices(estimated), np.array(list(sigma.values()), float), low, high,
                     filter, gate)
        o.inputs, o.output_names, o.parameter_names = self._inputs, [self._outputs[i] for i in chosen], estimated
        o.sensors = o.output_names[:len(sigma)]
        o._machine, o._parameter_errors = self, dict(parameters) if isinstance(parameters, Mapping) else {}
        return o

    def sensitivities(self, parameters: Sequence[str], outputs: Iterable[str] | None = None, *, time: float, step: float = 1e-3,
                      every: int = 1) -> Sensitivities:
        """Returns outputs over time and their exact derivatives with respect to numbers of the machine.

        Fixed steps of the trapezoidal rule, with the inputs of the file. Machines with samples, modes or jumps of their inputs within the
        run are refused; `oleodyn fit` handles them.
        """
        s = self.simulation(outputs, parameters)
        self._require_smooth(s, time)
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

    def _require_smooth(self, s: Simulation, time: float) -> None:
        """Raises InputError where derivatives over time would be wrong: samples, modes, jumps of inputs."""
        if s.has_events:
            raise InputError("the machine has sampled blocks or modes that switch; exact sensitivities over time need a smooth machine")
        at = 0.0
        while (at := self._core.next_break(at)) < time:
            before, after = self._core.inputs_at(np.nextafter(at, 0)), self._core.inputs_at(at)
            jumps = np.abs(after - before) > 1e-9 * (np.abs(after) + np.abs(before))
            if jumps.any():
                name = self._inputs[int(np.argmax(jumps))]
                raise InputError(f"the input '{name}' jumps at {at:g} s; exact sensitivities over time need inputs without jumps")

    def rollout(self, state: Any = None, inputs: Any = None, numbers: Mapping[str, Any] | None = None, *, steps: int, step: float,
                outputs: Iterable[str] | None = None, count: int | None = None, integrator: str | None = None,
                threads: int | None = None) -> Array:
        """Simulates many copies of the machine in one call and returns the outputs, (count, steps + 1, outputs), SI.

        state: (states,) or (count, states), in the order of `states`. inputs: (steps + 1, inputs) or (count, steps + 1, inputs), linear
        between the rows; default: the signals of the file. numbers: {"boom.mass": values}, a value for each copy or one for all. steps,
        step (s): length of the rollout. outputs: names or patterns; default: those of `oleodyn simulate`, in the order of the machine's
        default. A copy that fails has NaN from its failure on, and `rollout_status` its status (0: complete). The bits do not depend on
        the number of threads (default: all cores; one for machines with laws in Python).
        """
        values = {name: self._values(name, v) for name, v in (numbers or {}).items()}
        sizes = {np.shape(a)[0] for a, inner in ((state, 1), (inputs, 2)) if a is not None and np.ndim(a) > inner}
        sizes |= {len(v) for v in values.values() if np.ndim(v) == 1}
        if count is not None:
            sizes.add(count)
        if len(sizes) > 1:
            raise ValueError(f"the arguments give different numbers of copies: {', '.join(map(str, sorted(sizes)))}")
        copies = sizes.pop() if sizes else 1
        p = np.array([np.broadcast_to(v, (copies,)) for v in values.values()]).T if values else None
        y, self.rollout_status = _core.rollout(self._core, self._output_indices(outputs), self._parameter_indices(list(values)), copies,
                                               steps, step, state, inputs, p, integrator,
                                               self._usual_threads() if threads is None else threads)
        return y

    def _usual_threads(self) -> int:
        """Returns the number of cores; 1 for a machine with laws in Python, whose calls would wait for each other."""
        before = _core.law_calls()
        self.simulation()
        return os.cpu_count() or 1 if _core.law_calls() == before else 1

    def _values(self, name: str, value: Any) -> Array:
        """Returns values of a number in SI units. Texts have units: "1.2 GPa"."""
        self._parameter_indices([name])
        if isinstance(value, str):
            more = dict(text.split("=", 1) for text in self._set)
            return np.array(Machine(self.path, {**more, name: value}, variant=self.variant, spatial=self._spatial).numbers[name].value)
        if isinstance(value, (list, tuple)) and any(isinstance(v, str) for v in value):
            return np.array([float(self._values(name, v)) for v in value])
        found = np.asarray(value, float)
        if found.ndim > 1:
            raise ValueError(f"the values of '{name}' have the shape {found.shape}; expected a number or one value for each copy")
        return found


def _unknown(what: str, name: str, names: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, names, 1)
    return f"the machine has no {what} '{name}'" + (f"; did you mean '{near[0]}'?" if near else "")
