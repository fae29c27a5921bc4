"""A random call as text: its arrays and its expression.

A template is a call in which `{kind}` stands for an argument of that kind, and `{name=kind}` for
one that is given by name, or not at all. The kinds are methods of `Call`; what stands after a
colon is theirs: `{a:fd 2}` is a matrix of floats.
"""

import random
import re
import warnings

import dappled
import numpy

from tests.fuzz.calls.arguments import Words
from tests.fuzz.calls.arrays import DTYPES, SCATTERED, drawn_array, drawn_view, names
from tests.fuzz.calls.keys import Keys

PART = re.compile(r"\{(?:(\w+)=)?(\w+)(?::([^}]*))?\}")
OFTEN, ROUNDING = 0.3, 64
INTO = "<into>"
# NumPy does where there is a mask: for a number that the other's dtype does not have.
CRASHES = re.compile(r"\b(equal|not_equal|(less|greater)(_equal)?)\(.*\b(3|300)<into>")
# Marks of templates whose results differ from NumPy's by rounding.
MARKS = "~+=*"


class Call(Keys, Words):
    """One call: `setup` makes the arrays, `text` is done with them."""

    def __init__(self, template, seed):
        self.chance, self.setup, self.arrays = random.Random(seed), [], []
        self.known, self.into = names(numpy), None
        self.mark = template[:1] if template[:1] in MARKS else ""
        self.text = PART.sub(self.filled, template.removeprefix(self.mark))
        if self.into:
            self.text = self.text.replace(INTO, self.target())

    def __str__(self):
        return "; ".join([*self.setup, self.mark + self.text])

    @classmethod
    def said(cls, setup, text):
        """A call that was drawn before."""
        call = cls(text, 0)
        exec("; ".join(setup), call.known)
        call.setup, call.arrays = setup, [call.known[one.split()[0]] for one in setup]
        return call

    @property
    def units(self):
        """By how many units in the last place of the largest results may differ; None where their
        bits are NumPy's. Those of sums are where elements lie in order, all of them on several
        ranks; of what is sorted, zeros may have either sign.
        """
        ordered = all(array.flags.c_contiguous for array in self.arrays)
        ordered = ordered and (dappled.comm.size == 1 or "where=" not in self.text)
        if self.mark == "+" and ordered and not SCATTERED.search(str(self)):
            return None
        return {"": None, "=": 0}.get(self.mark, ROUNDING)

    @property
    def is_plain(self):
        """Whether no array is distributed."""
        return "lay(" not in str(self)

    def filled(self, part):
        name, kind, said = part.groups()
        if name and self.chance.random() > OFTEN:
            return ""
        found = getattr(self, kind)(*([said] if said is not None else []))
        return found if name is None or found == INTO else f", {name}={found}"

    def made(self, text, view=""):
        """The name of a new array: of a view of it, where there is one."""
        name = "abcdefgh"[len(self.arrays)]
        said = [f"{name} = {text}"] if not view else [f"{name * 2} = {text}", f"{name} = {view}"]
        exec("; ".join(said), self.known)
        self.setup += said
        self.arrays.append(self.known[name])
        return name

    @property
    def first(self):
        return self.arrays[0] if self.arrays else numpy.zeros(())

    # Arrays.

    def a(self, said=""):
        """Any array: of these dtypes, numbers of axes, and style, if any are said."""
        dtypes, dims, *styles = [*said.split(" "), ""][: max(2, said.count(" ") + 1)]
        wanted = [int(digit) for digit in dims] or None
        name = "abcdefgh"[len(self.arrays)] * 2
        text = drawn_array(self.chance, dtypes or DTYPES, wanted, styles=styles)
        array = eval(text, self.known)
        if wanted is None and self.rarely(0.05):
            return self.made(text, f"np.broadcast_to({name}, (2, *{name}.shape))")
        view = drawn_view(self.chance, array, wanted) if self.rarely(0.45) else ""
        return self.made(text, name + view if view else "")

    def like(self, said=""):
        """An array of the first one's shape."""
        return self.shaped(self.first.shape, said)

    def b(self, said=""):
        """A second operand: an array or a scalar."""
        if self.rarely(0.2):
            return self.scalar()
        if self.rarely():
            return self.a(said)
        shape = [1 if self.rarely(0.15) else length for length in self.first.shape]
        return self.shaped(tuple(shape[self.chance.choice([0, 0, 0, len(shape) // 2]) :]), said)

    def shaped(self, shape, said=""):
        text = drawn_array(self.chance, said or self.dtypes(), shape=tuple(shape))
        if shape and self.rarely(0.2):
            return self.made(text, "abcdefgh"[len(self.arrays)] * 2 + "[::-1]")
        return self.made(text)

    def dtypes(self):
        """The first array's dtype as often as any other."""
        char = self.first.dtype.char if self.arrays else "d"
        return DTYPES + char * len(DTYPES) if char in DTYPES else DTYPES

    def mask(self):
        return "True" if self.rarely(0.1) else self.chance.choice([self.b, self.like])("?")

    def square(self):
        """A matrix, or a stack of them, that has an inverse; rarely not."""
        if self.rarely():
            return self.a("fdFD 23 small")
        n, stack = self.chance.choice([0, 1, 2, 3, 5, 8]), self.chance.choice([(), (), (2,), (0,)])
        dtype = self.chance.choice("efdFDl?")
        text = drawn_array(self.chance, dtype, shape=(*stack, n, n), styles=["small"])
        return self.made(f"{text} + 20 * np.eye({n}, dtype={dtype!r})")

    def value(self):
        """A value to assign: a scalar, or an array for some elements."""
        return self.scalar() if self.rarely(0.4) else self.b()

    # Arguments for `out=`.

    def out(self):
        self.into = "out"
        return INTO

    def out_where(self):
        """For functions of elements: what `where=` does not choose is left as it was."""
        self.into = self.chance.choice([None, "out", "where"])
        return INTO if self.into else ""

    def target(self):
        """Arrays for what NumPy makes of the call without a target, rarely such as do not fit."""
        result = self.result()
        many = isinstance(result, tuple)
        outs = [self.target_of(one) for one in (result if many else [result])]
        masked = self.into == "where" and not CRASHES.search(self.text)
        where = f", where={self.mask()}" if masked else ""
        return f", out={'(' + ', '.join(outs) + ')' if many else outs[0]}{where}"

    def target_of(self, result):
        if self.arrays and self.first.flags.writeable and self.rarely(0.1):
            return "a"
        shape, dtype = numpy.shape(result), getattr(result, "dtype", numpy.dtype("d")).char
        shape = (*shape, 2) if self.rarely() else shape
        return self.shaped(shape, dtype if dtype in DTYPES and not self.rarely(0.3) else DTYPES)

    def result(self):
        with numpy.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return eval(self.text.replace(INTO, ""), dict(self.known))
            except Exception:
                return None
