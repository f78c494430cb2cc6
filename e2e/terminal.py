"""Run a program in a terminal until it prints a text."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

ROWS, COLUMNS = 40, 120


def run_in_terminal(command, folder, environment, last, timeout):
    """Start `command`, wait until it has printed `last`, and end it."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execve(command[0], command, environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    printed, deadline = b"", time.time() + timeout
    try:
        while last.encode() not in printed:
            if time.time() > deadline:
                raise subprocess.TimeoutExpired(command, timeout)
            if select.select([terminal], [], [], 1)[0]:
                printed += os.read(terminal, 65536)
    except OSError:
        # The program has ended.
        pass
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)
    code = 0 if last.encode() in printed else 1
    return subprocess.CompletedProcess(command, code, printed.decode(errors="replace"), "")
