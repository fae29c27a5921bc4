"""Two-dimensional turbulence: pseudo-spectral Navier-Stokes in vorticity form.

python navier_stokes.py [size steps]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

size, steps = map(int, sys.argv[1:] or (64, 100))
viscosity, step = 1e-3, 5e-3

k = np.fft.fftfreq(size, 1 / size)
kx, ky = np.meshgrid(k, k, indexing="ij")
k2 = kx**2 + ky**2
inverse = 1 / np.where(k2 == 0, 1, k2)
kept = (np.abs(kx) < size / 3) & (np.abs(ky) < size / 3)  # the two-thirds rule

rng = np.random.default_rng(1941)
vorticity = np.fft.fft2(rng.standard_normal((size, size))) * np.exp(-((np.sqrt(k2) - 6) ** 2) / 4)
vorticity[0, 0] = 0


def advection(vorticity):
    stream = vorticity * inverse
    u, v = np.fft.ifft2(1j * ky * stream).real, -np.fft.ifft2(1j * kx * stream).real
    slope_x, slope_y = (
        np.fft.ifft2(1j * kx * vorticity).real,
        np.fft.ifft2(1j * ky * vorticity).real,
    )
    return -np.fft.fft2(u * slope_x + v * slope_y) * kept


decay = np.exp(-viscosity * k2 * step)
for _ in range(steps):
    middle = (vorticity + 0.5 * step * advection(vorticity)) * np.sqrt(decay)
    vorticity = vorticity * decay + step * advection(middle) * np.sqrt(decay)

field = np.fft.ifft2(vorticity).real
print(f"enstrophy {np.mean(field**2):.9f}, energy {np.sum(np.abs(vorticity) ** 2 * inverse):.6e}")
np.save("navier_stokes.npy", field)
plt.imsave("navier_stokes.png", field, cmap="RdBu")
