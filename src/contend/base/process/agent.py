"""Namespaces by the kernel's own calls, and the program that becomes a command within one.

Python has these calls only from version 3.12 on. This file is also a program by itself, which is
started once for every host of an emulated launch, so it loads nothing of contend:

    agent.py remote FOLDER [options of ssh] HOST WORD...    as ssh does: a shell reads the words
    agent.py on FOLDER NODE [COMMAND ...]                   the command itself; a shell for none
    agent.py bound FOLDER NODE COMMAND ...                  the same; ends with the process above
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import sys

_NEW_MOUNTS, _NEW_HOST_NAME, _NEW_NETWORK = 0x00020000, 0x04000000, 0x40000000
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 0x40000
_DETACH = 2
_PARENT_DEATH_SIGNAL = 1
# Options of ssh that are followed by a value.
_WITH_VALUE = "BbcDEeFIiJLlmOopQRSWw"
_FAILED = 125

_C = ctypes.CDLL(None, use_errno=True)


def new_network() -> int:
    """Makes a network namespace for this thread; the file descriptor that keeps it.

    Raises:
        OSError: without the right to, or in a kernel that has none.
    """
    _check(_C.unshare(_NEW_NETWORK))
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def enter_network(namespace: int) -> None:
    """Takes this thread into a network namespace.

    Raises:
        OSError: when that is refused.
    """
    _check(_C.setns(namespace, _NEW_NETWORK))


def end_with_parent(number: int = signal.SIGKILL) -> None:
    """Has this process get a signal when the thread that started it ends, however that ends."""
    _C.prctl(_PARENT_DEATH_SIGNAL, int(number))


def main(words: list[str]) -> None:
    """Becomes the command that the words give; does not return."""
    form, folder, *rest = words
    if form == "bound":
        parent = os.getppid()
        end_with_parent(signal.SIGTERM)
        if os.getppid() != parent:
            raise SystemExit(_FAILED)
    if form == "remote":
        rest = _without_options(rest)
    if not rest:
        raise SystemExit("usage: on NODE [COMMAND ...]")
    node, *command = rest
    _enter(folder, node)
    if form == "remote":
        command = ["/bin/sh", "-c", " ".join(command)]
    elif not command:
        command = [os.environ.get("SHELL", "/bin/sh")]
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        raise SystemExit(127 if isinstance(error, FileNotFoundError) else 126) from None


def _without_options(words: list[str]) -> list[str]:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if len(words[at]) == 2 and words[at][1] in _WITH_VALUE else 1
    return words[at:]


def _enter(folder: str, node: str) -> None:
    """The node's network, its name as host name, and its view of hosts and devices."""
    with open(os.path.join(folder, "state.json"), encoding="utf-8") as file:
        state = json.load(file)
    if node not in state["nodes"]:
        raise SystemExit(
            f"this emulated fabric has no node {node}; it has {', '.join(state['nodes'])}"
        )
    known = state["nodes"][node]
    try:
        namespace = os.open(f"/proc/{state['process']}/fd/{known['descriptor']}", os.O_RDONLY)
    except OSError:
        raise SystemExit("the emulated fabric is down") from None
    if os.fstat(namespace).st_ino != known["inode"]:
        raise SystemExit("the emulated fabric is down")
    try:
        enter_network(namespace)
        _check(_C.unshare(_NEW_MOUNTS | _NEW_HOST_NAME))
    except OSError as error:
        raise SystemExit(f"entering {node}: {error.strerror}") from None
    os.close(namespace)
    socket.sethostname(node)
    _mount("none", "/", "", _RECURSIVE | _PRIVATE)
    _mount(os.path.join(folder, "hosts"), "/etc/hosts", "", _BIND)
    # Nobody out there answers questions for names.
    _mount("/dev/null", "/etc/resolv.conf", "", _BIND)
    # A new view of devices, so that programs find this network's.
    _C.umount2(b"/sys", _DETACH)
    _mount("sysfs", "/sys", "sysfs", 0)


def _mount(source: str, target: str, kind: str, flags: int) -> None:
    # Within containers some of these are forbidden; most programs do without.
    _C.mount(os.fsencode(source), os.fsencode(target), kind.encode(), flags, None)


def _check(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    main(sys.argv[1:])
