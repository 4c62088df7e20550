"""oleodyn: simulates, observes and identifies hydraulically driven machines.

>>> import oleodyn
>>> run = oleodyn.Machine("crane.yaml").simulate(time="5 s")
>>> run.verdict, run["boom.angle"].max()
"""
from ._core import version as __version__
from .errors import Error, InputError, JobError, Message, OleodynWarning, SimulationError, VerdictWarning
from .files import Experiment, Fit, FrictionFit, Study
from .jobs import Page, Remark, Result, Verdict, help_text, run
from .laws import law
from .machine import LinearModel, Machine, Number, Sensitivities
from .steps import Observer, Simulation
from .table import Log, Table

__all__ = [
    "Error", "Experiment", "Fit", "FrictionFit", "InputError", "JobError", "LinearModel", "Log", "Machine", "Message", "Number", "Observer",
    "OleodynWarning", "Page", "Remark", "Result", "Sensitivities", "Simulation", "SimulationError", "Study", "Table", "Verdict",
    "VerdictWarning", "__version__", "help_text", "law", "run",
]
