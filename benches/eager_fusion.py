"""Times chains of operations on small arrays: fused eagerly, operation by operation, and deferred.

python benches/eager_fusion.py [ROUNDS]

Eager fusion reads the caller's bytecode to learn whether a result is only an operand of the next
operation (`DAPPLED_FUSE_FROM`). This benchmark shows its gain over the two alternatives: eager
operations, whose temporaries reuse memory that is in the cache, and deferred nodes. The settings
take turns, each in a new process, and the shortest time counts. The table has microseconds.
"""

import json
import os
import subprocess
import sys
import timeit

SIZES = [100, 500, 1000, 2000, 4000, 8000, 16_000]
CHAINS = {
    "a * b + c": 2,
    "(a - b) * (a + b) / c": 4,
    "a * b + c * 2.0 - np.sqrt(np.abs(a))": 6,
}
NEVER = str(1 << 40)
SETTINGS = {
    "NumPy": None,
    "fused": {"DAPPLED_FUSE_FROM": "1"},
    "eager": {"DAPPLED_FUSE_FROM": NEVER},
    "deferred": {"DAPPLED_FUSE_FROM": NEVER, "DAPPLED_EAGER_MAX": "0"},
}


def measure(library: str) -> None:
    """Prints the seconds of each chain and size as JSON."""
    import importlib

    np = importlib.import_module(library)
    table = []
    for size in SIZES:
        names = {name: np.random.default_rng(seed).random(size) for seed, name in enumerate("abc")}
        for chain in CHAINS:
            # An element is read, so that a deferred chain is evaluated.
            timer = timeit.Timer(f"({chain})[0]", globals={"np": np, **names})
            count = max(20, int(2e-3 / max(timer.timeit(20) / 20, 1e-7)))
            table.append(min(timer.repeat(15, count)) / count)
    print(json.dumps(table))


def run(setting: str) -> list[float]:
    variables = SETTINGS[setting]
    library = "numpy" if variables is None else "dappled"
    command = [sys.executable, __file__, "--measure", library]
    environment = {**os.environ, **(variables or {})}
    output = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return [float(seconds) for seconds in json.loads(output.stdout)]


def main(rounds: int) -> None:
    best = {setting: [float("inf")] * len(SIZES) * len(CHAINS) for setting in SETTINGS}
    for _ in range(rounds):
        for setting in SETTINGS:
            best[setting] = [min(pair) for pair in zip(best[setting], run(setting), strict=True)]
    print("| elements | chain |", " | ".join(SETTINGS), "|")
    print("|---|---|" + "---|" * len(SETTINGS))
    rows = [(size, chain) for size in SIZES for chain in CHAINS]
    for at, (size, chain) in enumerate(rows):
        cells = " | ".join(f"{best[setting][at] * 1e6:.2f}" for setting in SETTINGS)
        print(f"| {size:,} | `{chain}` | {cells} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2])
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 3)
