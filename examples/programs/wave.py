"""The wave equation with absorbing boundaries: a drop in a basin.

python wave.py [size steps]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

size, steps = map(int, sys.argv[1:] or (200, 200))
courant = 0.25  # (speed * time step / cell)**2

x = np.arange(size) - size / 3
height = 2 * np.exp(-(x[:, np.newaxis] ** 2 + x**2) / 30)
previous = height.copy()

edge = np.minimum(np.arange(size), np.arange(size)[::-1])
damping = np.clip(edge / 20, 0.8, 1.0)
damping = np.minimum.outer(damping, damping)

for _ in range(steps):
    laplacian = -4 * height
    for axis, shift in [(0, 1), (0, -1), (1, 1), (1, -1)]:
        laplacian += np.roll(height, shift, axis=axis)
    height, previous = (2 * height - previous + courant * laplacian) * damping, height

energy = np.sum((height - previous) ** 2)
print(f"energy {energy:.9f}, from {height.min():.9f} to {height.max():.9f}")
np.save("wave.npy", height)
plt.imsave("wave.png", height, cmap="RdBu", vmin=-0.3, vmax=0.3)
