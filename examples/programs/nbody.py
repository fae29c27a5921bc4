"""Gravitational N-body simulation: all pairs by broadcasting, leapfrog integration.

python nbody.py [stars steps]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

stars, steps = map(int, sys.argv[1:] or (150, 60))
step, softening = 0.002, 0.05

rng = np.random.default_rng(2061)
mass = rng.uniform(0.5, 1.5, stars) / stars
position = rng.normal(size=(stars, 3)) * [1.0, 1.0, 0.1]
velocity = np.cross([0.0, 0.0, 0.8], position)
velocity -= np.average(velocity, axis=0, weights=mass)


def acceleration():
    apart = position[np.newaxis, :, :] - position[:, np.newaxis, :]
    distance2 = (apart**2).sum(axis=2) + softening**2
    return (apart * (mass / distance2**1.5)[:, :, np.newaxis]).sum(axis=1)


def energy():
    apart = position[np.newaxis, :, :] - position[:, np.newaxis, :]
    distance = np.sqrt((apart**2).sum(axis=2) + softening**2)
    pairs = np.triu(np.outer(mass, mass) / distance, k=1).sum()
    return 0.5 * (mass * (velocity**2).sum(axis=1)).sum() - pairs


start = energy()
force = acceleration()
for _ in range(steps):
    velocity += 0.5 * step * force
    position += step * velocity
    force = acceleration()
    velocity += 0.5 * step * force

print(f"energy {start:.9f}, drift {abs(energy() - start):.1e}")
print(f"momentum {np.linalg.norm((mass[:, None] * velocity).sum(axis=0)):.1e}")
np.save("nbody.npy", position)
plt.scatter(position[:, 0], position[:, 1], s=2000 * mass, c=position[:, 2])
plt.savefig("nbody.png")
