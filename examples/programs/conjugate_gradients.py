"""Poisson's equation by matrix-free conjugate gradients.

python conjugate_gradients.py [size]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

size = int(sys.argv[1]) if sys.argv[1:] else 96


def negative_laplacian(u):
    result = 4 * u
    result[1:] -= u[:-1]
    result[:-1] -= u[1:]
    result[:, 1:] -= u[:, :-1]
    result[:, :-1] -= u[:, 1:]
    return result


x = np.linspace(0, 1, size)
charge = np.exp(-100 * ((x[:, None] - 0.3) ** 2 + (x - 0.3) ** 2))
charge -= np.exp(-100 * ((x[:, None] - 0.7) ** 2 + (x - 0.6) ** 2))

u = np.zeros_like(charge)
residual = charge - negative_laplacian(u)
direction = residual.copy()
square = np.vdot(residual, residual)
for iteration in range(10 * size):
    image = negative_laplacian(direction)
    length = square / np.vdot(direction, image)
    u += length * direction
    residual -= length * image
    new_square = np.vdot(residual, residual)
    if np.sqrt(new_square) < 1e-10:
        break
    direction = residual + new_square / square * direction
    square = new_square

error = np.linalg.norm(charge - negative_laplacian(u)) / np.linalg.norm(charge)
print(
    f"{iteration > size // 2 and error < 1e-9}: solved; lowest {u.min():.6f}, highest {u.max():.6f}"
)
np.save("conjugate_gradients.npy", u)
plt.imsave("conjugate_gradients.png", u, cmap="coolwarm")
