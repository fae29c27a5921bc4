"""k-means clustering by Lloyd's algorithm.

python kmeans.py [points clusters]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

count, clusters = map(int, sys.argv[1:] or (3000, 5))

rng = np.random.default_rng(7)
true_centres = rng.uniform(-10, 10, (clusters, 2))
points = true_centres[rng.integers(clusters, size=count)] + rng.normal(size=(count, 2))

centres = points[:clusters].copy()
for iteration in range(100):
    distance = np.linalg.norm(points[:, None, :] - centres[None, :, :], axis=2)
    nearest = np.argmin(distance, axis=1)
    sizes = np.bincount(nearest, minlength=clusters)
    sums = np.zeros_like(centres)
    np.add.at(sums, nearest, points)
    moved = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
    if np.allclose(moved, centres):
        break
    centres = moved

order = np.lexsort(centres.T)
print(f"{iteration} iterations, sizes {sizes[order].tolist()}")
print(np.array2string(centres[order], precision=4))
np.save("kmeans.npy", centres[order])
plt.scatter(points[:, 0], points[:, 1], c=nearest, s=3)
plt.plot(centres[:, 0], centres[:, 1], "k+", markersize=12)
plt.savefig("kmeans.png")
