"""Temporary elision: whether a result is only an operand of the same expression.

Small arrays are computed eagerly. Where a result is certainly an operand of the next operation of
an expression, both are fused. An uncertain result counts as one that the program keeps.
"""

from __future__ import annotations

import opcode
import sys
from functools import cache
from types import CodeType

from dappled._compat.bytecode import (
    ATTRIBUTE_LOADS,
    FIRST_IN_PLACE_OPERATOR,
    IS_KNOWN_VERSION,
    LOADS,
    MATMUL_OPERATOR,
    NO_STACK_EFFECT,
    OPERATORS,
    POPS,
    POPS_ARGUMENT_PLUS,
)


@cache
def _names() -> list[str]:
    """The known instructions by opcode; others are empty."""
    known = {*LOADS, *POPS, *POPS_ARGUMENT_PLUS, *NO_STACK_EFFECT}
    return [name if name in known else "" for name in opcode.opname]


@cache
def _functions() -> frozenset[str]:
    """The names of element-wise functions."""
    from dappled._routines.ufunc.call import UFUNCS

    return frozenset({*(ours.__name__ for ours in UFUNCS.values() if ours._native), "abs"})


def may_run_code_before_use(code: CodeType, at: int) -> bool | None:
    """Whether other code may run before an operator or ufunc uses the value computed at `at`.

    None where something else uses it, or may use it.
    """
    words, names = code.co_code, _names()
    if not IS_KNOWN_VERSION or names[words[at]] not in (*OPERATORS, "CALL"):
        return None
    stack: list[int] = []  # the offset that pushed each value
    is_far = False
    for position in range(_start_of_known_code(words, at), len(words), 2):
        name, argument = names[words[position]], words[position + 1]
        if not name:
            return None
        if name in NO_STACK_EFFECT:
            continue
        taken = [stack.pop() if stack else -1 for _ in range(_pop_count(name, argument))]
        if at in taken:
            return is_far if _is_operation(code, position, taken) else None
        is_far = is_far or (position > at and name not in OPERATORS and name not in LOADS)
        stack += [position] * _push_count(name, words[position], argument)
    return None


def _start_of_known_code(words: bytes, at: int) -> int:
    """The offset where the known instructions before `at` begin."""
    names = _names()
    while at >= 2 and names[words[at - 2]]:
        at -= 2
    return at


def _pop_count(name: str, argument: int) -> int:
    if name in POPS_ARGUMENT_PLUS:
        return POPS_ARGUMENT_PLUS[name] + argument
    return POPS.get(name, 0)


def _push_count(name: str, op: int, argument: int) -> int:
    if name in POPS_ARGUMENT_PLUS or (name in POPS and name not in ATTRIBUTE_LOADS):
        return 1
    effect = opcode.stack_effect(op, argument if op >= opcode.HAVE_ARGUMENT else None)
    return effect + POPS.get(name, 0)


def _is_operation(code: CodeType, place: int, taken: list[int]) -> bool:
    """Whether an instruction is an operator, or a call of an element-wise function by name."""
    name, argument = _names()[code.co_code[place]], code.co_code[place + 1]
    if name == "BINARY_OP":
        return argument < FIRST_IN_PLACE_OPERATOR and argument != MATMUL_OPERATOR
    if name == "CALL":
        # The function, and its self or NULL, are below the arguments.
        return taken[-1] == taken[-2] and _name_at(code, taken[-1]) in _functions()
    return name in OPERATORS


def _name_at(code: CodeType, place: int) -> str | None:
    """The name that an instruction loads."""
    if place < 0:
        return None
    name, argument = _names()[code.co_code[place]], code.co_code[place + 1]
    if name == "LOAD_GLOBAL" or (name == "LOAD_ATTR" and sys.version_info >= (3, 12)):
        return code.co_names[argument >> 1]
    return code.co_names[argument] if name in ("LOAD_METHOD", "LOAD_NAME") else None
