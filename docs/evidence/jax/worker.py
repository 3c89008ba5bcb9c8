"""One process of JAX on an emulated adapter: times collectives among those of its rail."""

import json
import sys
import time
from pathlib import Path

import jax
import numpy as np

folder, rank = Path(sys.argv[1]), int(sys.argv[2])
collectives, sizes, repeats, servers, rails = json.loads(sys.argv[3])
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_cpu_collectives_implementation", "gloo")
# The first process is on the first adapter. What it coordinates stays on the management network.
jax.distributed.initialize("10.2.0.1:7400", servers * rails, rank)

from jax import lax, shard_map  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

mesh = Mesh(np.array(jax.devices()).reshape(servers, rails), ("server", "rail"))
spread = PartitionSpec("server", "rail", None)


def all_reduce(own):
    """The sum over a rail."""
    return lax.psum(own, "server")


def all_to_all(own):
    """A part for each server."""
    return lax.all_to_all(own, "server", split_axis=2, concat_axis=2, tiled=True)


def everyone(own):
    """The sum over all processes: nobody has it before all have begun."""
    return lax.psum(own, ("server", "rail"))


def compiled(work, out):
    """A collective over the mesh."""
    return jax.jit(shard_map(work, mesh=mesh, in_specs=spread, out_specs=out, check_vma=False))


def array(size):
    """As many bytes on every process."""
    sharding = NamedSharding(mesh, spread)
    local = np.ones((1, 1, size // 4), dtype=np.float32)
    return jax.make_array_from_process_local_data(sharding, local)


of_rail = PartitionSpec(None, "rail", None)
works = {"all-reduce": compiled(all_reduce, of_rail), "all-to-all": compiled(all_to_all, spread)}
together, token = compiled(everyone, PartitionSpec(None, None, None)), array(64)
times = []
for collective in collectives:
    for size in sizes:
        data = array(size)
        for repeat in range(-1, repeats):
            together(token).block_until_ready()
            began = time.monotonic()
            works[collective](data).block_until_ready()
            # The first compiles, and opens connections.
            if repeat >= 0:
                times.append((collective, size, repeat, began, time.monotonic()))
partial = folder / f"{rank:02}.part"
partial.write_text(json.dumps(times))
partial.rename(folder / f"{rank:02}.json")
