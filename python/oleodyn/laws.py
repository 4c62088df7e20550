"""Laws of blocks that are written in Python."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, overload

from . import _core

Law = TypeVar("Law", bound=Callable[..., Any])


@overload
def law(function: Law, /) -> Law: ...
@overload
def law(*, name: str | None = None, states: Mapping[str, float] | None = None, sampled: bool = False) -> Callable[[Law], Law]: ...


def law(function: Any = None, /, *, name: str | None = None, states: Mapping[str, float] | None = None, sampled: bool = False) -> Any:
    """Makes a function the law of blocks of machine files, for trying out an equation.

    >>> @oleodyn.law
    ... def stribeck(v, *, Fc, Fs, vs):
    ...     return (Fc + (Fs - Fc) * math.exp(-(v / vs) ** 2)) * math.tanh(v / (0.1 * vs))

    A block `{type: foreign, law: stribeck, inputs: {v: guide.rate}, parameters: {Fc: 150 N, Fs: 200 N, vs: 5 mm/s}, unit: N}` has this
    law. The positional arguments are the inputs, and those after `*` the parameters, in SI units; an argument `t` is the time. The
    function must depend only on its arguments. It may run at any point, also in other threads and several times in a step.

    states: names and initial values of states, which are positional arguments as well. The function then returns (output, rates), with a
    rate for each state. sampled: the block has `sample: 5 ms`, and the function returns the output that is held until the next sample
    (with states: (output, next states)). name: the name in the file, if it is not the name of the function.

    A call costs 0.2 us or more and holds the lock of the interpreter, so other threads wait; derivatives are differences.
    Studies with such machines are fastest with threads=1.
    A formula block with the same inputs and parameters is much faster and has exact derivatives.
    """
    if function is None:
        return lambda given: law_of(given, name or given.__name__, dict(states or {}), sampled)
    return law_of(function, name or function.__name__, dict(states or {}), sampled)


def law_of(function: Law, name: str, states: dict[str, float], sampled: bool) -> Law:
    """Registers a function as a law."""
    kinds = inspect.Parameter
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD) for p in parameters):
        raise TypeError(f"the law '{name}' has arguments without names; each input and each parameter needs a name")
    positional = [p.name for p in parameters if p.kind != kinds.KEYWORD_ONLY]
    missing = [state for state in states if state not in positional]
    if missing:
        raise TypeError(f"the law '{name}' has the state '{missing[0]}', which is not a positional argument of the function")
    inputs = [p for p in positional if p != "t" and p not in states]
    numbers = tuple(p.name for p in parameters if p.kind == kinds.KEYWORD_ONLY)
    order = [-1 if p == "t" else [*inputs, *states].index(p) for p in positional]
    remark = f"has the law '{name}' in Python, which is slow; a formula block with the same inputs and parameters is faster"
    _core.register_law(name, function, (*inputs, *states, *numbers), len(inputs), len(states), numbers, order, list(states.values()),
                       sampled, remark)
    return function
