"""Flow around a cylinder by the lattice Boltzmann method (D2Q9, one relaxation time).

python boltzmann.py [width steps]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

width, steps = map(int, sys.argv[1:] or (120, 120))
height = width // 3
relaxation, speed = 0.55, 0.1

directions = np.array([(x, y) for x in (0, 1, -1) for y in (0, 1, -1)])
weights = np.array([4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 9, 1 / 36, 1 / 36])
opposite = [int(np.where((directions == -d).all(axis=1))[0][0]) for d in directions]

x, y = np.indices((width, height))
cylinder = (x - width // 5) ** 2 + (y - height / 2) ** 2 < (height / 7) ** 2


def equilibrium(density, flow):
    along = 3.0 * np.tensordot(directions, flow, axes=(1, 0))
    square = 1.5 * (flow**2).sum(axis=0)
    return density * weights[:, None, None] * (1 + along + 0.5 * along**2 - square)


flow = np.zeros((2, width, height))
flow[0] = speed * (1 + 1e-3 * np.sin(2 * np.pi * y / height))
inlet = flow[:, 0, :].copy()
populations = equilibrium(np.ones((width, height)), flow)

for _ in range(steps):
    density = populations.sum(axis=0)
    flow = np.einsum("ad,axy->dxy", directions, populations) / density
    flow[:, 0, :] = inlet
    collided = populations + (equilibrium(density, flow) - populations) / relaxation
    for i, j in enumerate(opposite):
        collided[i, cylinder] = populations[j, cylinder]
    for i, (right, up) in enumerate(directions):
        populations[i] = np.roll(collided[i], (right, up), axis=(0, 1))
    populations[:, -1, :] = populations[:, -2, :]

flow_speed = np.where(cylinder, np.nan, np.hypot(flow[0], flow[1]))
print(f"mean density {density.mean():.9f}, highest speed {np.nanmax(flow_speed):.6f}")
np.save("boltzmann.npy", flow_speed)
plt.imsave("boltzmann.png", flow_speed.T, cmap="viridis", vmin=0, vmax=2 * speed)
