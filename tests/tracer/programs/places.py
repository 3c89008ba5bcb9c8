"""Calls MPI from lines whose ends name the routine, and how often a rank calls it there."""

import threading

import place_of_import

world = place_of_import.MPI.COMM_WORLD
right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size


def exchange(tag: int) -> bytearray:
    got = bytearray(3)
    request = world.Irecv(got, left, tag)  # Irecv 14
    world.Send(b"abc", right, tag)  # Send 14
    request.Wait()  # Wait 14
    return got


def exchange_twice(tag: int) -> None:
    for _ in range(2):
        exchange(tag)


for _ in range(2):
    exchange(1)
world.Barrier()  # Barrier 1
world.Barrier(), [world.Barrier() for _ in range(3)]  # Barrier 4
# Codes that come and go, one where the other was.
for line in range(3):
    exec(compile("\n" * line + "world.Barrier()", f"<é漢😀 {line}>", "exec"))
# Other threads compute meanwhile, and want the interpreter's lock.
threads = [threading.Thread(target=exchange_twice, args=(tag,)) for tag in range(2, 8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
try:
    raise ValueError
except ValueError:
    world.Barrier()  # Barrier 1
