"""Random programs, each from one integer seed.

A program is a list of statements: Python text over the names `a`, `b`, … (arrays), `v0`, … (views),
`r0`, … (results) and `e0`, … (exports). Every source, mask and index of a write stands between the
marks « and », so that the oracle can copy it first. Statements are drawn while NumPy runs them,
because shapes, dtypes and values decide what can come next.
"""

import random

import numpy

from tests.fuzz.reference import Oracle, quietly

NATIVE = "?bhilBHILefdFD"
OTHER = ["M8[D]", "m8[s]", "U3", "S2", ">i4", ">f8", "g", "O"]
STRUCTURES = ["i4,f8", "?,i2,f4", "u1,D", "i8,i8"]
NO_NUMBERS = "SUMmOV"
LETTERS = "abcd"

# Shapes by their number of elements: below, at and above each threshold of the implementation.
SHAPES = {
    "tiny": [(0,), (1,), (2,), (7,), (12,), (3, 4), (1, 5), (0, 3), (2, 3, 4), (5, 5), ()],
    "small": [(100,), (63,), (10, 12), (4, 5, 6), (7, 7), (1, 100), (33, 3)],
    "leaf": [(127,), (128,), (129,), (255,), (257,), (16, 16), (3, 129)],
    "fused": [(1999,), (2000,), (2001,), (8, 250), (40, 50), (43, 47), (8, 10, 25)],
    "tile": [(511,), (512,), (513,), (1023,), (1024,), (1025,), (32, 32), (3, 513)],
    "page": [(2047,), (2049,), (2500,), (4096,), (4097,), (64, 65), (16, 16, 17)],
    "buffer": [(8191,), (8192,), (8193,), (90, 91), (3, 2731), (20, 20, 21)],
    "deferred": [(16383,), (16384,), (16385,), (128, 128), (129, 127), (16, 32, 33)],
    "part": [(32767,), (32768,), (32769,), (181, 182)],
    "large": [(65535,), (65536,), (65537,), (256, 257), (3, 150, 150)],
    "threads": [(131071,), (131072,), (131073,), (362, 363)],
    "huge": [(262143,), (262144,), (262145,), (512, 513)],
}
CLASSES = ["tiny"] * 32 + ["small"] * 30 + ["fused"] * 22 + ["leaf"] * 6 + ["tile"] * 6
CLASSES += ["page"] * 8 + ["buffer"] * 4 + ["deferred"] * 14 + ["part"] * 2 + ["large"] * 3
CLASSES += ["threads"] * 3 + ["huge"]

