"""One process on two threads beside two ranks of one thread: `python benches/ranks.py`.

Large arrays lie in pieces on the ranks and are to cost no more; small ones are whole on each, and
an operation is to cost what it costs one process: there each rank is timed for itself and the least
is taken, as cores differ. The best of several runs, taken in turn.
"""

from launches import beside


def laplace(np):
    u = np.zeros((4000, 4000))
    u[0] = 1

    def turn():
        for _ in range(10):
            u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
        u._compute()

    return turn, 10


def chain(np):
    a, b, c = (np.linspace(-0.5, 0.5, 50_000_000) + k for k in range(3))

    def turn():
        (a * b + c * 2.0 - np.sqrt(np.abs(a)))._compute()

    return turn, 1


# Many: at their end is a barrier, which takes milliseconds if a rank has gone to sleep.
SMALL = 100_000


def small(work):
    def prepared(np):
        a, b = np.arange(100.0), np.ones(100)

        def turn():
            for _ in range(SMALL):
                work(np, a, b)

        return turn, SMALL

    return prepared


WORKLOADS = {
    "laplace 4000 x 4000, an iteration": (laplace, 1e3, "ms"),
    "a*b + c*2.0 - sqrt(abs(a)), 5e7": (chain, 1e3, "ms"),
    "a + b, 100 elements": (small(lambda np, a, b: a + b), 1e6, "us"),
    "a.sum(), 100 elements": (small(lambda np, a, b: a.sum()), 1e6, "us"),
    "a[1] = 2.0, 100 elements": (small(lambda np, a, b: a.__setitem__(1, 2.0)), 1e6, "us"),
    "np.where(a > 3, a, b), 100": (small(lambda np, a, b: np.where(a > 3, a, b)), 1e6, "us"),
}


if __name__ == "__main__":
    beside(__file__, WORKLOADS)
