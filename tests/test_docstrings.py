"""Every public name has a docstring, and the examples in docstrings run."""

import doctest
import inspect

import dappled
import pytest
from dappled import protocol
from dappled._dispatch.registry import CHAPTERS

# Documented by Python itself; the protocol's own dunders are ours to explain.
OURS = {"__distarray__"}


def public_members(owner):
    """The methods and properties that a class of ours defines and a user may call."""
    return {
        f"{owner.__name__}.{name}": member
        for name, member in sorted(vars(owner).items())  # two workers must see one order
        if (not name.startswith("_") or name in OURS) and _is_documented_kind(member)
    }


def _is_documented_kind(member):
    plain = inspect.isroutine(member) or inspect.isdatadescriptor(member)
    return plain or isinstance(member, staticmethod | classmethod | property)


NAMES = {name: getattr(protocol, name) for name in protocol.__all__}
CLASSES = {name: value for name, value in NAMES.items() if inspect.isclass(value)}
MEMBERS = {n: m for owner in CLASSES.values() for n, m in public_members(owner).items()}
# What the array and its namespace have and NumPy's have not.
EXTRAS = [*CHAPTERS["_ranks.introspection"].split(), "ndarray"]
NAMES |= {f"dappled.{name}": getattr(dappled, name) for name in EXTRAS}
PLACING = ("__distarray__", "distribution", "local", "redistribute")
MEMBERS |= {f"ndarray.{name}": getattr(dappled.ndarray, name) for name in PLACING}
DOCUMENTED = {**NAMES, **MEMBERS}


def test_there_is_something_to_explain():
    assert set(NAMES) >= {"Dimension", "Distribution", "Piece", "ProtocolError", "validate"}
    methods = ("owner", "owners", "slice", "sends", "receives", "halo_sends", "from_dim_data")
    assert {f"Distribution.{name}" for name in methods} <= set(MEMBERS)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_it_has_a_docstring(name):
    assert len((DOCUMENTED[name].__doc__ or "").strip()) > 10


@pytest.mark.parametrize("name", NAMES)
def test_it_has_an_example(name):
    assert ">>>" in NAMES[name].__doc__


@pytest.mark.parametrize("name", [n for n, v in DOCUMENTED.items() if ">>>" in (v.__doc__ or "")])
def test_the_example_is_true(name):
    text = inspect.cleandoc(DOCUMENTED[name].__doc__)
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    output = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    runner.run(test, out=output.append)
    assert runner.tries > 0 and runner.failures == 0, "".join(output)


def test_the_module_explains_itself():
    assert protocol.__doc__ and protocol.__doc__.strip()
