"""The Mandelbrot set: the number of iterations until a point escapes.

python mandelbrot.py [size iterations]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

size, iterations = map(int, sys.argv[1:] or (200, 60))

x, y = np.meshgrid(np.linspace(-2.1, 0.7, size), np.linspace(-1.2, 1.2, size))
c = x + 1j * y
z = np.zeros_like(c)
steps = np.full(c.shape, iterations)

for i in range(iterations):
    inside = np.abs(z) <= 2
    z[inside] = z[inside] ** 2 + c[inside]
    steps[(np.abs(z) > 2) & (steps == iterations)] = i

print(f"in the set: {np.mean(steps == iterations):.6f} of the picture")
np.save("mandelbrot.npy", steps)
plt.imsave("mandelbrot.png", np.log(1 + steps), cmap="twilight")
