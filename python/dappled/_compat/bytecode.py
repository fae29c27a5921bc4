"""Instructions of CPython 3.11 to 3.14, as far as expressions of arrays consist of them.

An instruction that is missing here ends the analysis: the result then counts as one that the
program keeps, and the expression is not fused. Other versions of Python are not analysed at all.
"""

from __future__ import annotations

import sys

# Whether the tables below describe the running interpreter; otherwise expressions are not fused.
IS_KNOWN_VERSION = sys.implementation.name == "cpython" and (3, 11) <= sys.version_info < (3, 15)

# Push values and pop none.
LOADS = {
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
# Values that an instruction pops before it pushes one. The second table adds the argument.
POPS = {
    "BINARY_OP": 2,
    "BINARY_SLICE": 3,
    "BINARY_SUBSCR": 2,
    "COMPARE_OP": 2,
    "LOAD_ATTR": 1,
    "LOAD_METHOD": 1,
    "UNARY_INVERT": 1,
    "UNARY_NEGATIVE": 1,
}
POPS_ARGUMENT_PLUS = {"BUILD_SLICE": 0, "BUILD_TUPLE": 0, "CALL": 2}
ATTRIBUTE_LOADS = ("LOAD_ATTR", "LOAD_METHOD")
# Leave the stack as it is. PRECALL and KW_NAMES precede a CALL.
NO_STACK_EFFECT = {"CACHE", "NOP", "PRECALL", "KW_NAMES"}
# Operators: they compute a value from those on the stack.
OPERATORS = ("BINARY_OP", "COMPARE_OP", "UNARY_INVERT", "UNARY_NEGATIVE")
# Arguments of BINARY_OP: from the first one on, operators are in place; one is `@`.
FIRST_IN_PLACE_OPERATOR = 13
MATMUL_OPERATOR = 4
