#!/usr/bin/env python3
"""Processor times of the Python package relative to the same work in C, in one run (docs/python.md).

Usage: PYTHONPATH=PACKAGE python3 bench/python_speed.py [CASES]
"""
import os
import pathlib
import sys
import tempfile
import time

import numpy as np

import oleodyn as od

cases = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "cases")


def best(work, repeat: int = 7) -> float:
    """Returns the least processor time of a call, s."""
    times = []
    for _ in range(repeat):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def steps() -> None:
    m = od.Machine(cases / "fourbar-valve/machine.yaml")
    s, count, h = m.simulation(), 20000, 1e-4

    def in_c():
        s.start()
        s.step(h, count)

    def in_python():
        s.start()
        for _ in range(count):
            s.step(h)

    c, python = best(in_c) / count, best(in_python) / count
    print(f"a step of the four-bar: {1e6 * c:.3f} us in C, {1e6 * python:.3f} us from Python: {1e6 * (python - c):.3f} us more")


def rollouts() -> None:
    m = od.Machine(cases / "fourbar-valve/machine.yaml")
    copies, count, h = 2000, 50, 1e-4
    s = m.simulation()

    def in_c():
        for _ in range(copies // 10):
            s.start()
            s.step(h, count)

    c = best(in_c, 3) / (copies // 10)
    python = best(lambda: m.rollout(count=copies, steps=count, step=h, threads=1), 3) / copies
    print(f"a rollout of {count} steps with all outputs: {1e6 * python:.1f} us; bare steps in C: {1e6 * c:.1f} us")


def table() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log.csv")
        rows = 5_000_000
        np.savetxt(path, np.column_stack([np.arange(rows) * 1e-3, np.zeros(rows)]), "%.4g", ",", header="t [s],p [bar]", comments="")
        size = os.path.getsize(path)
        begin = time.process_time()
        log = od.Log.read(path)
        read = time.process_time() - begin
        begin = time.process_time()
        column = log["p"]
        view = time.process_time() - begin
        print(f"{log.rows} rows, {size / 1e6:.0f} MB: read in {read:.2f} s; a column in {1e6 * view:.0f} us, shares memory: "
              f"{np.shares_memory(column, log.values)}")


if __name__ == "__main__":
    steps()
    rollouts()
    table()
