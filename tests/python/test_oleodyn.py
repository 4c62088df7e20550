"""Tests of the Python module. Oracles: the program (the same bits), closed forms, a Kalman filter in NumPy, and differences.

Usage: python3 -m unittest test_oleodyn, with OLEODYN_PROGRAM, OLEODYN_CASES and the package in PYTHONPATH.
"""
import contextlib
import csv
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import numpy as np

import oleodyn as od

program = os.environ["OLEODYN_PROGRAM"]
cases = pathlib.Path(os.environ["OLEODYN_CASES"])
fourbar = cases / "fourbar-valve/machine.yaml"

OSCILLATOR = """
machine: Mass and spring
bodies:
  block: {mass: 2 kg, inertia: 1 kg m^2, points: {pin: [0, 0]}}
ground: {points: {wall: [-1 m, 0]}}
joints:
  slide: {type: prismatic, between: [ground, block], axis: [1, 0]}
springs:
  spring: {between: [ground.wall, block.pin], stiffness: 50 N/m, damping: 3 N s/m, length: 1 m}
initial: {slide.position: 0.1 m}
run: {time: 1 s, step: 1 ms, outputs: [slide.position]}
"""


def written(text: str, name: str = "machine.yaml") -> str:
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, name)
    pathlib.Path(path).write_text(text)
    return path


class Quiet(unittest.TestCase):
    def setUp(self):
        catch = warnings.catch_warnings()
        catch.__enter__()
        self.addCleanup(catch.__exit__, None, None, None)
        warnings.simplefilter("ignore", od.OleodynWarning)


