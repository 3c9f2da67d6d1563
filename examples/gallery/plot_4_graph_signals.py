r"""
Filter a signal on a graph
==========================

Heat is a low-pass filter: e\ :sup:`-sL` multiplies the graph's frequency λ by e\ :sup:`-sλ`. A
smooth signal on a sensor network is measured with noise; diffusion takes most of the noise away.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import kneighbors_graph

from graphheat import HeatKernel

random = np.random.default_rng(0)
places = random.random((600, 2))
joined = kneighbors_graph(places, 8)
A = joined.maximum(joined.T)
smooth = np.sin(3 * places[:, 0]) * np.cos(4 * places[:, 1])
noisy = smooth + 0.4 * random.standard_normal(600)

# %%
# Division by the square root of the degree turns the normalised Laplacian's smooth signals, which
# are larger where degrees are, into those that are smooth as numbers.

root = np.sqrt(np.asarray(A.sum(axis=1)).ravel())
times = np.array([0.0, 0.5, 1, 2, 4, 8, 16, 32])
swept = HeatKernel(A, s=3.0).sweep((noisy * root)[:, None], times)[:, :, 0] / root
errors = np.sqrt(np.mean((swept - smooth) ** 2, axis=1))
for s, error in zip(times, errors, strict=True):
    print(f"s = {s:4.1f}: root mean square error {error:.3f}")

# %%
# Little heat leaves noise, much heat flattens the signal; in between is what was wanted.

best = int(errors.argmin())
fig, axes = plt.subplots(1, 3, figsize=(10, 3.3), layout="constrained", sharey=True)
for ax, values, title in zip(
    axes, (smooth, noisy, swept[best]), ("signal", "measured", f"s = {times[best]:g}"), strict=True
):
    shown = ax.scatter(*places.T, c=values, s=9, cmap="coolwarm", vmin=-1.4, vmax=1.4)
    ax.set(title=title, xticks=[], yticks=[])
fig.colorbar(shown, ax=axes)

# %%
# A single row is local: it costs as much as the heat reaches, whatever the size of the graph.

row = HeatKernel(A, s=3.0, tol=1e-6).row(0, eps=1e-4)
print(f"{row.nnz} of 600 nodes are reached")
