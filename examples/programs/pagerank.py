"""PageRank of a random graph by power iteration.

python pagerank.py [pages links]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

pages, links = map(int, sys.argv[1:] or (400, 3000))
damping = 0.85

rng = np.random.default_rng(1998)
source = rng.integers(0, pages, links)
target = (pages * rng.random(links) ** 3).astype(int)  # few pages have most of the links

matrix = np.zeros((pages, pages))
np.add.at(matrix, (target, source), 1.0)
out_links = matrix.sum(axis=0)
matrix = np.where(out_links > 0, matrix / np.where(out_links > 0, out_links, 1), 1 / pages)

rank = np.full(pages, 1 / pages)
for iteration in range(200):
    new = damping * (matrix @ rank) + (1 - damping) / pages
    change = np.abs(new - rank).sum()
    rank = new
    if change < 1e-12:
        break

best = np.argsort(-rank, kind="stable")[:5]
print(f"{iteration} iterations; total {rank.sum():.12f}")
for page in best:
    print(f"page {page}: {rank[page]:.8f}")
np.save("pagerank.npy", rank)
plt.loglog(np.arange(1, pages + 1), np.sort(rank)[::-1])
plt.savefig("pagerank.png")
