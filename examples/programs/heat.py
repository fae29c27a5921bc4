"""The heat equation by explicit time steps: a plate with two hot spots.

python heat.py [size steps]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

size, steps = map(int, sys.argv[1:] or (200, 300))
alpha = 0.2

x, y = np.meshgrid(np.linspace(0, 1, size), np.linspace(0, 1, size))
u = np.zeros((size, size))
u[(x - 0.3) ** 2 + (y - 0.4) ** 2 < 0.02] = 1.0
u[(x - 0.7) ** 2 + (y - 0.6) ** 2 < 0.01] = 2.0
before = u.sum()

for _ in range(steps):
    laplacian = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    u[1:-1, 1:-1] += alpha * laplacian

print(f"hottest {u.max():.6f}, heat kept {u.sum() / before:.6f}")
np.save("heat.npy", u)
plt.imsave("heat.png", u, cmap="inferno")
