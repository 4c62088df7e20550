"""Simulations and observers step by step."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .errors import InputError
from .table import Array

if TYPE_CHECKING:
    from .machine import Machine


class Simulation(_core.Simulation):
    """A simulation step by step, made by Machine.simulation(): write to `u`, call step(h) or advance(t), read outputs().

    All values are in SI units. `u`, `y`, `state` and `rates` are arrays in the memory of the simulation: bind them once. A simulation
    belongs to one thread at a time.
    """

    inputs: list[str]
    output_names: list[str]
    parameter_names: list[str]

    def __repr__(self) -> str:
        return f"<Simulation at {self.time:.9g} s: {len(self.state)} states, inputs {self.inputs}, outputs {self.output_names}>"

    def values(self) -> dict[str, float]:
        """Returns the outputs at the current point by name: slower than outputs(), for reading."""
        return dict(zip(self.output_names, self.outputs().tolist()))


class Observer(_core.Observer):
    """An observer step by step, made by Machine.observer(): call start(), then for each sample write to `u` and `y` and call predict(h) and
    correct(); read outputs(), parameters and covariance.

    All values are in SI units. `sensors` has the order of `y`, `output_names` that of outputs(), `inputs` that of `u`.
    """

    inputs: list[str]
    sensors: list[str]
    output_names: list[str]
    parameter_names: list[str]
    _machine: Machine
    _parameter_errors: dict[str, float]

    def __repr__(self) -> str:
        return f"<Observer at {self.time:.9g} s: sensors {self.sensors}, inputs {self.inputs}, parameters {self.parameter_names}>"

    def start(self, covariance: Any = None, state: Any = None, parameters: Any = None, time: float = 0, *,
              errors: Mapping[str, float] | None = None) -> None:
        """Sets the estimate (default: the initial state of the machine file) and the covariance of its errors.

        errors: standard deviations of the initial errors of outputs, {"boom.angle": 0.02, "boom.rate": 0.01, "A.pressure": 2e5}; these
        outputs must determine the state, such as the names in Machine.states. The errors of estimated numbers are those of
        Machine.observer(). covariance: the whole matrix instead, states in the order of Machine.states, then the estimated numbers.
        """
        if (covariance is None) == (errors is None):
            raise ValueError("start() needs either errors or covariance")
        if errors is not None:
            covariance = self._covariance(errors, state, parameters, time)
        super().start(covariance, state, parameters, time)

    def noise(self, sigma: Mapping[str, float]) -> Array:
        """Returns the diagonal of the process noise of one step for predict(h, noise). sigma: standard deviations of the disturbances that
        one step adds to states (names of Machine.states) and estimated numbers; others have none."""
        names = [*self._machine.states, *self.parameter_names]
        unknown = [name for name in sigma if name not in names]
        if unknown:
            raise InputError(f"the observer has no state or estimated number '{unknown[0]}'; it has {', '.join(names)}")
        return np.array([float(sigma.get(name, 0)) ** 2 for name in names])

    def _covariance(self, errors: Mapping[str, float], state: Any, parameters: Any, time: float) -> Array:
        """Returns the covariance of states and parameters from standard deviations of outputs and of parameters."""
        missing = [name for name in self.parameter_names if name not in self._parameter_errors]
        if missing:
            raise InputError(f"the initial error of '{missing[0]}' is not given; observer(parameters={{'{missing[0]}': ...}}) gives it")
        wrong = [name for name, value in errors.items() if not (np.isfinite(value) and value > 0)]
        if wrong:
            raise ValueError(f"the initial error of '{wrong[0]}' is {errors[wrong[0]]}; expected a positive standard deviation")
        s = self._machine.simulation(list(errors), self.parameter_names)
        s.start(time)
        if state is not None or parameters is not None:
            s.set(state, parameters, time)
        weighted = s.output_derivatives()[0] / np.array(list(errors.values()), float)[:, None]
        scale = np.linalg.norm(weighted, axis=0)
        states = list(self._machine.states)
        unseen = [name for name, size in zip(states, scale) if size == 0]
        if not unseen:
            _, singular, directions = np.linalg.svd(weighted / scale)
            if len(weighted) < len(states) or singular[-1] < 1e-9 * singular[0]:
                unseen = [states[int(np.argmax(np.abs(directions[-1])))]]
        if unseen:
            raise InputError(f"the outputs of errors= do not determine the state '{unseen[0]}'; add its initial error. "
                             f"The states are {', '.join(states)}")
        inverse = np.linalg.pinv(weighted / scale) / scale[:, None]
        n, p = len(states), len(self.parameter_names)
        P = np.zeros((n + p, n + p))
        P[:n, :n] = inverse @ inverse.T
        P[range(n, n + p), range(n, n + p)] = [self._parameter_errors[name] ** 2 for name in self.parameter_names]
        return P
