"""A rabbitmq-server of a test's own: in a fresh directory, on free ports of 127.0.0.1, with an epmd
of its own and no plugins; made to be killed and started again on what it had.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

# Debian's, which another Python than Debian's does not find.
sys.path.append("/usr/lib/python3/dist-packages")
import pika  # noqa: E402
from ports import free_port  # noqa: E402

PROGRAM = "/usr/lib/rabbitmq/bin/rabbitmq-server"
CONTROL = "/usr/lib/rabbitmq/bin/rabbitmqctl"
# A fresh one is up within 10 s; rarely, on a busy machine, one stands still while it starts.
START_SECONDS = 60
STARTS = 3


class RabbitServer:
    """Server, epmd and a shell that guards them run in one process group and end with it. The
    shell kills the group when the pipe to the test closes: a test that is killed leaves none.
    """

    def __init__(self, config="", erl=""):
        """`config`: lines of its rabbitmq.conf; `erl`: words for the Erlang VM: "-rabbit x 1"."""
        self.path = Path(tempfile.mkdtemp(prefix="tarry-rabbit-"))
        (self.path / "plugins").write_text("[].\n")
        (self.path / "rabbit.conf").write_text(config)
        self.port = free_port()
        epmd = free_port()
        self._command = (f"epmd -address 127.0.0.1 -port {epmd} & ({PROGRAM}; kill -KILL 0) & "
                         "read end; kill -KILL 0")
        self._environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(self.path),
            "RABBITMQ_NODENAME": f"tarry-{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "ERL_EPMD_PORT": str(epmd),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_MNESIA_BASE": f"{self.path}/mnesia",
            "RABBITMQ_LOG_BASE": f"{self.path}/log",
            "RABBITMQ_GENERATED_CONFIG_DIR": f"{self.path}/generated",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{self.path}/plugins",
            "RABBITMQ_CONFIG_FILE": f"{self.path}/rabbit",
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": f"+sbwt none {erl}"}
        self._process = None
        self._reader = None
        self._up = threading.Event()
        self.running = threading.Event()  # from the end of `start` until `shoot`
        self._has_data = False

    @property
    def group(self):
        """The process group of all that runs."""
        return self._process.pid

    def control(self, *words):
        """rabbitmqctl on it; what it prints."""
        return subprocess.run(
            [CONTROL, "-n", self._environment["RABBITMQ_NODENAME"], *words], check=True, text=True,
            env=self._environment, stdin=subprocess.DEVNULL, capture_output=True).stdout

    def _read(self, pipe):
        """To its end, or it would stand still once the pipe is full."""
        with open(self.path / "output", "ab") as log:
            for line in pipe:
                log.write(line)
                log.flush()
                if b"Server startup complete" in line:
                    self._up.set()
        self._up.set()

    def start(self):
        """Returns once it takes connections."""
        for _ in range(STARTS):
            if self._start_once():
                self._has_data = True
                self.running.set()
                return
            self.shoot()
            if not self._has_data:
                shutil.rmtree(self.path / "mnesia", ignore_errors=True)
        log = (self.path / "output").read_text()
        raise AssertionError(f"rabbitmq-server does not start, {STARTS} times tried: {log}")

    def _start_once(self):
        self._up.clear()
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", self._command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=self._environment, start_new_session=True)
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,))
        self._reader.start()
        return self._up.wait(START_SECONDS) and self._process.poll() is None

    def shoot(self):
        """SIGKILL, and waits until nothing of it is left."""
        if self._process is None:
            return
        self.running.clear()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join()
        self._process.stdout.close()
        self._process.stdin.close()
        self._process = None

    def close(self):
        self.shoot()
        shutil.rmtree(self.path, ignore_errors=True)

    def connect(self):
        """Of pika's; without heartbeats, which it serves only while it is asked something."""
        return pika.BlockingConnection(pika.ConnectionParameters(
            "127.0.0.1", self.port, heartbeat=0))
