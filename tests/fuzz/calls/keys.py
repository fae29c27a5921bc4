"""Indices of random calls: integers, slices, index arrays, masks and mixtures."""

BOUNDS = ["", "", *map(str, range(-7, 8))]
STEPS = ["", "", "2", "-1", "-2", "3"]
WRAPPED = ["{}", "np.array({}, {!r})", "numpy.array({}, {!r})", "lay(np.array({}, {!r}), 'cyclic')"]


class Keys:
    """Random indices of a `Call`."""

    def key(self):
        """A key of everything, for the first array."""
        items, axis, dots = [], 0, False
        while axis < self.first.ndim and self.chance.random() < 0.9:
            kind = self.one("part part number numbers numbers mask all new dots")
            if kind == "dots" and not dots:
                axis, dots = self.chance.randint(axis, self.first.ndim), True
                items.append("...")
            elif kind == "new":
                items.append("None")
            else:
                items.append(self.along(kind, self.first.shape[axis]))
                axis += 1
        items += ["0"] if self.rarely(0.02) else []
        return ", ".join(items) or self.chance.choice(["...", "()", "None", "True", "a == a"])

    def basic(self):
        """A key without arrays."""
        items = [self.one("part part number") for _ in self.first.shape]
        items = [self.along(kind, n) for kind, n in zip(items, self.first.shape, strict=True)]
        return ", ".join(items[: self.chance.randint(0, len(items))]) or "..."

    def along(self, kind, length):
        if kind == "number" and length:
            return str(self.chance.randrange(-length, length + self.rarely()))
        if kind == "numbers":
            return self.places(length)
        if kind == "mask":
            return self.truths((length + self.rarely(0.02),))
        return ":" if kind == "all" else self.part()

    def part(self):
        return ":".join(self.chance.choice(list) for list in (BOUNDS, BOUNDS, STEPS))

    def indices(self, said=""):
        """Numbers of elements: along an axis that is said, or of all."""
        axis, shape = int(said or 0), self.first.shape
        return self.places((shape[axis] if said and shape else self.first.size) or 0)

    def places(self, length):
        count = self.chance.choice([0, 1, 2, 3, 5, 9])
        high = length + self.rarely(0.02)
        least = -length if self.chance.random() < 0.5 else 0
        found = [self.chance.randrange(least, high) for _ in range(count if high > least else 0)]
        if len(found) in (2, 3) and self.chance.random() < 0.2:
            found = [found, found[::-1]]
        return self.wrapped(found, "l" if not found else self.one("l l b H"))

    def truths(self, shape):
        return self.wrapped([self.chance.random() < 0.5 for _ in range(shape[0])], "?")

    def wrapped(self, found, dtype):
        how = WRAPPED[1:] if not found else WRAPPED
        return self.chance.choice(how).format(found, dtype)
