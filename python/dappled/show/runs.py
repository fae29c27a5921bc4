"""Finding where a run ends in a bounded number of questions.

A run is a stretch of consecutive global indices that one rank holds in consecutive local
positions. Its end is found by doubling and bisection, never index by index. That is exact where
a rank's global indices ascend (block, cyclic and every view of them): two places k apart in both
the global and the local order have only consecutive ones between them. A table of labels has no
order, so there the bisection is followed by a bounded number of probes in between.
"""

from collections.abc import Callable

Follows = Callable[[int], bool]
Value = Callable[[int], tuple[int, ...] | None]

PROBES = 32  # asked between the ends of a run of labels


def furthest(follows: Follows, limit: int, guess: int = 0) -> int:
    """The largest k <= limit with `follows(k)`, which is true from 0 up to it.

    >>> furthest(lambda k: k <= 700, 10**9)
    700
    """
    if 0 < guess < limit and follows(guess) and not follows(guess + 1):
        return guess
    low, step = 0, 1
    while low + step <= limit and follows(low + step):
        low, step = low + step, step * 2
    high = min(low + step, limit + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if follows(middle) else (low, middle)
    return low


def _probed(follows: Follows, limit: int, guess: int) -> int:
    """As `furthest`, where `follows` may also be true again after it was false."""
    found = furthest(follows, limit, guess)
    between = range(1, found, max(1, found // PROBES))
    broken = next((k for k in between if not follows(k)), None)
    return found if broken is None else _probed(follows, broken - 1, 0)


def run_length(value: Value, limit: int, *, ordered: bool, guess: int = 1) -> int:
    """How many of `value(0), value(1), …` go on by one in the last place.

    Up; or up or down where there is no order. A right guess, such as the length of the run
    before, saves the search.
    """
    first = value(0)
    if first is None:
        return 1
    *head, last = first

    def goes(sign: int) -> Follows:
        return lambda k: value(k) == (*head, last + sign * k)

    if ordered:
        return 1 + furthest(goes(1), limit - 1, guess - 1)
    return 1 + max(_probed(goes(sign), limit - 1, guess - 1) for sign in (1, -1))
