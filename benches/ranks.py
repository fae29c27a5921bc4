"""One process with two threads compared with two ranks: `python benches/ranks.py`.

Large arrays are distributed, and should cost no more than in one process. Small arrays are
replicated, and an operation should cost the same: each rank is timed separately, and the minimum is
taken, because cores differ. Each figure is the best of several alternating runs.
"""

from rank_comparison import compare


def laplace(np):
    u = np.zeros((4000, 4000))
    u[0] = 1

    def run_round():
        for _ in range(10):
            u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
        u._compute()

    return run_round, 10


def chain(np):
    a, b, c = (np.linspace(-0.5, 0.5, 50_000_000) + k for k in range(3))

    def run_round():
        (a * b + c * 2.0 - np.sqrt(np.abs(a)))._compute()

    return run_round, 1


# Many repeats: the barrier at the end takes milliseconds if a rank has gone to sleep.
REPEATS = 100_000


def small(work):
    def prepare(np):
        a, b = np.arange(100.0), np.ones(100)

        def run_round():
            for _ in range(REPEATS):
                work(np, a, b)

        return run_round, REPEATS

    return prepare


WORKLOADS = {
    "laplace 4000 x 4000, one iteration": (laplace, 1e3, "ms"),
    "a*b + c*2.0 - sqrt(abs(a)), 5e7": (chain, 1e3, "ms"),
    "a + b, 100 elements": (small(lambda np, a, b: a + b), 1e6, "us"),
    "a.sum(), 100 elements": (small(lambda np, a, b: a.sum()), 1e6, "us"),
    "a[1] = 2.0, 100 elements": (small(lambda np, a, b: a.__setitem__(1, 2.0)), 1e6, "us"),
    "np.where(a > 3, a, b), 100": (small(lambda np, a, b: np.where(a > 3, a, b)), 1e6, "us"),
}


if __name__ == "__main__":
    compare(__file__, WORKLOADS)
