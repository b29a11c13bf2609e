"""What the processes do that a benchmark starts."""

import ctypes
import signal


def die_with_parent():
    """Runs in the program before it begins. If the script is killed, the program ends too, and its
    servers with it."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
