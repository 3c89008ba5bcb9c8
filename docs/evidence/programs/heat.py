"""Heat that spreads over a square, with mpi4py: rows by ranks, edges exchanged in every step."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

SIDE, STEPS, LOOK_EVERY = 512, 200, 20

world = MPI.COMM_WORLD
line = world.Create_cart([world.size])
above, below = line.Shift(0, 1)
rows = SIDE // world.size
heat = np.zeros((rows + 2, SIDE))
heat[:, 0] = 1.0
change = np.zeros(1)
for step in range(STEPS):
    line.Sendrecv(heat[1], dest=above, recvbuf=heat[rows + 1], source=below)
    line.Sendrecv(heat[rows], dest=below, recvbuf=heat[0], source=above)
    middle = heat[1:-1, 1:-1]
    spread = (heat[:-2, 1:-1] + heat[2:, 1:-1] + heat[1:-1, :-2] + heat[1:-1, 2:]) / 4
    own = np.abs(spread - middle).max(keepdims=True).reshape(1)
    middle[:] = spread
    if step % LOOK_EVERY == 0:
        line.Allreduce(own, change, op=MPI.MAX)
whole = line.reduce(heat[1:-1].sum())
if whole is not None:
    print(f"{whole:.6f} after {STEPS} steps, last change {change[0]:.3e}")