class Jobs(Quiet):
    def test_rows_have_the_bits_of_the_program(self):
        run = od.Machine(fourbar).simulate(time="0.2 s", output=["*.pressure", "energy.balance"])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.csv")
            subprocess.run([program, "simulate", fourbar, "--time", "0.2 s", "--output", "*.pressure,energy.balance", "--csv", path],
                           check=True, capture_output=True)
            with open(path, newline="") as file:
                rows = list(csv.reader(file))
        header = [cell.split(" [")[0].split(" (")[0] for cell in rows[0]]
        self.assertEqual(header, list(run.table.names))
        np.testing.assert_array_equal(np.array(rows[1:], float), run.table.values)
        self.assertEqual(run.table.units["energy.balance"], "J")

    def test_data_are_those_of_the_program(self):
        path = cases / "fourbar-valve/points-6.experiment.yaml"
        result = od.Experiment(path, {"time": "0.3 s"}).run()
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out.json")
            subprocess.run([program, "observe", path, "--set", "time=0.3 s", "--json", out, "--quiet"], capture_output=True)
            expected = json.loads(pathlib.Path(out).read_text())
        for key in ("verdict", "parameters", "sensors"):
            self.assertEqual(result.data.get(key), expected.get(key), key)
        self.assertIn(result.verdict.trust, ("sound", "doubtful", "unsound"))

    def test_errors_have_places_and_suggestions(self):
        path = written(OSCILLATOR.replace("stiffness: 50 N/m", "stifness: 50 N/m").replace("mass: 2 kg", "mass: -2 kg"))
        with self.assertRaises(od.InputError) as caught:
            od.Machine(path)
        errors = [m for m in caught.exception.messages if not m.is_warning]
        self.assertEqual({m.line for m in errors}, {4, 9})
        self.assertIn("did you mean 'stiffness'?", str(caught.exception))
        with self.assertRaisesRegex(od.InputError, "did you mean"):
            od.Machine(fourbar).simulation(["B.presure"])
        with self.assertRaises(od.InputError):
            od.Machine(fourbar).simulate(tme="1 s")
        with self.assertRaises(ValueError):
            od.run("simulat", fourbar)
        with self.assertRaises(od.InputError):
            od.Machine(fourbar).simulate(time="1 kg")
        with self.assertRaises(OSError):
            od.Log.read("/nonexistent/file.csv")

    def test_options_and_numbers_of_the_call_join_those_of_the_machine(self):
        m = od.Machine(written(OSCILLATOR), {"spring.stiffness": 80})
        with self.assertRaisesRegex(od.InputError, "no number 'nothing'"):
            m.simulate(set={"nothing": 1})
        run = m.simulate(set={"block.mass": np.float64(3)}, output=np.array(["slide.position"]), time=np.float32(0.5))
        alone = od.Machine(written(OSCILLATOR), {"spring.stiffness": 80, "block.mass": 3}).simulate(time=0.5)
        np.testing.assert_array_equal(run["slide.position"], alone["slide.position"])

    def test_numbers_and_variants(self):
        path = written(OSCILLATOR)
        m = od.Machine(path, {"spring.stiffness": "80 N/m"}, **{"block.mass": 3.0})
        self.assertEqual(m.numbers["spring.stiffness"].value, 80)
        self.assertEqual(m.numbers["block.mass"].value, 3)
        self.assertEqual(m.numbers["spring.damping"].unit, "N s/m")
        final = m.simulate()["slide.position"][-1]
        w, z = np.sqrt(80 / 3), 3 / 2 / 3  # x'' + 2 z x' + w^2 x = 0
        d = np.sqrt(w * w - z * z)
        self.assertAlmostEqual(final, 0.1 * np.exp(-z) * (np.cos(d) + z / d * np.sin(d)), delta=1e-6)

    def test_a_verdict_is_an_object_and_a_warning(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run = od.Machine(fourbar).simulate(time="1 s", step="100 ms", integrator="trapezoid")
        self.assertFalse(run.verdict.is_sound)
        self.assertEqual({w.filename for w in caught}, {__file__})  # the place of the call
        self.assertTrue(any(issubclass(w.category, od.VerdictWarning) for w in caught))
        self.assertTrue(all(r.code for r in run.verdict.remarks))

    def test_the_demo_has_the_bits_of_the_program(self):
        path = cases / "fourbar-valve/points-6.experiment.yaml"
        result = od.Experiment(path).run()
        with tempfile.TemporaryDirectory() as folder:
            out, table = os.path.join(folder, "out.json"), os.path.join(folder, "out.csv")
            subprocess.run([program, "observe", path, "--json", out, "--csv", table, "--quiet"], capture_output=True, check=True)
            expected = json.loads(pathlib.Path(out).read_text())
            with open(table, newline="") as file:
                rows = list(csv.reader(file))
        spent = "us_per_step"
        self.assertEqual({**result.data, spent: 0}, {**expected, spent: 0})
        self.assertGreater(len(result.data["curves"]), 0)
        values = np.array([[float(cell or "nan") for cell in row] for row in rows[1:]])
        np.testing.assert_array_equal(values, result.table.values)

    def test_the_figures_of_the_first_machine(self):
        readme = (cases.parent / "README.md").read_text()
        path = written(re.search(r"```yaml\n(machine: Pendulum.*?)```", readme, re.S).group(1))
        run = od.Machine(path).simulate()
        shown = [line.strip() for line in readme[readme.index("oleodyn simulate pendulum.yaml --plot"):].splitlines() if line.startswith("    ")]
        wanted = [line for line in shown[1:] if not re.search("faster than|wrote", line)]
        wanted = wanted[:wanted.index("verdict: sound") + 1]
        self.assertGreater(len(wanted), 6)
        found = [line.strip() for line in run.text.splitlines()]
        for line in wanted:
            self.assertIn(line, found)

    def test_ctrl_c_ends_everything_within_a_second(self):
        m = od.Machine(fourbar)
        s = m.simulation()
        for name, work in {
                "simulate": lambda: m.simulate(time="1000 s"),
                "fit": lambda: od.Fit(cases / "fin-servo/fit.yaml", {"fit.starts": 100000}).run(),
                "study": lambda: od.Study(cases / "fourbar-valve/study.yaml").run(),
                "rollout": lambda: m.rollout(count=2, steps=2_000_000, step=1e-4),
                "step": lambda: s.step(1e-4, 10**9),
                "advance": lambda: s.advance(1e6)}.items():
            sent = []

            def interrupt():
                sent.append(time.monotonic())
                os.kill(os.getpid(), signal.SIGINT)

            timer = threading.Timer(0.5, interrupt)
            timer.start()
            with self.subTest(name), self.assertRaises(KeyboardInterrupt):
                work()
            self.assertLess(time.monotonic() - sent[0], 1.0, name)
            timer.join()
        t = s.time  # both interruptions left the simulation at the end of a step
        s.advance(t + 0.01)
        self.assertAlmostEqual(s.time, t + 0.01, delta=1e-9)

    def test_progress_can_stop_a_job(self):
        seen = []

        def progress(done):
            seen.append(done)
            return len(seen) < 3

        with self.assertRaises(KeyboardInterrupt):
            od.Machine(fourbar).simulate(time="1000 s", progress=progress)
        self.assertEqual(len(seen), 3)

        def broken(done):
            raise RuntimeError("mine")

        with self.assertRaisesRegex(RuntimeError, "mine"):
            od.Machine(fourbar).simulate(time="1000 s", progress=broken)

    def test_pages(self):
        page = od.Machine(written(OSCILLATOR)).show(time="0.1 s")
        self.assertTrue(page.html.lstrip().lower().startswith("<!doctype html"))
        self.assertIn("srcdoc", page._repr_html_())

    def test_linear_model(self):
        model = od.Machine(written(OSCILLATOR)).linearize(output="slide.position")
        eigenvalues = np.linalg.eigvals(model.A)
        np.testing.assert_allclose(sorted(eigenvalues.imag), [-np.sqrt(25 - 0.5625), np.sqrt(25 - 0.5625)], rtol=1e-9)
        self.assertEqual(model.C.shape, (1, 2))

    def test_help_lists_every_option(self):
        kinds = [line.split()[0] for line in od.help_text().splitlines()]
        self.assertIn("simulate", kinds)
        for kind in kinds:
            self.assertIn("\n", od.help_text(kind))


class Tables(unittest.TestCase):
    def test_columns_are_views(self):
        path = written("t [s],p [bar]\n0,1.5\n1,\n2,0x\n".replace(",0x", ",3"), "log.csv")
        log = od.Log.read(path)
        self.assertEqual(log.names, ("t", "p"))
        self.assertTrue(np.shares_memory(log["p"], log.values))
        np.testing.assert_array_equal(log["p"], [1.5, np.nan, 3])
        self.assertFalse(log.values.flags.writeable)
        column = log["p"]
        del log
        np.testing.assert_array_equal(column, [1.5, np.nan, 3])  # the column keeps the table alive
        with self.assertRaisesRegex(KeyError, "did you mean"):
            od.Log.read(path)["pp"]


class Steps(Quiet):
    def test_steps_are_those_of_the_program(self):
        m = od.Machine(fourbar)
        names = ["B.pressure", "crank.angle"] if "crank.angle" in m.outputs else list(m.outputs)[:3]
        run = m.simulate(time="0.05 s", step="1 ms", integrator="trapezoid", output=names)
        s = m.simulation(names)
        rows = [s.outputs().copy()]
        for k in range(1, 51):
            s.file_inputs(k * 1e-3)
            s.step(1e-3)
            rows.append(s.outputs().copy())
        np.testing.assert_allclose(rows, np.column_stack([run[n] for n in names]), rtol=1e-9)

    def test_state_and_saved_states(self):
        path = written(OSCILLATOR)
        m = od.Machine(path)
        s = m.simulation()
        for _ in range(100):
            s.step(1e-3)
        saved, y = s.save(), s.outputs().copy()
        for _ in range(100):
            s.step(1e-3)
        later = s.outputs().copy()
        code = ("import sys, oleodyn as od; s = od.Machine(sys.argv[1]).simulation(); s.restore(sys.stdin.buffer.read());"
                "[s.step(1e-3) for _ in range(100)]; print(float(s.outputs()[0]).hex())")
        out = subprocess.run([sys.executable, "-c", code, path], input=saved, capture_output=True, check=True).stdout.decode()
        self.assertEqual(float.fromhex(out.strip()), later[0])
        s.restore(saved)
        np.testing.assert_array_equal(s.outputs(), y)
        with self.assertRaises(od.InputError):
            s.restore(saved[:-8] + b"12345678")
        s.set(state=[0.2, 0.0])
        self.assertAlmostEqual(s.outputs()[0], 0.2, delta=1e-15)
        with self.assertRaisesRegex(ValueError, "state has 1 values; expected 2"):
            s.set(state=[0.2])
        self.assertFalse(s.state.flags.writeable)

    def test_wrong_arguments_of_steps(self):
        s = od.Machine(written(OSCILLATOR)).simulation(parameters=["block.mass"])
        for h in (0.0, -1e-3, float("nan"), float("inf")):
            with self.assertRaisesRegex(ValueError, "expected a positive number"):
                s.step(h)
        with self.assertRaisesRegex(od.InputError, "block.mass is -1 kg, which is impossible; possible: "):
            s.set(parameters=[-1.0])
        with self.assertRaisesRegex(ValueError, "u has 2 values; expected 0"):
            s.u = [1.0, 2.0]
        with self.assertRaisesRegex(ValueError, "trapezoid has no error estimate"):
            od.Machine(written(OSCILLATOR)).simulation(integrator="trapezoid").advance(1.0)

    def test_a_simulation_belongs_to_one_thread(self):
        s = od.Machine(fourbar).simulation()
        thread = threading.Thread(target=lambda: s.step(1e-4, 200_000))
        thread.start()
        time.sleep(0.02)
        for work in (s.outputs, s.save, s.derivatives, lambda: s.step(1e-4), lambda: s.advance(100.0), s.start):
            if thread.is_alive():
                with self.assertRaisesRegex(RuntimeError, "another thread"):
                    work()
        thread.join()
        self.assertAlmostEqual(s.time, 20.0, delta=1e-6)

    def test_advance_controls_the_error(self):
        s = od.Machine(written(OSCILLATOR)).simulation(tolerance=1e-8)
        s.step(1e-3)
        s.advance(1.0)
        w, z = 5.0, 0.75
        d = np.sqrt(w * w - z * z)
        self.assertAlmostEqual(s.outputs()[0], 0.1 * np.exp(-z) * (np.cos(d) + z / d * np.sin(d)), delta=1e-6)

    def test_derivatives_of_a_step(self):
        s = od.Machine(written(OSCILLATOR)).simulation(parameters=["spring.stiffness"])
        h, A = 1e-2, np.array([[0, 1], [-25, -1.5]])
        left, right = np.eye(2) - h / 2 * A, np.eye(2) + h / 2 * A
        F, Gu0, Gu1, Gp = s.step_with_derivatives(h)
        np.testing.assert_allclose(F, np.linalg.solve(left, right), rtol=1e-12)  # the trapezoidal rule by hand
        self.assertEqual((Gu0.shape, Gp.shape), ((2, 0), (2, 1)))
        x0 = np.array([0.1, 0])
        x1 = np.linalg.solve(left, right @ x0)
        by_k = np.linalg.solve(left, np.array([0, -h / 2 * (x0[0] + x1[0]) / 2]))
        np.testing.assert_allclose(Gp[:, 0], by_k, rtol=1e-10)

    def test_sensitivities_over_time(self):
        path = written(OSCILLATOR)
        s = od.Machine(path).sensitivities(["spring.stiffness", "block.mass"], time=0.5)
        for k, (name, value) in enumerate({"spring.stiffness": 50.0, "block.mass": 2.0}.items()):
            e = 1e-4 * value
            runs = [od.Machine(path, {name: v}).simulate(time="0.5 s", step="1 ms", integrator="trapezoid")["slide.position"]
                    for v in (value - e, value + e)]
            np.testing.assert_allclose(s.dy[:, 0, k], (runs[1] - runs[0]) / (2 * e), atol=2e-8)

        pushed = written(OSCILLATOR + "inputs: {push: {unit: N, steps: {at: [[0.2 s, 5 N]]}}}\n"
                         "forces: {load: {at: block.pin, value: push, direction: [1, 0]}}\n")
        with self.assertRaisesRegex(od.InputError, "'push' jumps at 0.2 s"):
            od.Machine(pushed).sensitivities(["block.mass"], time=0.5)
        self.assertEqual(od.Machine(pushed).sensitivities(["block.mass"], time=0.1).dy.shape, (101, 1, 1))

    def test_two_threads_of_python(self):
        results = {}

        def work(name, stiffness):
            s = od.Machine(written(OSCILLATOR), {"spring.stiffness": stiffness}).simulation()
            for _ in range(2000):
                s.step(1e-3)
            results[name] = s.outputs()[0]

        threads = [threading.Thread(target=work, args=(i, 40.0 + i)) for i in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        parallel = dict(results)
        for i in range(4):
            work(i, 40.0 + i)
        self.assertEqual(parallel, results)


    def test_commands_in_threads_of_python(self):
        def work(stiffness):
            return od.Machine(path, {"spring.stiffness": stiffness}).simulate(step="1 ms")["slide.position"].tobytes()

        path, results = written(OSCILLATOR), {}
        threads = [threading.Thread(target=lambda k=k: results.__setitem__(k, work(k))) for k in (40.0, 50.0, 60.0, 70.0)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        self.assertEqual(results, {k: work(k) for k in results})
        self.assertEqual(len(set(results.values())), 4)


class Rollouts(Quiet):
    def test_bits_do_not_depend_on_threads(self):
        m = od.Machine(fourbar)
        speeds = np.linspace(0.8, 1.2, 24)
        kp = m.numbers["oil.kp"].value if "oil.kp" in m.numbers else None
        name = "oil.kp" if kp is not None else next(iter(m.numbers))
        values = m.numbers[name].value * speeds
        one = m.rollout(numbers={name: values}, steps=40, step=1e-3, threads=1)
        many = m.rollout(numbers={name: values}, steps=40, step=1e-3, threads=4)
        self.assertEqual(one.shape[:2], (24, 41))
        self.assertEqual(one.tobytes(), many.tobytes())
        alone = m.rollout(numbers={name: values[7]}, steps=40, step=1e-3)
        self.assertEqual(one[7].tobytes(), alone[0].tobytes())
        run = od.Machine(fourbar, {name: values[7]}).simulate(time="0.04 s", step="1 ms", integrator="trapezoid")
        np.testing.assert_array_equal(one[7], np.column_stack([run[n] for n in run.table.names if n not in ("t", "time")]))

    def test_wrong_arguments(self):
        m = od.Machine(written(OSCILLATOR))
        for wrong in ({"step": 0.0}, {"step": float("nan")}, {"steps": -1}, {"count": -1}, {"threads": -1}):
            with self.subTest(wrong), self.assertRaises(ValueError):
                m.rollout(**{"steps": 3, "step": 1e-3, **wrong})
        for value in (-1.0, float("nan")):
            with self.assertRaisesRegex(od.InputError, "block.mass is .* in copy 1, which is impossible; possible: "):
                m.rollout(numbers={"block.mass": [1.0, value]}, steps=3, step=1e-3)
        with self.assertRaisesRegex(od.InputError, "did you mean 'block.mass'"):
            m.rollout(numbers={"block.mas": [1.0]}, steps=3, step=1e-3)
        self.assertEqual(m.rollout(count=0, steps=3, step=1e-3).shape, (0, 4, 1))
        np.testing.assert_array_equal(m.rollout(numbers={"spring.stiffness": ["0.08 kN/m", "50 N/m"]}, steps=50, step=1e-3),
                                      m.rollout(numbers={"spring.stiffness": [80, 50]}, steps=50, step=1e-3))

    def test_states_and_inputs(self):
        m = od.Machine(written(OSCILLATOR))
        x = np.array([[0.1, 0.0], [0.0, 1.0], [-0.1, 0.5]])
        y = m.rollout(state=x, steps=500, step=1e-3)
        self.assertEqual(y.shape, (3, 501, 1))
        h, A = 1e-3, np.array([[0, 1], [-25, -1.5]])
        F = np.linalg.solve(np.eye(2) - h / 2 * A, np.eye(2) + h / 2 * A)
        np.testing.assert_allclose(y[:, -1, 0], (np.linalg.matrix_power(F, 500) @ x.T)[0], rtol=1e-9)
        with self.assertRaisesRegex(ValueError, "different numbers of copies"):
            m.rollout(state=x, numbers={"block.mass": [1.0, 2.0]}, steps=5, step=1e-3)
        with self.assertRaisesRegex(ValueError, "state must have the shape"):
            m.rollout(state=np.zeros((3, 5)), steps=5, step=1e-3)


class Laws(Quiet):
    """Laws in Python. Oracle: the same equation as a formula or as a block of the library, with exact derivatives."""

    MACHINE = OSCILLATOR.replace("damping: 3 N s/m, ", "") + """
inputs: {push: {unit: N, sine: {amplitude: 5 N, frequency: 2 Hz}}}
blocks:
  law: {%s}
forces: {load: {at: block.pin, value: law, direction: [1, 0]}}
"""

    def machine(self, block: str) -> od.Machine:
        return od.Machine(written((self.MACHINE % block).replace("outputs: [slide.position]", "outputs: [slide.position, load.force]")))

    def compare(self, law: str, block: str, names=("slide.position", "load.force"), tolerance=1e-9) -> None:
        ours, theirs = self.machine(law), self.machine(block)
        a, b = ours.simulate(), theirs.simulate()
        self.assertEqual((a.verdict.trust, b.verdict.trust), ("sound", "sound"))
        for name in names:
            np.testing.assert_allclose(a[name], b[name], atol=tolerance * np.abs(b[name]).max())
        np.testing.assert_allclose(ours.linearize().A, theirs.linearize().A, rtol=1e-8, atol=1e-8)

    def test_a_formula_replaces_a_law(self):
        @od.law
        def seal(v, *, Fc, vs):
            return -Fc * math.tanh(v / vs)

        rest = "unit: N, inputs: {v: slide.rate}, parameters: {vs: 50 mm/s, Fc: 2 N}"  # in another order than the function
        self.compare("type: foreign, law: seal, " + rest, "type: formula, formula: '-Fc * tanh(v / vs)', " + rest)
        ours, theirs = (self.machine(kind + rest) for kind in ("type: foreign, law: seal, ", "type: formula, formula: '-Fc * tanh(v / vs)', "))
        self.assertEqual(ours.numbers["law.parameters.vs"].value, 0.05)
        name = "law.parameters.Fc"
        np.testing.assert_allclose(ours.sensitivities([name], time=0.5).dy, theirs.sensitivities([name], time=0.5).dy, atol=1e-7)
        self.assertEqual(ours._usual_threads(), 1)
        self.assertEqual(theirs._usual_threads(), os.cpu_count())
        values = np.linspace(1, 3, 16)
        one, many = (ours.rollout(numbers={name: values}, steps=100, step=1e-3, threads=n) for n in (1, 4))
        self.assertEqual(one.tobytes(), many.tobytes())
        np.testing.assert_allclose(one, theirs.rollout(numbers={name: values}, steps=100, step=1e-3), atol=1e-9)

    def test_states_and_time(self):
        @od.law(states={"x": 0.0})
        def lag(u, x, *, T):
            return x, (u - x) / T

        @od.law(name="sine of time")
        def any_name(t, *, a):
            return a * math.sin(4 * math.pi * t)

        self.compare("type: foreign, law: lag, unit: N, inputs: {u: push}, parameters: {T: 0.2 s}",
                     "type: first-order, input: push, time_constant: 0.2 s", tolerance=1e-8)
        m = self.machine("type: foreign, law: lag, unit: N, inputs: {u: push}, parameters: {T: 0.2 s}")
        self.assertEqual(list(m.states), ["slide.position", "slide.rate", "load.force"])  # the force is equal to the state
        run = self.machine("type: foreign, law: sine of time, unit: N, parameters: {a: 5 N}").simulate()
        np.testing.assert_allclose(run["load.force"], 5 * np.sin(4 * np.pi * run["time"]), atol=1e-9)

    def test_a_sampled_controller(self):
        @od.law(states={"sum": 0.0}, sampled=True)
        def controller(x, sum, *, kp, ki):
            return -kp * x - ki * sum, sum + x

        run = self.machine("type: foreign, law: controller, sample: 10 ms, unit: N, inputs: {x: slide.position}, "
                           "parameters: {kp: 20 N/m, ki: 2 N/m}").simulate()
        x, force, total, held = run["slide.position"], run["load.force"], 0.0, []
        for k in range(0, len(x), 10):  # by hand: the output is held for ten rows
            held.append(-20 * x[k] - 2 * total)
            total += x[k]
        np.testing.assert_allclose(force[5::10], held[:len(force[5::10])], atol=1e-9)
        self.assertEqual(run.verdict.trust, "sound")

    def test_warnings_errors_and_interruptions(self):
        @od.law
        def fragile(v):
            if v < -0.2:
                raise ValueError("too fast")
            return -v

        rest = "unit: N, inputs: {v: slide.rate}"
        with self.assertWarnsRegex(od.OleodynWarning, "machine.yaml:.*'fragile' in Python, which is slow"):
            m = self.machine("type: foreign, law: fragile, " + rest)
        for work, error in ((m.simulate, od.JobError), (lambda: m.simulation().step(1e-3, 1000), od.SimulationError),
                            (lambda: m.simulation().advance(1.0), od.SimulationError)):
            with self.assertRaises(error) as caught:
                work()
            self.assertEqual((type(caught.exception.__cause__), str(caught.exception.__cause__)), (ValueError, "too fast"))
        self.assertIn("the block 'law' failed: ValueError: too fast", str(caught.exception) + str(self.failure(m)))
        y = m.rollout(steps=1000, step=1e-3)
        self.assertTrue(np.isnan(y[0, -1, 0]) and m.rollout_status[0] != 0)
        for wrong, message in (("law: fragil, " + rest, "no law 'fragil'.*did you mean 'fragile'"), (rest, "needs 'law'"),
                               ("law: fragile, sample: 1 ms, " + rest, "'fragile' is continuous"),
                               ("law: fragile, unit: N, inputs: {w: slide.rate}", "needs 'v'"),
                               ("law: fragile, parameters: {k: 1}, " + rest, "unknown key 'k'")):
            with self.subTest(wrong), self.assertRaisesRegex(od.InputError, message):
                self.machine("type: foreign, " + wrong)
        out = subprocess.run([program, "check", m.path], capture_output=True, text=True)
        self.assertEqual(out.returncode, 2)
        self.assertIn("law 'fragile' of another program", out.stderr + out.stdout)
        with self.assertRaisesRegex(od.InputError, "law of the block 'law' is a function of the program"):
            m.run("compile", output="law.image")
        with self.assertRaisesRegex(od.InputError, "the block 'law' has a law .* which an export cannot contain"):
            m.run("export", c=os.path.join(tempfile.mkdtemp(), "code"), step="1 ms")
        names: dict = {}
        exec(f"def many({', '.join(f'a{i}' for i in range(40))}): return 0.0", names)
        with self.assertRaisesRegex(ValueError, "32 inputs"):
            od.law(names["many"])
        with self.assertRaisesRegex(TypeError, "without names"):
            od.law(lambda *v: 0.0)
        with self.assertRaisesRegex(TypeError, "not a positional argument"):
            od.law(states={"x": 0.0})(fragile)

        @od.law
        def interrupted(v):
            if v < -0.2:
                raise KeyboardInterrupt
            return -v

        m = self.machine("type: foreign, law: interrupted, " + rest)
        for work in (m.simulate, lambda: m.simulation().step(1e-3, 1000), lambda: m.rollout(steps=1000, step=1e-3)):
            with self.assertRaises(KeyboardInterrupt):
                work()

    def failure(self, m: od.Machine) -> str:
        try:
            m.simulate()
        except od.JobError as error:
            return str(error)
        return ""


class Observers(Quiet):
    def test_initial_errors_of_outputs(self):
        m = od.Machine(fourbar)
        self.assertEqual(list(m.states), m.linearize().states)
        sigma = {"cylinder.length": 2e-3, "cylinder.rate": 0.02, "P.pressure": 1e5, "A.pressure": 2e5, "B.pressure": 3e5, "valve.spool": 0.01}
        o = m.observer({"B.pressure": 1e5}, {"oil.kp": 1e8}, outputs=sigma)
        o.start(errors=sigma)
        estimate, found = o.outputs()
        self.assertEqual(o.output_names[0], "B.pressure")
        np.testing.assert_allclose(found, [sigma[name] for name in o.output_names], rtol=2e-2)  # outputs() adds the curvature
        self.assertEqual(o.parameter_sigma[0], 1e8)
        hx = m.simulation(sigma).output_derivatives()[0]
        back = hx @ o.covariance[:6, :6] @ hx.T  # the covariance of these outputs
        np.testing.assert_allclose(back, np.diag([s**2 for s in sigma.values()]), rtol=1e-8, atol=1e-6 * 1e-2)
        del sigma["cylinder.rate"]
        with self.assertRaisesRegex(od.InputError, "do not determine the state 'elbow.rate'"):
            o.start(errors=sigma)
        noise = o.noise({"B.pressure": 10.0, "oil.kp": 2.0})
        self.assertEqual(noise.tolist(), [0, 0, 0, 0, 100, 0, 4])
        with self.assertRaisesRegex(od.InputError, "no state or estimated number 'crank'"):
            o.noise({"crank": 1.0})

    def test_patterns_and_wrong_arguments(self):
        m = od.Machine(fourbar)
        o = m.observer({"*.pressure": 1e5, "cylinder.length": 1e-3})
        self.assertEqual((o.sensors, len(o.y)), (["P.pressure", "A.pressure", "B.pressure", "T.pressure", "cylinder.length"], 5))
        with self.assertRaisesRegex(ValueError, "not started"):
            o.correct()
        with self.assertRaisesRegex(ValueError, "negative eigenvalues"):
            o.start(-np.eye(6))
        with self.assertRaisesRegex(ValueError, "must be positive"):
            m.observer({"B.pressure": -1.0})
        with self.assertRaisesRegex(ValueError, "the filters are .*ekf"):
            m.observer({"B.pressure": 1.0}, filter="kalman")

    def test_a_kalman_filter_in_numpy_agrees(self):
        m = od.Machine(written(OSCILLATOR))
        h, sigma = 1e-2, 1e-3
        A = np.array([[0, 1], [-25, -1.5]])
        F = np.linalg.solve(np.eye(2) - h / 2 * A, np.eye(2) + h / 2 * A)
        Q, P, x = np.diag([0, 1e-4]), np.diag([1e-4, 1e-2]), np.array([0.1, 0.0])
        o = m.observer({"slide.position": sigma}, filter="ekf")
        o.start(P)
        random = np.random.default_rng(1)
        for k in range(201):
            o.predict(h, np.diag(Q).copy())
            x, P = F @ x, F @ P @ F.T + Q
            y = np.nan if k % 7 == 3 else 0.1 * np.cos(5 * h * (k + 1)) + sigma * random.standard_normal()
            o.y[0] = y
            o.correct()
            if np.isfinite(y):
                K = P[:, 0] / (P[0, 0] + sigma**2)
                x = x + K * (y - x[0])
                P = P - np.outer(K, P[0])
        np.testing.assert_allclose(o.state, x, rtol=1e-8)
        np.testing.assert_allclose(o.covariance, P, rtol=1e-7)
        estimate, deviation = o.outputs()
        np.testing.assert_allclose(deviation, np.sqrt(P[0, 0]), rtol=1e-7)
        self.assertEqual(o.innovations[0][2], "used")
        with self.assertRaisesRegex(ValueError, "no filter"):
            m.observer({"slide.position": sigma}, filter="none")


class Documents(Quiet):
    """The examples of docs/python.md run as they are printed. Oracle of the laws: the formula that the page gives instead."""

    def setUp(self):
        super().setUp()
        self.page = (cases.parent / "docs/python.md").read_text()
        self.old, folder = os.getcwd(), tempfile.mkdtemp()
        os.symlink(cases, os.path.join(folder, "cases"))
        os.chdir(folder)
        self.addCleanup(os.chdir, self.old)

    def blocks(self, title: str, kind: str = "python") -> list[str]:
        section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", self.page, re.S | re.M).group(1)
        return re.findall(rf"```{kind}\n(.*?)```", section, re.S)

    def names(self) -> dict:
        return {"np": np, "math": math, "od": od}

    def test_five_minutes(self):
        try:
            import matplotlib
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no package: python3-matplotlib python3-pandas")
        matplotlib.use("Agg")
        names = self.names()
        exec(self.blocks("Five minutes")[0], names)
        self.assertTrue(names["run"].verdict.is_sound)

    def test_steps_observers_and_rollouts(self):
        names = self.names()
        m = names["m"] = od.Machine(fourbar)
        run = m.simulate(time=1, rows="1 ms")
        start = run["cylinder.length"][0]
        names["wanted"] = lambda t: start + 0.01 * min(t, 0.5)
        steps, observer = self.blocks("Step by step")
        exec(steps, names)
        self.assertTrue(start + 5e-4 < names["length"] < start + 6e-3)
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no package: python3-pandas")
        rows = np.column_stack([run[name] for name in ("time", "U_ref", "cylinder.length", "A.pressure")])
        np.savetxt("log.csv", rows, "%.17g", ",", header="time [s],input.U_ref [V],measured.cylinder.length [m],measured.A.pressure [Pa]",
                   comments="")
        with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
            exec(observer, names)
        true = run["B.pressure"][-1]
        self.assertLess(abs(names["estimate"][2] - true), 4 * names["sigma"][2])
        exec(self.blocks("Rollouts")[0], names)
        self.assertEqual(names["y"].shape, (1000, 1001, 1))
        self.assertTrue(np.all(names["high"] >= names["low"]))

    def test_your_own_laws(self):
        od.run("new", "axis", template="servo-axis")
        axis = pathlib.Path("axis/machine.yaml").read_text()
        laws, formula = self.blocks("Your own laws", "yaml")
        control = re.search("  control: .*\n", axis).group(0)
        axis = re.sub("    friction: .*\n", "", axis).replace("load: {mass: 300 kg}", "load: {mass: 300 kg, points: {pin: [0, 0]}}")
        axis = axis.replace("input: control", "input: command")
        shown = laws.replace("blocks:\n", "").split("forces:\n")
        axis = axis.replace(control, shown[0]) + "forces:\n" + shown[1]
        pathlib.Path("axis.yaml").write_text(axis)
        names = self.names()
        exec(self.blocks("Your own laws")[0], names)
        line = re.search("  friction: .*\n", axis).group(0)
        pathlib.Path("formula.yaml").write_text(axis.replace(line, formula))
        a, b = (od.Machine(path).simulate() for path in ("axis.yaml", "formula.yaml"))
        self.assertEqual((a.verdict.trust, b.verdict.trust), ("sound", "sound"))
        np.testing.assert_allclose(a["guide.position"], b["guide.position"], atol=1e-6)


if __name__ == "__main__":
    unittest.main()
