"""Mistakes of a user that mypy --strict finds, one in each marked line (tests/checks/python)."""
import oleodyn as od

machine = od.Machine("machine.yaml")
machine.rollout(steps="100", step=1e-3)  # error
machine.simulation(outputs=5)  # error
machine.simulation().step("1 ms")  # error
machine.simulate().verdict.sound  # error
