#!/usr/bin/env python3
"""Processor times of the Python package relative to the same work of a C program (python_speed.c), in one run (docs/python.md).

Usage: PYTHONPATH=PACKAGE python3 bench/python_speed.py [--build BUILD] [--copies N] [--rows N] [--check]
--check fails if a step costs more than 1 us beyond the C call, if rollouts have other bits than in C or cost 25 % more, or if a column
is copied. The limit of rollouts is 5 % on an idle computer.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

import oleodyn as od

root = pathlib.Path(__file__).resolve().parent.parent
machine_file = root / "cases/fourbar-valve/machine.yaml"
STEPS, STEP = 50, 1e-4


def spent(work) -> float:
    """Returns the processor time of a call, s."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def compiled(build: pathlib.Path, folder: str) -> str:
    """Returns the C program, compiled against the library of a build folder."""
    program = os.path.join(folder, "python_speed")
    subprocess.run(["cc", "-O2", "-std=c17", "-D_GNU_SOURCE", f"-I{root / 'include'}", str(root / "bench/python_speed.c"), "-o", program,
                    f"-L{build}", "-loleodyn", f"-Wl,-rpath,{build}"], check=True)
    return program


def steps_and_rollouts(program: str, copies: int) -> list[str]:
    """Prints the times of a step and of rollouts. Returns what exceeds its limit."""
    m = od.Machine(machine_file)
    s, count = m.simulation(), 20000
    python_step, c_step, python, c, y = [], [], [], [], None

    def python_steps():
        for _ in range(count):
            s.step(1e-4)

    def rollout():
        nonlocal y
        y = m.rollout(count=copies, steps=STEPS, step=STEP, threads=1)

    for _ in range(5):  # alternately, so that other work on the computer disturbs both
        out = subprocess.run([program, machine_file, str(copies), str(STEPS), str(STEP)], check=True, capture_output=True, text=True).stdout.split()
        c_step.append(float(out[0]))
        c.append(float(out[1]))
        s.start()
        python_step.append(spent(python_steps) / count)
        y = None
        python.append(spent(rollout))
    more, ratio = min(python_step) - min(c_step), min(python) / min(c)
    same = int(np.sum(y.view(np.uint64))) == int(out[2])
    print(f"a step of the four-bar: {1e6 * min(c_step):.3f} us in C, {1e6 * min(python_step):.3f} us from Python: {1e6 * more:.3f} us more")
    print(f"{copies} rollouts of {STEPS} steps with all outputs: {min(c):.3f} s in C, {min(python):.3f} s in one call from Python: "
          f"ratio {ratio:.3f}, {'the same' if same else 'OTHER'} bits")
    return [what for what, wrong in (("step", more > 1e-6), ("rollouts", ratio > 1.25), ("bits", not same)) if wrong]


def table(rows: int) -> list[str]:
    """Prints the time to read a log. Returns what exceeds its limit."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log.csv")
        np.savetxt(path, np.column_stack([np.arange(rows) * 1e-3, np.zeros(rows)]), "%.4g", ",", header="t [s],p [bar]", comments="")
        size = os.path.getsize(path)
        log: od.Table = od.Log.read(path)
        again = spent(lambda: od.Log.read(path))
        view = spent(lambda: log["p"])
        shares = bool(np.shares_memory(log["p"], log.values)) and log.values.base is not None and not log.values.flags.owndata
        frame = spent(log.to_pandas) if "pandas" in sys.modules or _has_pandas() else float("nan")
        print(f"{log.rows} rows, {size / 1e6:.0f} MB: read in {again:.2f} s; a column in {1e6 * view:.0f} us, "
              f"{'a view of the memory of the library' if shares else 'COPIED'}; to_pandas() in {1e3 * frame:.1f} ms")
        return [] if shares else ["table"]


def _has_pandas() -> bool:
    try:
        import pandas  # noqa: F401
    except ImportError:
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(os.environ.get("OLEODYN_BUILD", root / "build")))
    parser.add_argument("--copies", type=int, default=20000)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore", od.OleodynWarning)
    with tempfile.TemporaryDirectory() as folder:
        wrong = steps_and_rollouts(compiled(given.build.resolve(), folder), given.copies)
    wrong += table(given.rows)
    if wrong and given.check:
        print("beyond the limit:", ", ".join(wrong), file=sys.stderr)
    return bool(wrong and given.check)


if __name__ == "__main__":
    sys.exit(main())
