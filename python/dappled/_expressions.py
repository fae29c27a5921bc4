"""What becomes of a value that an instruction computes: is it an operand, and nothing else?

Small arrays are computed as they are asked for. Where it is certain that a result is an operand of
the next operation of the same expression, the two are computed together. What is not certain is no
operand.
"""

from __future__ import annotations

import opcode
import sys
from functools import cache
from types import CodeType

# What puts values on the stack and takes none.
_LOADS = {
    "LOAD_CONST",
    "LOAD_DEREF",
    "LOAD_FAST",
    "LOAD_FAST_BORROW",
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
    "LOAD_FAST_CHECK",
    "LOAD_FAST_LOAD_FAST",
    "LOAD_GLOBAL",
    "LOAD_NAME",
    "LOAD_SMALL_INT",
    "PUSH_NULL",
}
# What takes so many values, and puts back one: where it says how many, these and so many more.
_TAKES = {
    "BINARY_OP": 2,
    "BINARY_SLICE": 3,
    "BINARY_SUBSCR": 2,
    "COMPARE_OP": 2,
    "LOAD_ATTR": 1,
    "LOAD_METHOD": 1,
    "UNARY_INVERT": 1,
    "UNARY_NEGATIVE": 1,
}
_TAKES_MORE = {"BUILD_SLICE": 0, "BUILD_TUPLE": 0, "CALL": 2}
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
# What does nothing to the stack; of a call, the first half.
_NOTHING = {"CACHE", "NOP", "PRECALL", "KW_NAMES"}
# What computes a value: which of these are operators.
_OPERATORS = ("BINARY_OP", "COMPARE_OP", "UNARY_INVERT", "UNARY_NEGATIVE")
# The operators of `BINARY_OP` by number, as far as they give a new value, element by element.
_IN_PLACE = 13
_PRODUCT_OF_MATRICES = 4


@cache
def _names() -> list[str]:
    """The instructions that are understood, by number; the others have no name here."""
    known = {*_LOADS, *_TAKES, *_TAKES_MORE, *_NOTHING}
    return [name if name in known else "" for name in opcode.opname]


@cache
def _functions() -> frozenset[str]:
    """The names of functions that compute element by element."""
    from dappled._ufuncs import OURS

    return frozenset({*(ours.__name__ for ours in OURS.values() if ours._native), "abs"})


def is_far_operand(code: CodeType, at: int) -> bool | None:
    """May other code run before an operator or a function takes what is computed at this place?

    None where it is taken by something else, or may be.
    """
    words, names = code.co_code, _names()
    if names[words[at]] not in (*_OPERATORS, "CALL"):
        return None
    stack: list[int] = []  # where each value was put there
    is_far = False
    for place in range(_beginning(words, at), len(words), 2):
        name, argument = names[words[place]], words[place + 1]
        if not name:
            return None
        if name in _NOTHING:
            continue
        taken = [stack.pop() if stack else -1 for _ in range(_taken(name, argument))]
        if at in taken:
            return is_far if _is_operation(code, place, taken) else None
        is_far = is_far or (place > at and name not in _OPERATORS and name not in _LOADS)
        stack += [place] * _given(name, words[place], argument)
    return None


def _beginning(words: bytes, at: int) -> int:
    """Where what is certainly done before it begins."""
    names = _names()
    while at >= 2 and names[words[at - 2]]:
        at -= 2
    return at


def _taken(name: str, argument: int) -> int:
    if name in _TAKES_MORE:
        return _TAKES_MORE[name] + argument
    return _TAKES.get(name, 0)


def _given(name: str, op: int, argument: int) -> int:
    if name in _TAKES_MORE or (name in _TAKES and name not in _ATTRIBUTES):
        return 1
    effect = opcode.stack_effect(op, argument if op >= opcode.HAVE_ARGUMENT else None)
    return effect + _TAKES.get(name, 0)


def _is_operation(code: CodeType, place: int, taken: list[int]) -> bool:
    """Is it an operator, or a call of a function by a name that is one of ours?"""
    name, argument = _names()[code.co_code[place]], code.co_code[place + 1]
    if name == "BINARY_OP":
        return argument < _IN_PLACE and argument != _PRODUCT_OF_MATRICES
    if name == "CALL":
        # The function, and what it is of or nothing, lie below the arguments.
        return taken[-1] == taken[-2] and _name_at(code, taken[-1]) in _functions()
    return name in _OPERATORS


def _name_at(code: CodeType, place: int) -> str | None:
    """The name of what an instruction puts on the stack."""
    if place < 0:
        return None
    name, argument = _names()[code.co_code[place]], code.co_code[place + 1]
    if name == "LOAD_GLOBAL" or (name == "LOAD_ATTR" and sys.version_info >= (3, 12)):
        return code.co_names[argument >> 1]
    return code.co_names[argument] if name in ("LOAD_METHOD", "LOAD_NAME") else None
