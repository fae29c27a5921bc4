"""Option prices by Monte Carlo simulation, compared with the Black-Scholes formula.

python options.py [paths days]
"""

import sys
from math import erf

import matplotlib.pyplot as plt
import numpy as np

paths, days = map(int, sys.argv[1:] or (4000, 50))
price, strike, rate, volatility, years = 100.0, 105.0, 0.02, 0.25, 1.0

rng = np.random.default_rng(1973)
step = years / days
noise = rng.standard_normal((paths, days))
growth = (rate - volatility**2 / 2) * step + volatility * np.sqrt(step) * noise
path = price * np.exp(np.cumsum(growth, axis=1))

discount = np.exp(-rate * years)
european = discount * np.maximum(path[:, -1] - strike, 0)
asian = discount * np.maximum(path.mean(axis=1) - strike, 0)
barrier = discount * np.where(path.max(axis=1) < 140, np.maximum(path[:, -1] - strike, 0), 0)

normal = np.vectorize(lambda x: 0.5 * (1 + erf(x / 2**0.5)))
spread = volatility * np.sqrt(years)
d1 = (np.log(price / strike) + (rate + volatility**2 / 2) * years) / spread
exact = price * normal(d1) - strike * discount * normal(d1 - spread)

print(f"formula {exact:.4f}")
for name, worth in [("european", european), ("asian", asian), ("barrier", barrier)]:
    print(f"{name} {worth.mean():.4f} ± {worth.std(ddof=1) / np.sqrt(paths):.4f}")
np.save("options.npy", np.stack([european, asian, barrier]))
counts, edges = np.histogram(path[:, -1], bins=60)
plt.stairs(counts, edges)
plt.plot(np.percentile(path, [5, 50, 95], axis=0).T)
plt.savefig("options.png")
