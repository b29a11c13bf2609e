"""A small file system for tests that fill it: ext4 in a file that a loop device mounts or, if that
is not permitted, a tmpfs of the same size.

It is mounted in a private namespace, which a helper process holds open. The helper ends when we
end, in whatever way; then the mount is gone and the loop device is free. Until then all processes
reach it by the helper's /proc/PID/root.
"""

import errno
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

SIZE = 64 << 20
FAILURE_SECONDS = 60
SBIN = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
HOLD = 'mount "$@" && echo mounted && exec cat'
ATTEMPTS = (  # (what it is, how the namespace is made, only for root)
    ("ext4 on a loop device", ("unshare", "-m"), True),
    ("tmpfs", ("unshare", "-m"), True),
    ("tmpfs in a user namespace", ("unshare", "-rm"), False),
)


class NoDisk(Exception):
    """No disk can be made here; the text says why."""


class SmallDisk:
    def __init__(self, size=SIZE, parent=None):
        self._size = size
        self._holder = None
        self._base = Path(tempfile.mkdtemp(prefix="tarry-disk-", dir=parent))
        (self._base / "mnt").mkdir()
        reasons = []
        for kind, namespace, by_root in ATTEMPTS:
            if by_root and os.geteuid() != 0:
                reasons.append(f"{kind}: not root")
                continue
            try:
                self._mount(kind, namespace)
                self.kind = kind
                return
            except (OSError, subprocess.SubprocessError, NoDisk) as error:
                reasons.append(f"{kind}: {error}")
        self.close()
        raise NoDisk("; ".join(reasons))

    def _mount(self, kind, namespace):
        if kind.startswith("tmpfs"):
            what = ["-t", "tmpfs", "-o", f"size={self._size},mode=0755", "none"]
        else:
            image = self._base / "image"
            with open(image, "wb") as file:
                file.truncate(self._size)
            # No blocks are kept for root, because root may be the user that fills the disk.
            made = subprocess.run(
                [shutil.which("mkfs.ext4", path=SBIN) or "mkfs.ext4", "-q", "-F", "-m", "0", image],
                capture_output=True, timeout=FAILURE_SECONDS, check=False)
            if made.returncode != 0:
                raise NoDisk(made.stderr.decode("utf-8", "replace").strip())
            what = ["-t", "ext4", "-o", "loop", str(image)]
        self._holder = subprocess.Popen([*namespace, "sh", "-c", HOLD, "sh", *what,
                                         str(self._base / "mnt")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said = self._holder.stdout.readline()
        if said != b"mounted\n":
            reason = self._holder.stderr.read().decode("utf-8", "replace").strip()
            self._let_go()
            raise NoDisk(reason)
        self.path = Path(f"/proc/{self._holder.pid}/root{self._base}/mnt")

    def left(self):
        """The number of bytes that may still be written."""
        figures = os.statvfs(self.path)
        return figures.f_bavail * figures.f_frsize

    def fill(self, leave=0):
        """Makes a foreign file that takes all free space except `leave` bytes. May be called
        again."""
        with open(self.path / "foreign", "ab") as file:
            piece = 1 << 20
            while piece >= 512:
                if self.left() < leave + piece:
                    if leave > 0:
                        piece //= 2
                        continue
                try:
                    os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), piece)
                    file.truncate(file.seek(0, os.SEEK_END))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    piece //= 2

    def free(self):
        (self.path / "foreign").unlink(missing_ok=True)

    def _let_go(self):
        if self._holder is None:
            return
        holder, self._holder = self._holder, None
        holder.stdin.close()
        holder.wait(FAILURE_SECONDS)
        holder.stdout.close()
        holder.stderr.close()

    def close(self, keep=False):
        """Frees the disk. No process may have a file open on it any more, otherwise the kernel
        keeps it."""
        self._let_go()
        if not keep:
            shutil.rmtree(self._base)
