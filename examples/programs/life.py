"""Conway's Game of Life on a torus: an R-pentomino and a random corner.

python life.py [size generations]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

size, generations = map(int, sys.argv[1:] or (160, 150))

np.random.seed(1970)
world = np.zeros((size, size), dtype=np.uint8)
world[: size // 3, : size // 3] = np.random.randint(0, 2, (size // 3, size // 3))
middle = size // 2
world[middle - 1 : middle + 2, middle - 1 : middle + 2] = [[0, 1, 1], [1, 1, 0], [0, 1, 0]]

population = []
for _ in range(generations):
    neighbours = sum(
        np.roll(world, (down, right), axis=(0, 1))
        for down in (-1, 0, 1)
        for right in (-1, 0, 1)
        if (down, right) != (0, 0)
    )
    world = ((neighbours == 3) | ((world == 1) & (neighbours == 2))).astype(np.uint8)
    population.append(np.count_nonzero(world))

print(f"alive: {population[-1]}, most {max(population)} in generation {np.argmax(population)}")
np.save("life.npy", world)
plt.imsave("life.png", world, cmap="gray_r")
