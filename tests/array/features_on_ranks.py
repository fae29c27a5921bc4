"""Runs on every rank: what is new where there are several, each thing in one function."""

import dappled as np
import features_beyond
import features_items
import features_kept
import features_orders
import features_piecewise
import features_places
import features_ranks
import features_signals

FAMILIES = [
    features_piecewise,
    features_signals,
    features_ranks,
    features_places,
    features_items,
    features_orders,
    features_kept,
    features_beyond,
]


def main():
    named = [item for family in FAMILIES for item in vars(family).items()]
    for name, test in [item for item in named if item[0].startswith("test_")]:
        np.config.fallback = "quiet"
        test()
        np.sync()
        if np.comm.rank == 0:
            print(name)


if __name__ == "__main__":
    main()
