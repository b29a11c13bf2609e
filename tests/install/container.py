"""Runs the image's root as a container would, with util-linux alone: user, read-only root, volume,
and namespaces for processes, mounts and the network.
"""

import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

UNSHARE = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
# $1 the root, $2 the volume, $3 the user and group; then the command.
INSIDE = """
set -e
ip link set lo up
mount --bind "$1" "$1"
mount -o remount,bind,ro "$1"
mount -t proc proc "$1/proc"
mount -t tmpfs tmpfs "$1/tmp"
mount --bind "$2" "$1/var/lib/tarry"
if [ -n "$4" ]; then mount --bind "$4" "$1/etc/ssl/certs/ca-certificates.crt"; fi
root=$1 user=$3
shift 4
exec setpriv --no-new-privs chroot --userspec="$user" --groups="" "$root" "$@"
"""


def possible():
    """Whether this machine lets us make namespaces, as root."""
    return os.getuid() == 0 and all(map(shutil.which, ("unshare", "setpriv", "ip"))) and \
        subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0


def read(archive):
    """The archive's blobs by path, its manifest and its image's configuration."""
    with tarfile.open(archive) as tar:
        blobs = {entry.name: tar.extractfile(entry).read() for entry in tar if entry.isreg()}
    index = json.loads(blobs["index.json"])
    manifest = json.loads(blob(blobs, index["manifests"][0]))
    return blobs, manifest, json.loads(blob(blobs, manifest["config"]))


def blob(blobs, described):
    return blobs["blobs/" + described["digest"].replace(":", "/")]


class Container:
    """One container. `flags` come after the image's command; `variables` are its environment's."""

    def __init__(self, root, config, volume, flags=(), variables=None, authorities=""):
        self.config = config
        self.log_file = tempfile.TemporaryFile("a+b")
        user = config["User"]
        os.chown(volume, *map(int, user.split(":")))
        environment = dict(word.split("=", 1) for word in config["Env"]) | (variables or {})
        self.environment = environment
        self.process = subprocess.Popen(
            [*UNSHARE, "sh", "-c", INSIDE, "sh", root, volume, user, authorities,
             *config["Entrypoint"], *config["Cmd"], *flags],
            env={**environment, "PATH": os.environ["PATH"]}, stdin=subprocess.DEVNULL,
            stdout=self.log_file, stderr=self.log_file, cwd="/")

    def init(self):
        """Its process 1, as seen from outside; None before there is one."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        try:
            pid, = children.read_text().split()
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]
        except (OSError, ValueError):
            return None
        return pid if command.decode() == self.config["Entrypoint"][0] else None

    def start(self, *words, **options):
        """Starts another command in the running container."""
        user, group = self.config["User"].split(":")
        return subprocess.Popen(
            ["nsenter", f"--target={self.init()}", "--mount", "--net", "--pid", "--root", "--wd",
             f"--setuid={user}", f"--setgid={group}", *words],
            env={**self.environment, "PATH": os.environ["PATH"]}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def run(self, *words):
        """(exit code, standard output, standard error) of another command in it."""
        process = self.start(*words)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def healthy(self):
        return self.run(*self.config["Healthcheck"]["Test"][1:])[0] == 0

    def wait_until_healthy(self):
        self._wait(lambda: self.init() and self.healthy(), "healthy")

    def wait_until_started(self):
        self._wait(lambda: self.init() and '"ready"' in self.log(), "ready")

    def _wait(self, happens, what):
        deadline = time.monotonic() + 60
        while not happens():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"not {what}: {self.log()}")

    def log(self):
        self.log_file.seek(0)
        return self.log_file.read().decode()

    def stop(self):
        """As a runtime stops it: SIGTERM to process 1. Answers its exit code."""
        pid = self.init()
        if pid:
            subprocess.run(["kill", "-TERM", pid], check=False)
        return self.process.wait(timeout=60)

    def close(self):
        # Process 1 has changed its user, so the end of its parent does not end it any more.
        if pid := self.init():
            subprocess.run(["kill", "-KILL", pid], check=False)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=60)
        self.log_file.close()