BINARY = "add subtract multiply maximum minimum divide floor_divide remainder"
BITWISE = "bitwise_and bitwise_or bitwise_xor"
UNARY = "negative absolute square conjugate positive sign"
OPERATORS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//"}
OPERATORS |= {"remainder": "%", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"}
# Other dtypes that see the same memory; none that would show the bits of a NaN, or write booleans
# that are neither 0 nor 1.
VIEWED = {"D": "d", "F": "f", "l": "L i h B", "i": "I h B", "h": "H B", "B": "b"}
IN_MEMORY_ORDER = [".ravel('A')", ".ravel('K')", ".flatten('A')", ".flatten('F')", ".tobytes('A')"]
IN_MEMORY_ORDER += [".reshape(-1, order='A')", ".copy('K').ravel('K')", ".copy('A').ravel('A')"]
IN_MEMORY_ORDER += [".T.ravel('K')"]
COMPARISONS = ["<", ">", "<=", ">=", "==", "!="]


def generate(seed, ranks=1):
    """The statements of one program, and the oracle after it has run them."""
    with quietly():
        return _Generator(seed, ranks).program()


class _Generator:
    def __init__(self, seed, ranks):
        self.chance = random.Random(seed)
        self.ranks = ranks
        self.oracle = Oracle()
        self.names = self.oracle.names
        self.counter = 0
        self.pool = []  # arrays and results that statements use
        self.views = []
        self.exports = []
        self.indices = []  # integer arrays whose values are indices of small arrays
        self.statements = []

    # What is drawn.

    def one(self, choices):
        return self.chance.choice(choices.split() if isinstance(choices, str) else choices)

    def often(self, probability):
        return self.chance.random() < probability

    def value(self, text):
        return self.oracle.evaluate(text)

    def program(self):
        chance = self.chance
        size = self.one(CLASSES)
        for name in LETTERS[: chance.randint(2, 4)]:
            # Mostly of one size, so that operands of statements fit each other.
            self.create(name, size if self.often(0.8) else self.one(CLASSES))
        if self.often(0.5):
            self.create_indices()
        wanted = len(self.statements) + chance.randint(8, 18)
        for _ in range(4 * wanted):
            if len(self.statements) >= wanted:
                break
            try:
                statement = self.one(STATEMENTS)(self)
            except (AttributeError, IndexError, OverflowError, TypeError, ValueError):
                continue  # the operands that were drawn do not fit each other
            if statement is not None:
                self.run(statement)
        return self.statements, self.oracle

    def run(self, statement):
        """Runs a statement in NumPy; one that raises after it has written something is dropped."""
        kept = True
        if not self.oracle.run(statement):
            again = Oracle()
            for one in self.statements:
                again.run(one)
            if again.state() != self.oracle.state():
                # NumPy does not say how much of a target is written when an error is raised.
                self.oracle, self.names, kept = again, again.names, False
        if kept:
            self.statements.append(statement)
        for known in (self.pool, self.views, self.exports, self.indices):
            known[:] = [name for name in known if name in self.names]
        return kept

    # Arrays.

    def create(self, name, size):
        shape = self.one(SHAPES[size])
        kind = self.one([*NATIVE, *"dddlliF?D"])
        if self.often(0.08):
            kind = self.one(STRUCTURES if self.often(0.4) else OTHER)
        known = kind in NATIVE
        how = self.chance.random()
        if how < 0.06 and known:
            text = f"np.zeros({shape}, {kind!r})"
        elif how < 0.10 and known:
            text = f"np.full({shape}, {self.chance.randint(0, 5)}, {kind!r})"
        elif how < 0.14 and len(shape) == 1 and kind in "lidf":
            text = f"np.arange({shape[0]}, dtype={kind!r})"
        else:
            drawn = f"data({self.chance.randint(0, 20)}, {shape}, {kind!r})"
            order = ", order='F'" if len(shape) > 1 and self.often(0.25) else ""
            text = f"np.array({drawn}{order})"
        # What is redistributed is in C order.
        if self.ranks > 1 and shape and known and "order" not in text and self.often(0.4):
            text = f"at({text}, {''.join(self.one([*'bbcn']) for _ in shape)!r})"
        self.pool.append(name)
        self.run(f"{name} = {text}")

    def create_indices(self):
        limit = self.one([2, 5, 7, 12, 60, 90])
        count = self.one([1, 3, 8, 40, 200])
        kind = self.one([*"llliBh"])
        name = "i0"
        drawn = f"places({self.chance.randint(0, 20)}, {count}, {limit}, {kind!r})"
        self.run(f"{name} = np.array({drawn})")
        self.indices.append(name)
        self.pool.append(name)

    def array(self):
        return self.one(self.pool + self.views)

    def fresh(self, prefix):
        self.counter += 1
        return f"{prefix}{self.counter}"

    def add(self, name):
        self.pool.append(name)
        if len(self.pool) > 8:
            self.pool.pop(self.chance.randrange(4, len(self.pool)))

    def run_result(self, statement, name):
        """Runs a statement that makes an array, which others may use."""
        if self.run(statement) and isinstance(self.names.get(name), numpy.ndarray):
            self.add(name)

    # Views.

    def window(self, name, shape):
        """A basic slice of an array that can be broadcast to a shape; None if there is none."""
        array = self.names[name]
        if isinstance(array, numpy.generic) or not isinstance(array, numpy.ndarray):
            return None
        key, lengths = [], array.shape
        suffix = ""
        if array.ndim > 1 and self.often(0.2):
            suffix, lengths = ".T", lengths[::-1]
        while len(lengths) > len(shape):
            if not lengths[0]:
                return None
            key.append(str(self.chance.randrange(-lengths[0], lengths[0])))
            lengths = lengths[1:]
        whole = not key
        for length, wanted in zip(lengths, shape[len(shape) - len(lengths) :], strict=True):
            item = self.interval(length, wanted)
            if item is None:
                return None
            whole = whole and item == ":"
            key.append(item)
        if whole and self.often(0.5):
            return name + suffix
        return f"{name}{suffix}[{', '.join(key) or '...'}]"

    def interval(self, length, wanted):
        """A slice with so many elements of an axis, or with one; None if there is none."""
        if wanted > length:
            if length == 0 or self.often(0.5) or wanted == 0:
                return None
            wanted = 1
        if wanted == length and self.often(0.6):
            return ":" if self.often(0.7) else "::-1"
        if wanted == 0:
            at = self.chance.randint(0, length)
            return f"{at}:{at}"
        steps = [step for step in (1, 1, 2, 3, 5) if (wanted - 1) * step < length]
        step = self.one(steps)
        first = self.chance.randint(0, length - 1 - (wanted - 1) * step)
        last = first + (wanted - 1) * step
        if self.often(0.3):
            stop = "" if first == 0 else str(first - 1)
            return f"{last}:{stop}:{-step}"
        return f"{first}:{last + 1}" + (f":{step}" if step > 1 else "")

    def part(self, name):
        """Any basic slice of an array, by its text."""
        array = self.names[name]
        if not array.ndim or self.often(0.2):
            return f"{name}[...]"
        key = []
        for length in array.shape[: self.chance.randint(1, array.ndim)]:
            kind = self.chance.random()
            if kind < 0.25:
                key.append(":")
            elif kind < 0.35:
                key.append("::-1")
            elif kind < 0.45 and array.ndim > 1 and length:
                key.append(str(self.chance.randrange(-length, length)))
            else:
                wanted = self.chance.randint(length // 3, length)
                if length > 20 and self.often(0.5):
                    wanted = self.one([length - 1, length - 2, length // 2, length])
                key.append(self.interval(length, wanted) or ":")
        return f"{name}[{', '.join(key)}]"

    def target(self):
        """The text of an array or view that is written, and what it is now."""
        name = self.array()
        array = self.names[name]
        if not isinstance(array, numpy.ndarray) or not array.flags.writeable:
            return None, None
        text = name if self.often(0.35) else self.part(name)
        if array.ndim > 1 and self.often(0.1):
            text = f"{name}.T"
        if array.dtype.kind == "c" and self.often(0.15):
            text = f"{text}.{self.one('real imag')}"
        if array.dtype.names and self.often(0.7):
            text = f"{text}[{self.one(array.dtype.names)!r}]"
        found = self.value(text)
        if not isinstance(found, numpy.ndarray):
            return None, None
        return text, found

    # Sources.

    def near(self, text):
        """The names that may share memory with a target, so that most sources overlap it."""
        root = text.split("[")[0].split(".")[0]
        return [root, root, root, *self.pool, *self.views]

    def source(self, text, target, kinds=None):
        """An expression that can be written into a target; not marked."""
        for _ in range(6):
            found = self.source_once(text, target.shape)
            if found is None:
                continue
            value = self.value(found)
            if kinds is not None and getattr(value, "dtype", numpy.dtype("l")).kind not in kinds:
                continue
            if self.may_cast(value, target.dtype):
                return found
        return self.scalar(target.dtype)

    def source_once(self, text, shape):
        names = self.near(text)
        kind = self.chance.random()
        first = self.window(self.one(names), shape)
        if first is None or kind < 0.1:
            return self.scalar(self.names[self.one(self.pool)].dtype)
        if kind < 0.5:
            return first
        if kind < 0.55:
            return f"numpy.asarray({first})"  # over the same memory, in one process
        if kind < 0.6:
            return f"np.broadcast_to({first}, {shape})"
        second = self.window(self.one(names), shape)
        if kind < 0.75 or second is None:
            return f"({first} {self.one('+ - *')} {self.one('1 2 3 0.5')})"
        if kind < 0.95:
            return f"({first} {self.one('+ - * + -')} {second})"
        return f"np.where({first} {self.one(COMPARISONS)} {self.one('0 1 3')}, {first}, {second})"

    def scalar(self, dtype):
        if dtype.kind == "M":
            return "np.datetime64('2001-02-03')"
        if dtype.kind == "m":
            return "np.timedelta64(7, 's')"
        if dtype.kind in "US":
            return self.one(["'x'", "b'yz'"])
        if dtype.names:
            return f"({', '.join(self.one('0 1 3') for _ in dtype.names)})"
        if dtype.kind == "?":
            return self.one("True False")
        values = "0 1 3 7 True np.float32(2) np.int8(5)"
        if dtype.kind in "fc":
            values += " 0.5 -2.25 -1 np.float64(1.5)"
        if dtype.kind == "c":
            values += " 2j np.complex64(1j)"
        return self.one(values)

    def may_cast(self, value, dtype):
        """Whether a cast has one meaning: not of NaN, or of what is too large, to integers."""
        value = numpy.asarray(value)
        if value.dtype.kind in "fc" and dtype.kind in "iu":
            part = value.real
            return bool(numpy.all((part >= 0) & (part < 127)))
        if dtype.kind in "SUMmVO" or value.dtype.kind in "SUMmVO":
            return value.dtype == dtype
        if dtype.kind in "iu" and value.dtype.kind in "iu" and value.ndim == 0:
            return bool(0 <= value < 127)  # NumPy refuses some Python integers, and wraps others
        return True

    def mask(self, text, shape):
        """A mask of exactly this shape."""
        for _ in range(4):
            name = self.one(self.near(text))
            found = self.window(name, shape)
            if found is None:
                continue
            value = self.value(found)
            if value.shape != shape:
                continue
            if value.dtype == bool and self.often(0.8):
                return found
            if value.dtype.kind in "biufc":
                return f"({found} {self.one(COMPARISONS)} {self.one('0 1 2 3')})"
        return f"np.array(data({self.chance.randint(0, 20)}, {shape}, '?'))"

    def places(self, length, shape=None):
        """Indices that are inside an axis, as an expression."""
        if not length:
            return None
        fitting = []
        for name in self.indices:
            array = self.names[name]
            inside = array.size and array.min() >= -length and array.max() < length
            if inside and array.ndim == 1 and (shape is None or len(array) >= shape):
                fitting.append(name)
        if fitting and self.often(0.7):
            name = self.one(fitting)
            size = len(self.names[name])
            return self.window(
                name, (shape if shape is not None else self.chance.randint(1, size),)
            )
        count = self.one([1, 2, 5, min(length, 50)]) if shape is None else shape
        drawn = f"places({self.chance.randint(0, 20)}, {count}, {min(length, 60)}, 'l')"
        return drawn if self.often(0.3) else f"np.array({drawn})"


def _marked(text):
    return f"«{text}»"


# Statements: each returns a text, or None if what was drawn does not fit.


def assign(g):
    text, target = g.target()
    if text is None:
        return None
    source = g.source(text, target)
    if "[" not in text or text.endswith((".T", ".real", ".imag")):
        if text.endswith((".real", ".imag")) and g.often(0.5):
            return f"{text} = {_marked(source)}"
        return f"{text}[...] = {_marked(source)}"
    return f"{text} = {_marked(source)}"


def in_place(g):
    text, target = g.target()
    if text is None or target.dtype.kind in NO_NUMBERS:
        return None
    ufunc = g.one("add subtract multiply add subtract multiply divide remainder floor_divide")
    if target.dtype.kind in "biu" and g.often(0.3):
        ufunc = g.one(BITWISE)
    source = g.source(text, target)
    if text.endswith(".T"):
        return f"np.{ufunc}({_marked(text)}, {_marked(source)}, out={text})"
    return f"{text} {OPERATORS[ufunc]}= {_marked(source)}"


def into(g):
    text, target = g.target()
    if text is None or target.dtype.kind in NO_NUMBERS:
        return None
    where = f", where={_marked(g.mask(text, target.shape))}" if g.often(0.4) else ""
    if g.often(0.3):
        ufunc, sources = g.one(UNARY), [g.source(text, target)]
    else:
        ufunc = g.one(BINARY if g.often(0.8) else BITWISE)
        sources = [g.source(text, target), g.source(text, target)]
    sources = ", ".join(map(_marked, sources))
    casting = ", casting='unsafe'" if g.often(0.2) and target.dtype.kind in "fc" else ""
    return f"np.{ufunc}({sources}, out={text}{where}{casting})"


def _counted(g, text, target, count):
    """A source with so many elements, or one."""
    for _ in range(4):
        found = g.window(g.one(g.near(text)), (count,))
        if found is not None:
            value = g.value(found)
            if value.ndim == 1 and len(value) in (1, count) and g.may_cast(value, target.dtype):
                return found
    return g.scalar(target.dtype)


def by_mask(g):
    text, target = g.target()
    if text is None or not target.ndim:
        return None
    mask = g.mask(text, target.shape)
    count = int(numpy.count_nonzero(g.value(mask)))
    if g.often(0.2):
        return f"{text}[{_marked(mask)}] {g.one('+ - *')}= {g.scalar(target.dtype)}"
    return f"{text}[{_marked(mask)}] = {_marked(_counted(g, text, target, count))}"


def by_row_mask(g):
    text, target = g.target()
    if text is None or target.ndim < 2:
        return None
    mask = g.mask(text, target.shape[:1])
    chosen = g.value(f"{text}[{mask}]")
    return f"{text}[{_marked(mask)}] = {_marked(g.source(text, chosen))}"


def by_index(g):
    text, target = g.target()
    if text is None or not target.ndim:
        return None
    if target.ndim == 2 and min(target.shape) > 2 and g.often(0.2):
        keys = [g.places(length) for length in target.shape]
        # Of several values for one element NumPy does not always write the last one last.
        keys = ", ".join(map(_marked, keys))
        return f"{text}[np.ix_({keys})] = {g.scalar(target.dtype)}"
    places = g.places(target.shape[0])
    if places is None:
        return None
    key = _marked(places)
    plain = places
    if target.ndim > 1 and target.shape[1] and g.often(0.5):
        count = numpy.size(g.value(places))
        other = g.places(target.shape[1], count) if g.often(0.6) else ":"
        if other is None:
            return None
        if other != ":":
            key, plain = f"{key}, {_marked(other)}", f"{plain}, {other}"
    chosen = g.value(f"{text}[{plain}]")
    if g.often(0.2) and target.dtype.kind not in NO_NUMBERS:
        return f"{text}[{key}] {g.one('+ - *')}= {_marked(g.source(text, chosen))}"
    return f"{text}[{key}] = {_marked(g.source(text, chosen))}"


def copyto(g):
    text, target = g.target()
    if text is None:
        return None
    where = f", where={_marked(g.mask(text, target.shape))}" if g.often(0.7) else ""
    casting = ", casting='unsafe'" if g.often(0.5) else ""
    return f"np.copyto({text}, {_marked(g.source(text, target))}{casting}{where})"


def place(g):
    text, target = g.target()
    if text is None or not target.size:
        return None
    function = g.one("place putmask")
    mask = _marked(g.mask(text, target.shape))
    values = _marked(_counted(g, text, target, g.chance.randint(1, max(1, min(target.size, 50)))))
    return f"np.{function}({text}, {mask}, {values})"


def put(g):
    text, target = g.target()
    if text is None:
        return None
    places = g.places(target.size)
    if places is None:
        return None
    count = numpy.size(g.value(places))
    values = _marked(_counted(g, text, target, g.chance.randint(1, max(1, count))))
    mode = ", mode='clip'" if g.often(0.2) else ""
    return f"np.put({text}, {_marked(places)}, {values}{mode})"


def put_along(g):
    text, target = g.target()
    if text is None or target.ndim != 1:
        return None
    places = g.places(target.shape[0])
    if places is None:
        return None
    chosen = g.value(f"{text}[{places}]")
    return f"np.put_along_axis({text}, {_marked(places)}, {_marked(g.source(text, chosen))}, 0)"


def at(g):
    text, target = g.target()
    if text is None or not target.ndim or target.dtype.kind not in "biufc":
        return None
    places = g.places(target.shape[0])
    if places is None:
        return None
    chosen = g.value(f"{text}[{places}]")
    value = g.source(text, chosen)
    if not numpy.can_cast(numpy.asarray(g.value(value)).dtype, target.dtype, "same_kind"):
        value = "1"
    ufunc = g.one("add subtract multiply maximum")
    return f"np.{ufunc}.at({text}, {_marked(places)}, {_marked(value)})"


def accumulate(g):
    text, target = g.target()
    if text is None or not target.ndim or target.dtype.kind not in "iufc":
        return None
    source = g.window(g.one(g.near(text)), target.shape)
    if source is None:
        return None
    value = g.value(source)
    if value.shape != target.shape or value.dtype != target.dtype:
        return None
    axis = g.chance.randrange(-target.ndim, target.ndim)
    ufunc = g.one("add add multiply maximum minimum")
    form = g.one("accumulate accumulate cumsum")
    if form == "cumsum":
        return f"np.cumsum({_marked(source)}, {axis}, out={text})"
    return f"np.{ufunc}.accumulate({_marked(source)}, {axis}, out={text})"


def reduce_into(g):
    """A reduction of an array into a part of itself, or of another."""
    name = g.array()
    array = g.names[name]
    if not isinstance(array, numpy.ndarray) or array.ndim < 2 or array.dtype.kind not in "biuf":
        return None
    axis = g.chance.randrange(array.ndim)
    shape = (*array.shape[:axis], *array.shape[axis + 1 :])
    target = g.window(name if g.often(0.6) else g.array(), shape)
    if target is None or g.value(target).shape != shape:
        return None
    exact = array.dtype.kind in "biu"
    function = g.one("max min sum prod" if exact else "max min")
    if exact and g.often(0.3):
        where = _marked(g.mask(name, array.shape))
        return f"np.add.reduce({_marked(name)}, axis={axis}, out={target}, where={where})"
    if function in ("max", "min") and not array.shape[axis]:
        return None
    # Where it casts, NumPy reduces in the dtype of the target, in an order of its own.
    if not numpy.can_cast(array.dtype, g.value(target).dtype, "safe"):
        return None
    if g.value(target).dtype.kind == "b":
        return None
    return f"np.{function}({_marked(name)}, axis={axis}, out={target})"


def take_into(g):
    text, target = g.target()
    if text is None or target.ndim != 1 or not target.flags.c_contiguous:
        return None
    names = [
        name
        for name in g.near(text)
        if getattr(g.names[name], "dtype", None) == target.dtype and g.names[name].ndim == 1
    ]
    if not names:
        return None
    name = g.one(names)
    places = g.places(len(g.names[name]), len(target))
    if places is None or numpy.shape(g.value(places)) != target.shape:
        return None
    mode = g.one(["", ", mode='clip'", ", mode='wrap'"])
    return f"np.take({_marked(name)}, {_marked(places)}, out={text}{mode})"


def other_into(g):
    """Functions with `out=` that are no ufuncs."""
    text, target = g.target()
    if text is None or not target.ndim or target.dtype.kind not in "iuf":
        return None
    source = g.window(g.one(g.near(text)), target.shape)
    if source is None:
        return None
    value = g.value(source)
    if value.shape != target.shape or value.dtype != target.dtype:
        return None
    kind = g.one("clip round concatenate choose compress stack nan_to_num divmod matmul byteswap")
    if kind == "matmul":
        square = target.ndim == 2 and target.shape[0] == target.shape[1] < 200
        if not square or target.dtype.kind == "f":
            return None
        other = g.window(g.one(g.near(text)), target.shape)
        if other is None or g.value(other).dtype != target.dtype:
            return None
        return f"np.matmul({_marked(source)}, {_marked(other)}, out={text})"
    if kind == "byteswap":
        return f"{text}.byteswap(True)" if target.dtype.kind in "iu" else None
    if kind == "nan_to_num":
        return f"np.nan_to_num({text}, copy=False)"
    if kind == "stack" and target.ndim > 1:
        row = source + "[::-1]"
        parts = ", ".join(_marked(f"{row}[{at}]") for at in range(min(len(target), 30)))
        return f"np.stack([{parts}], out={text})" if len(target) <= 30 else None
    if kind == "divmod" and len(target) > 1 and g.often(0.5):
        half = len(target) // 2
        source = f"{_marked(source + f'[:{half}]')}, {_marked(source + f'[{half}:{2 * half}]')}"
        return f"np.divmod({source}, out=({text}[{half}:{2 * half}], {text}[:{half}]))"
    if kind == "clip":
        return f"np.clip({_marked(source)}, 1, 5, out={text})"
    if kind == "round":
        return f"np.round({_marked(source)}, out={text})"
    if kind == "choose":
        mask = g.mask(text, target.shape)
        return f"np.choose({_marked(mask)}, ({_marked(source)}, {_marked(source)}), out={text})"
    if kind == "compress" and target.ndim == 1:
        mask = f"np.ones({len(target)}, bool)"
        return f"np.compress({mask}, {_marked(source)}, out={text})"
    if kind == "concatenate" and target.shape[0] > 1:
        half = target.shape[0] // 2
        parts = f"{_marked(source + f'[{half}:]')}, {_marked(source + f'[:{half}]')}"
        return f"np.concatenate([{parts}], out={text})"
    return None


def sort(g):
    text, target = g.target()
    if text is None or not target.ndim or target.dtype.kind == "O":
        return None
    if target.dtype.kind in "fc" and (target == 0).any():
        return None  # the order of 0.0 and -0.0 is open
    if target.dtype.char == "e" and target.size > 1000:
        return None  # NumPy 2.4 leaves some out of order on CPUs with AVX-512
    return f"{text}.sort({g.chance.randrange(-target.ndim, target.ndim)})"


def flat(g):
    text, target = g.target()
    if text is None or not target.size or target.dtype.kind in NO_NUMBERS:
        return None
    if g.often(0.5):
        source = g.source(text, target)
        if numpy.shape(g.value(source)) != target.shape:
            return None
        return f"{text}.flat = {_marked(source)}"
    places = g.places(target.size)
    if places is None:
        return None
    count = numpy.size(g.value(places))
    return f"{text}.flat[{_marked(places)}] = {_marked(_counted(g, text, target, count))}"


def fill(g):
    text, target = g.target()
    if text is None or target.dtype.kind in NO_NUMBERS:
        return None
    if target.ndim == 2 and target.shape[0] and target.shape[1] and g.often(0.3):
        return f"np.fill_diagonal({text}, {g.scalar(target.dtype)})"
    return f"{text}.fill({g.scalar(target.dtype)})"


def loop(g):
    """A stencil, as programs have them."""
    name = g.one(g.pool)
    array = g.names[name]
    if (
        not isinstance(array, numpy.ndarray)
        or array.ndim not in (1, 2)
        or array.dtype.kind not in "fc"
    ):
        return None
    if min(array.shape) < 3 or not array.flags.writeable:
        return None
    if array.ndim == 1:
        line = f"{name}[1:-1] = «({name}[:-2] + {name}[2:]) * 0.5»"
    else:
        line = f"{name}[1:-1, 1:-1] = «({name}[:-2, 1:-1] + {name}[1:-1, 2:]) * 0.5»"
    return f"for _ in range({g.one('2 3')}): {line}"


def swap(g):
    name = g.one(g.pool)
    array = g.names[name]
    if not isinstance(array, numpy.ndarray) or not array.ndim or len(array) < 2:
        return None
    if not array.flags.writeable:
        return None
    first, second = (g.chance.randrange(len(array)) for _ in range(2))
    return f"{name}[[{first}, {second}]] = {_marked(f'{name}[[{second}, {first}]]')}"


def make_view(g):
    name = g.array()
    array = g.names[name]
    if not isinstance(array, numpy.ndarray):
        return None
    text = g.part(name)
    kind = g.chance.random()
    if kind < 0.1 and array.ndim > 1:
        text = f"{name}.T"
    elif kind < 0.2 and array.dtype.kind == "c":
        text = f"{name}.{g.one('real imag')}"
    elif kind < 0.3 and array.ndim > 1:
        text = f"{name}.{g.one(['reshape(-1)', 'ravel()'])}"
    elif kind < 0.35 and array.ndim == 2:
        text = f"{name}.diagonal()"
    elif kind < 0.4 and array.dtype.char in VIEWED and array.flags.c_contiguous and array.ndim:
        text = f"{name}.view({g.one(VIEWED[array.dtype.char])!r})"
    elif kind < 0.43:
        text = f"{name}[..., None]"
    elif kind < 0.46 and array.ndim > 1:
        text = f"{name}.swapaxes(0, {g.chance.randrange(array.ndim)})"
    elif array.dtype.names and kind < 0.8:
        text = f"{text}[{g.one(array.dtype.names)!r}]"
    elif kind < 0.49 and g.ranks == 1 and array.dtype.char in NATIVE:
        text = f"np.asarray(numpy.asarray({text}))"  # over the same memory
    if not isinstance(g.value(text), numpy.ndarray):
        return None
    view = g.fresh("v")
    g.views.append(view)
    if len(g.views) > 5:
        g.views.pop(g.chance.randrange(len(g.views)))
    return f"{view} = {text}"


def compute(g):
    """A new array from an expression, kept pending where it is."""
    name = g.array()
    array = g.names[name]
    if not isinstance(array, numpy.ndarray) or array.size > 140_000:
        return None
    if array.dtype.kind in NO_NUMBERS:
        return None
    first = name if g.often(0.5) else g.part(name)
    value = g.value(first)
    if not isinstance(value, numpy.ndarray):
        return None
    second = g.source(first, value)
    kind = g.chance.random()
    if kind < 0.5:
        operator = OPERATORS[g.one("add subtract multiply divide remainder floor_divide")]
        if value.dtype.kind in "biu" and g.often(0.2):
            operator = g.one("& | ^")
        text = f"{first} {operator} {second}"
    elif kind < 0.6:
        text = f"{first} {g.one(COMPARISONS)} {second}"
    elif kind < 0.7:
        text = f"({first} * 2 + {second}) - {first}"
    elif kind < 0.8:
        text = f"np.{g.one(UNARY)}({first})"
    elif kind < 0.9:
        text = f"np.where({g.mask(first, value.shape)}, {first}, {second})"
    else:
        kind = g.one([*"?lidfFDhBe"])
        if not g.may_cast(value, numpy.dtype(kind)):
            return None
        text = f"{first}.astype({kind!r})"
    result = g.fresh("r")
    g.run_result(f"{result} = {text}", result)
    return None


def move(g):
    """A new array with elements of another one."""
    name = g.array()
    array = g.names[name]
    if not isinstance(array, numpy.ndarray) or not array.ndim or array.size > 140_000:
        return None
    first = name if g.often(0.5) else g.part(name)
    value = g.value(first)
    if not isinstance(value, numpy.ndarray) or not value.ndim:
        return None
    kind = g.one(
        "mask index sort roll copy concatenate join repeat flip diff cumsum argsort nonzero "
        "searchsorted unique triangle delete outer along"
    )
    if kind == "mask":
        text = f"{first}[{g.mask(first, value.shape)}]"
    elif kind == "index":
        places = g.places(value.shape[0])
        if places is None:
            return None
        text = f"{first}[{places}]"
    elif kind in ("sort", "argsort"):
        if value.dtype.kind == "O" or (
            kind == "sort" and value.dtype.kind in "fc" and (value == 0).any()
        ):
            return None
        text = f"np.{kind}({first}, {g.chance.randrange(-value.ndim, value.ndim)}, kind='stable')"
    elif kind == "roll":
        text = f"np.roll({first}, {g.chance.randint(-5, 5)})"
    elif kind == "copy":
        text = f"{first}.copy()"
    elif kind == "concatenate":
        text = f"np.concatenate([{first}, {first}])"
    elif kind == "join":
        second = g.window(g.one(g.near(first)), value.shape)
        axis = g.chance.randrange(value.ndim)
        text = f"np.{g.one('concatenate stack')}([{first}, {second}, {first}], axis={axis})"
    elif kind == "searchsorted":
        other = g.window(g.one(g.near(first)), (g.chance.randint(1, 40),))
        if value.ndim != 1 or value.dtype.kind not in "biuf" or not value.size or other is None:
            return None
        if numpy.isnan(value).any() or g.value(other).dtype != value.dtype:
            return None
        text = f"np.searchsorted(np.sort({first}), {other}, {g.one(['', 'left', 'right'])!r})"
        text = text.replace(", ''", "")
    elif kind == "unique":
        if value.dtype.kind not in "biu":
            return None
        text = f"np.unique({first})"
    elif kind == "triangle":
        if value.ndim < 2 or value.dtype.kind not in "biufc":
            return None
        text = f"np.{g.one('tril triu')}({first}, {g.chance.randint(-2, 2)})"
    elif kind == "delete":
        text = f"np.delete({first}, {g.chance.randrange(value.shape[0])}, 0)"
    elif kind == "outer":
        if value.ndim != 1 or value.dtype.kind not in "iuf" or value.size > 400:
            return None
        text = f"np.{g.one('add multiply maximum')}.outer({first}, {first}[:7])"
    elif kind == "along":
        if not value.shape[-1] or value.dtype.kind == "O":
            return None
        text = f"np.take_along_axis({first}, np.argsort({first}, kind='stable'), -1)"
        if value.dtype.kind == "V":
            return None
    elif kind == "repeat":
        text = f"np.repeat({first}, 2, 0)"
    elif kind == "flip":
        text = f"np.flip({first})"
    elif kind == "diff":
        if value.dtype.kind in "SUMOVb":
            return None
        text = f"np.diff({first})"
    elif kind == "nonzero":
        if value.dtype.kind not in "biufc":
            return None
        text = f"np.nonzero({first})[0]"
    else:
        if value.dtype.kind not in "biufc":
            return None
        text = f"np.cumsum({first}, {g.chance.randrange(value.ndim)})"
    result = g.fresh("r")
    g.run_result(f"{result} = {text}", result)
    return None


def in_memory_order(g):
    """Elements in the order of memory, which NumPy chooses for each expression."""
    name = g.array()
    array = g.names[name]
    if not isinstance(array, numpy.ndarray) or array.dtype.kind not in "biufc":
        return None
    first = name if g.often(0.5) else g.part(name)
    value = g.value(first)
    if not isinstance(value, numpy.ndarray) or value.size > 140_000:
        return None
    second = g.window(g.one(g.near(first)), value.shape)
    if value.ndim > 1 and value.shape[0] == value.shape[-1] and g.often(0.5):
        second = f"{first}.T"
    kind = g.chance.random()
    if second is None or g.value(second).dtype.kind not in "biufc" or kind < 0.3:
        text = f"({first} * 2 + 1)" if g.often(0.5) else first
    elif kind < 0.6:
        text = f"({first} + {second})"
    elif kind < 0.8:
        text = f"({first} * 3 + {second} * {first})"
    else:
        text = f"np.where({second} > 0, {first}, {second})"
    look = g.one(IN_MEMORY_ORDER)
    if "bytes" in look and numpy.asarray(g.value(text)).dtype.char in "gG":
        return None  # their padding may hold anything
    if g.often(0.3) and "bytes" not in look:
        result = g.fresh("r")
        g.run_result(f"{result} = {text}{look}", result)
        return None
    return f"log({text}{look})"


def reduce_at(g):
    """Reductions of segments, and reductions of what a mask chooses."""
    name = g.array()
    array = g.names[name]
    if not isinstance(array, numpy.ndarray) or not array.ndim or array.dtype.kind not in "biu":
        return None
    first = name if g.often(0.5) else g.part(name)
    value = g.value(first)
    ufunc = g.one("add maximum minimum")
    if g.often(0.5):
        mask = g.mask(first, value.shape)
        return f"log(np.{ufunc}.reduce({first}, axis=None, initial=3, where={mask}))"
    axis = g.chance.randrange(value.ndim)
    places = g.places(value.shape[axis])
    if places is None:
        return None
    return f"log(np.{ufunc}.reduceat({first}, {places}, {axis}))"


def look(g):
    """A value that the program asks for, so that pending work is done."""
    name = g.array()
    array = g.names[name]
    if not isinstance(array, numpy.ndarray) or array.dtype.kind in NO_NUMBERS:
        return None
    first = name if g.often(0.5) else g.part(name)
    value = g.value(first)
    if not isinstance(value, numpy.ndarray):
        return None
    kind = g.one("sum sum mean max min any all element count std axis dot expression whole equal")
    if kind in ("max", "min") and not value.size:
        return None
    if kind == "element":
        if not value.size:
            return None
        key = ", ".join(str(g.chance.randrange(-length, length)) for length in value.shape)
        return f"log({first}[{key or '()'}])"
    if kind == "count":
        return f"log(np.count_nonzero({first}))"
    if kind == "axis":
        if not value.ndim:
            return None
        return f"near({first}.{g.one('sum mean')}({g.chance.randrange(value.ndim)}))"
    if kind == "dot":
        if value.ndim != 1:
            return None
        return f"near(np.dot({first}, {first}))"
    if kind == "expression":
        second = g.source(first, value)
        return f"near(({first} * 2 + {second}).{g.one('sum mean')}())"
    if kind == "equal":
        return f"log(np.array_equal({first}, {g.array()}))"
    if kind == "whole":
        return f"log({first})"
    if kind in ("sum", "mean", "std"):
        return f"near({first}.{kind}())"
    return f"log({first}.{kind}())"


def export(g):
    """An export that is held while the array is written."""
    name = g.array()
    array = g.names[name]
    if not isinstance(array, numpy.ndarray) or array.dtype.kind in NO_NUMBERS:
        return None
    result = g.fresh("e")
    if g.ranks > 1:
        # It is held, but what it shows after a write is not promised: `_` is not compared.
        return f"_{result} = numpy.asarray({name}); log(_{result}.copy())"
    kind = g.one("asarray asarray memoryview part dlpack")
    if kind == "dlpack":
        if array.dtype.char not in "bBhHiIlLdfFD":
            return None
        text = f"numpy.from_dlpack({name})"
    elif kind == "memoryview":
        if array.dtype.char not in "bBhHiIlLdf":
            return None
        text = f"memoryview({name})"
    else:
        text = f"numpy.asarray({name if kind == 'asarray' else g.part(name)})"
        if not isinstance(g.value(text), numpy.ndarray):
            return None
    g.exports.append(result)
    return f"{result} = {text}"


def through_export(g):
    """Reads or writes through an export, in one process."""
    if not g.exports:
        return None
    name = g.one(g.exports)
    if g.often(0.3):
        g.exports.remove(name)
        return f"del {name}"
    value = g.names[name]
    if isinstance(value, memoryview):
        return f"log(numpy.asarray({name}).copy())"
    if g.often(0.4) or not value.flags.writeable:
        return f"log({name}.copy())"
    key = g.part(name)
    return f"{key} = {g.scalar(value.dtype)}" if "[" in key else None


def iterate(g):
    """Elements of `flat` and of an array, one by one, around a write."""
    name = g.one(g.pool)
    array = g.names[name]
    if not isinstance(array, numpy.ndarray) or not array.size or array.dtype.kind not in "biufc":
        return None
    if not array.flags.writeable:
        return None
    if array.size > 20_000:
        return None  # one by one is slow
    kind = g.one("flat walk iterator")
    if kind == "iterator" and array.ndim == 1:
        return f"log([x for x in {name}[:20]])"
    if kind == "walk":
        return f"log([x for x in {name}.flat][:20])"
    return f"f = {name}.flat; x = next(f); {name}[...] = 3; log((x, f.index, *[y for y in f][:5]))"


def forget(g):
    if len(g.pool) < 4 or g.often(0.5):
        if not g.views:
            return None
        name = g.one(g.views)
        g.views.remove(name)
    else:
        name = g.one(g.pool)
        g.pool.remove(name)
        if name in g.indices:
            g.indices.remove(name)
    return f"del {name}"


STATEMENTS = [assign] * 6 + [in_place] * 5 + [into] * 5 + [by_mask] * 4 + [by_row_mask]
STATEMENTS += [by_index] * 4 + [copyto] * 3 + [place] * 2 + [put] * 2 + [put_along] + [at] * 2
STATEMENTS += [accumulate] * 3 + [reduce_into] * 2 + [take_into] * 2 + [other_into] * 2 + [sort] * 2
STATEMENTS += [flat] + [fill] + [loop] + [swap] + [make_view] * 5 + [compute] * 6 + [move] * 4
STATEMENTS += [in_memory_order] * 2 + [reduce_at]
STATEMENTS += [look] * 6 + [export] * 2 + [through_export] * 2 + [iterate] + [forget]
