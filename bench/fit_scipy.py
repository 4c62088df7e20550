#!/usr/bin/python3
"""The fit of the fin servo: oleodyn's search and SciPy's least_squares(method="trf") over the same C functions.

Both have the same residuals, exact derivatives, start, bounds and tolerances, on one core, in one run. Times are
processor times, so other work on the computer has little effect. Without SciPy the table has only oleodyn's rows.
Environment variables select the measurements as in measure.h.

usage: fit_scipy.py LIBRARY FIT.yaml
"""
import ctypes
import os
import sys
import time

# Before NumPy is loaded: one core for all libraries.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

scipy = None
if os.environ.get("OD_BENCH_OWN") != "yes":
    try:
        import numpy
        import scipy
        import scipy.optimize
    except ImportError:
        pass

# Number of shortest times that must agree, the allowed spread, and the number of rounds.
KEPT, SPREAD, ROUNDS = 5, 0.01, range(10, 60)


class Search(ctypes.Structure):
    _fields_ = [("cost", ctypes.c_double), ("residuals", ctypes.c_long), ("jacobians", ctypes.c_long),
                ("iterations", ctypes.c_long)]


def open_fit(library, path):
    lib = ctypes.CDLL(library)
    lib.bench_fit_open.restype = ctypes.c_void_p
    fit = lib.bench_fit_open(path.encode())
    if not fit:
        sys.exit(1)
    return lib, ctypes.c_void_p(fit)


def own(function, *arguments):
    """A row of oleodyn's: seconds, cost, residuals, jacobians, iterations."""
    s = Search()
    begin = time.process_time()
    if function(*arguments, ctypes.byref(s)):
        sys.exit("oleodyn's search failed")
    return time.process_time() - begin, s.cost, s.residuals, s.jacobians, s.iterations


def scipys(lib, fit, differences):
    m, n = ctypes.c_int(), ctypes.c_int()
    lib.bench_fit_size(fit, ctypes.byref(m), ctypes.byref(n))
    m, n = m.value, n.value
    start, low, high = (numpy.zeros(n) for _ in range(3))
    at = lambda a: a.ctypes.data_as(ctypes.c_void_p)
    lib.bench_fit_box(fit, at(start), at(low), at(high))
    count = [0, 0]

    def residuals(x):
        r = numpy.empty(m)
        count[0] += 1
        if lib.bench_fit_residuals(fit, at(numpy.ascontiguousarray(x)), at(r)):
            r[:] = 1e6  # a motion that diverges; SciPy has no other way to report a failure
        return r

    def jacobian(x):
        J = numpy.empty((m, n))
        count[1] += 1
        lib.bench_fit_jacobian(fit, at(numpy.ascontiguousarray(x)), at(J))
        return J

    begin = time.process_time()
    r = scipy.optimize.least_squares(residuals, start, jac="2-point" if differences else jacobian, bounds=(low, high),
                                     method="trf", x_scale="jac", ftol=1e-12, xtol=1e-9, gtol=1e-15, max_nfev=500)
    return time.process_time() - begin, r.cost, count[0], r.njev if differences else count[1], r.njev - 1


def main():
    if os.environ.get("OD_BENCH_TIMES") == "no":
        return
    lib, fit = open_fit(sys.argv[1], sys.argv[2])
    searches = {"oleodyn, exact derivatives": lambda: own(lib.bench_fit_search, fit, 0),
                "oleodyn, forward differences": lambda: own(lib.bench_fit_search, fit, 1),
                "all of oleodyn fit": lambda: own(lib.bench_fit_whole, fit)}
    if scipy:
        name = "SciPy %s trf" % scipy.__version__
        searches[name + ", exact derivatives"] = lambda: scipys(lib, fit, False)
        searches[name + ", 2-point"] = lambda: scipys(lib, fit, True)
    # In turns, so that variations of the computer's speed affect all searches alike; the fastest run of each counts.
    results = {search: [] for search in searches}
    spread = lambda rows: sorted(row[0] for row in rows)[KEPT - 1] / min(row[0] for row in rows) - 1
    for turn in range(ROUNDS.stop):
        waiting = [s for s in searches if turn < ROUNDS.start or spread(results[s]) > SPREAD]
        for search in waiting:
            results[search].append(searches[search]())
    best = {search: min(rows, key=lambda row: row[0]) for search, rows in results.items()}
    first = best["oleodyn, exact derivatives"][0]
    print("Fit of eight numbers of a servo to 31125 samples, from the same start by the same predictions\n")
    print("%-36s %9s %8s %9s %14s %10s %10s %6s" % ("search", "time ms", "spread", "times", "cost", "residuals",
                                                   "Jacobians", "steps"))
    for search, (seconds, cost, residuals, jacobians, steps) in best.items():
        print("%-36s %9.1f %6.1f %% %9.2f %14.6f %10d %10d %6d" % (search, 1e3 * seconds, 100 * spread(results[search]),
                                                                seconds / first, cost, residuals, jacobians, steps))
    for search, rows in results.items():
        if spread(rows) > SPREAD:
            print("NOT SETTLED: %s, spread %.1f %% after %d runs (wanted: %.0f %%)" % (search, 100 * spread(rows),
                                                                                    len(rows), 100 * SPREAD))
    if os.environ.get("OD_BENCH_FIGURES"):
        with open(os.environ["OD_BENCH_FIGURES"], "a") as figures:
            for search in ("oleodyn, exact derivatives", "oleodyn, forward differences", "all of oleodyn fit"):
                figures.write("fit: %s\ttime\t%.9g\t%.3g\n" % (search, best[search][0], spread(results[search])))
    if not scipy and os.environ.get("OD_BENCH_OWN") != "yes":
        print("SciPy was not found; python3-scipy has it")
    lib.bench_fit_close(fit)


main()
