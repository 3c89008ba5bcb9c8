"""What mpi4py's programs contain: arrays, objects, all-to-alls, windows, attributes, threads."""

import os
import threading

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size


def say(*words: object) -> None:
    # In one piece, as other ranks write too.
    os.write(1, f"{rank}: {' '.join(map(str, words))}\n".encode())


given = numpy.arange(size * 4, dtype="i4") + 100 * rank
got = numpy.zeros_like(given)
world.Alltoall(given, got)
say("Alltoall", got.tolist())
world.Alltoall(MPI.IN_PLACE, got)
say("in place", got.tolist())
counts, places = [3] * size, [4 * at for at in range(size)]
world.Alltoallv([given, counts, places, MPI.INT], [got, counts, places, MPI.INT])
say("Alltoallv", got.tolist())
world.Ialltoall(given, got).Wait()
say("Ialltoall", got.tolist())
types, bytes_ = [MPI.INT] * size, [16 * at for at in range(size)]
world.Alltoallw([given, counts, bytes_, types], [got, counts, bytes_, types])
say("Alltoallw", got.tolist())
say("objects", world.alltoall([{"from": rank, "to": other} for other in range(size)]))
say("gathered", world.allgather("x" * rank), world.allreduce(rank, op=MPI.MAX))
request = world.isend([rank, "object"], dest=(rank + 1) % size, tag=3)
say("received", world.recv(source=(rank - 1) % size, tag=3))
request.wait()
message = world.isend(b"matched", dest=(rank + 1) % size, tag=4)
say("matched", world.mprobe(source=(rank - 1) % size, tag=4).recv())
message.wait()
later, request = world.Idup()
request.Wait()
later.Barrier()
key = MPI.Comm.Create_keyval(copy_fn=lambda comm, key, value: value + 1)
later.Set_attr(key, 41)
twin = later.Dup()
say("attribute", twin.Get_attr(key))
grid = world.Create_cart([size], periods=[True])
near = numpy.zeros(2, dtype="i4")
grid.Neighbor_allgather(numpy.array([rank], dtype="i4"), near)
say("neighbours", near.tolist())
# Of 8 bytes MPICH 4.0 takes two ranks' memory for one.
window = MPI.Win.Allocate(64, comm=world)
window.Fence()
put = numpy.array([rank], dtype="i8")
window.Put(put, (rank + 1) % size)
window.Fence()
say("window", int.from_bytes(window.tomemory()[:8].tobytes(), "little"))
window.Free()
world.Set_errhandler(MPI.ERRORS_RETURN)
try:
    world.Send(given, dest=size + 7)
except MPI.Exception as error:
    say("raised", error.Get_error_class() == MPI.ERR_RANK)


def exchange(comm: MPI.Comm, own: int, kept: list[object]) -> None:
    mine, theirs = numpy.full(size, own + rank), numpy.zeros(size, dtype=int)
    for _ in range(10):
        comm.Alltoall(mine, theirs)
    kept[own] = theirs.tolist()


comms = [world.Dup() for _ in range(2)]
kept: list[object] = [None, None]
threads = [
    threading.Thread(target=exchange, args=(comm, own, kept)) for own, comm in enumerate(comms)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
say("threads", kept)
for comm in (twin, later, grid, *comms):
    comm.Free()
