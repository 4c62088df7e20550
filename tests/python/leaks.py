"""Uses every type and function of the extension module, also its error paths, for valgrind (tests/checks/python).

Usage: python3 leaks.py MACHINE EXPERIMENT LOG REPEATS
"""
import gc
import os
import sys
import warnings

import numpy as np

import oleodyn as od


def fails(error, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except error:
        return
    raise AssertionError(f"expected {error}")


def machines(path):
    m = od.Machine(path, {"oil.kp": "1.1 GPa"})
    m.numbers, m.inputs, m.outputs, m.variants, m.states, m.title
    fails(od.InputError, od.Machine, "nosuch.yaml")
    fails(od.InputError, od.Machine, path, {"oil.kpp": 1})
    fails(ValueError, m.simulation, integrator="euler")
    return m


def simulations(m):
    s = m.simulation(parameters=["oil.kp"])
    s.step(1e-4)
    s.step(1e-4, 100)
    s.u = np.zeros(len(s.u))
    s.advance(0.05)
    s.step_with_derivatives(1e-4)
    s.derivatives(), s.output_derivatives(), s.outputs(), s.state, s.rates, s.parameters, s.counts, s.time
    saved = s.save()
    s.restore(saved)
    fails(od.InputError, s.restore, saved[:-8])
    s.set(state=s.state.copy(), parameters=s.parameters, time=0.0)
    fails(ValueError, s.set, state=[1.0])
    fails(od.InputError, s.set, parameters=[-1.0])
    fails(ValueError, s.step, -1.0)
    fails(ValueError, setattr, s, "u", [1, 2, 3])


def observers(m):
    o = m.observer({"*.pressure": 1e5}, {"oil.kp": 1e7})
    fails(ValueError, o.correct)
    o.start(errors={name: 0.01 * (1e7 if unit == "Pa" else 1) for name, unit in m.states.items()})
    q = o.noise({"oil.kp": 1e4})
    for _ in range(3):
        o.predict(1e-3, q)
        o.predict(1e-3, np.diag(q))
        o.y = np.full(len(o.y), 5e5)
        o.correct()
    o.outputs(), o.state, o.parameters, o.covariance, o.parameter_sigma, o.nis, o.innovations, o.settled
    o.inflate(1.1)
    fails(ValueError, o.start, np.eye(2))
    fails(ValueError, m.observer, {"B.pressure": -1.0})
    fails(ValueError, m.observer, {"B.pressure": 1.0}, filter="none")


def rollouts(m):
    m.rollout(numbers={"oil.kp": [1e9, "1.2 GPa"]}, state=m.simulation().state, inputs=np.zeros((6, 1)), steps=5, step=1e-4, threads=2)
    fails(od.InputError, m.rollout, numbers={"oil.kp": [1e9, -1]}, steps=5, step=1e-4)
    fails(ValueError, m.rollout, steps=-1, step=1e-4)


def jobs(m, path, experiment, log):
    run = m.simulate(time="20 ms", output=["*.pressure"], progress=lambda done: None)
    column = run["B.pressure"]
    del run
    column.sum()
    m.linearize()
    od.Experiment(experiment, {"time": "20 ms"}).run()
    fails(od.InputError, m.simulate, tme=1)
    fails(od.InputError, m.simulate, time="1 kg")
    fails(ValueError, od.run, "nosuch", path)
    fails(KeyboardInterrupt, m.simulate, time="1000 s", progress=lambda done: False)
    od.help_text()
    od.help_text("simulate")
    table = od.Log.read(log)
    column = table[table.names[0]]
    del table
    column.sum()
    fails(OSError, od.Log.read, "nosuch.csv")


@od.law(states={"x": 0.0})
def lag(u, x, *, T):
    if u > 1e9:
        raise ValueError("impossible")
    return x, (u - x) / T


def laws(folder):
    path = os.path.join(folder, "law.yaml")
    with open(path, "w") as to:
        to.write("machine: Lag\ninputs: {u: {unit: N, sine: {amplitude: 1 N, frequency: 2 Hz}}}\nrun: {time: 0.1 s}\n"
                 "blocks: {lag: {type: foreign, law: lag, unit: N, inputs: {u: u}, parameters: {T: 0.1 s}}}\n")
    m = od.Machine(path)
    m.simulate(output="lag")
    s = m.simulation(["lag"])
    s.step(1e-3, 10)
    s.u = 2e9
    fails(od.SimulationError, s.step, 1e-3)
    m.rollout(inputs=np.full((6, 1), 2e9), steps=5, step=1e-3, outputs=["lag"])
    fails(TypeError, od.law, lambda *a: 0)


def main():
    path, experiment, log, repeats = sys.argv[1:]
    warnings.simplefilter("ignore", od.OleodynWarning)
    for _ in range(int(repeats)):
        m = machines(path)
        simulations(m)
        observers(m)
        rollouts(m)
        jobs(m, path, experiment, log)
        laws(os.path.dirname(log))
        del m
        gc.collect()


if __name__ == "__main__":
    main()
