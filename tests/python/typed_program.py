"""A program of a user, which mypy --strict accepts (tests/checks/python)."""
import numpy as np
import numpy.typing as npt

import oleodyn as od


def friction_spread(path: str, copies: int) -> npt.NDArray[np.float64]:
    machine = od.Machine(path, {"oil.kp": "1.2 GPa"})
    values = np.random.default_rng(1).normal(1e9, 1e8, copies)
    y = machine.rollout(numbers={"oil.kp": values}, steps=100, step=1e-3, outputs=["B.pressure"])
    return y[:, -1, 0]


def control(path: str) -> float:
    simulation = od.Machine(path).simulation(["cylinder.length"])
    for _ in range(100):
        simulation.u[:] = 5.0 * (0.9 - simulation.outputs())
        simulation.step(1e-3)
    return float(simulation.outputs()[0])


def observe(path: str, log: od.Table) -> dict[str, float]:
    observer = od.Machine(path).observer({"A.pressure": 1e5}, {"oil.kp": 1e8})
    observer.start(errors={"A.pressure": 1e5})
    for pressure in log["A.pressure"]:
        observer.predict(1e-3, observer.noise({"A.pressure": 1e4}))
        observer.y = np.array([pressure])
        observer.correct()
    return dict(zip(observer.parameter_names, observer.parameters.tolist()))


def verdict(path: str) -> bool:
    result: od.Result = od.Fit(path).run()
    return result.verdict.is_sound and result["complete"] is True
