"""What scripts/release makes of the build that the command line names, made once."""

import atexit
import functools
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1][:1] == "/" \
    else ROOT / "build" / "portable"


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, text=True,
                          capture_output=True).stdout


@functools.cache
def released():
    """The directory with its files."""
    directory = tempfile.TemporaryDirectory()
    atexit.register(directory.cleanup)
    out = Path(directory.name, "out")
    output(ROOT / "scripts" / "release", "--build", BUILD, "--out", out, "--image", "--fast")
    return out
