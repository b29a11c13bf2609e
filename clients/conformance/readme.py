"""A client's README as a newcomer follows it: its program runs as it stands."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python/src"))

from tarry.testing import Server  # noqa: E402


def program(readme, name):
    """The README's block of code after `<!-- NAME -->`."""
    text = Path(readme).read_text(encoding="utf-8")
    block, = re.findall(rf"<!-- {re.escape(name)} -->\n+```\w+\n(.*?)```", text, re.DOTALL)
    return block


def said(readme, name, *commands, folder=None, **variables):
    """Writes the program to the file NAME and runs the commands there, beside a server; what they
    said. The last one is the worker: it ends after it has closed an order, by SIGINT."""
    with tempfile.TemporaryDirectory() as made, Server(clock=False) as server:
        place = Path(folder or made)
        (place / name).write_text(program(readme, name), encoding="utf-8")
        how = {"cwd": place, "env": {**os.environ, "TARRY_URL": server.url, **variables},
               "stdin": subprocess.DEVNULL, "text": True, "stdout": subprocess.PIPE}
        lines = []
        for command in commands[:-1]:
            done = subprocess.run(command, **how, timeout=100, check=True)
            lines += done.stdout.splitlines()
        with subprocess.Popen(commands[-1], **how) as worker:
            late = threading.Timer(60, worker.kill)
            late.start()
            for line in worker.stdout:
                lines.append(line.rstrip("\n"))
                if line.startswith("closed"):
                    break
            worker.send_signal(signal.SIGINT)
            lines += worker.stdout.read().splitlines()
            late.cancel()
        return lines
