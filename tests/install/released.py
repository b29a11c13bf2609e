"""What scripts/release makes of the build that the command line names, made once."""

import atexit
import functools
import os
import shutil
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
def scratch():
    """A directory that lives as long as this process."""
    directory = tempfile.TemporaryDirectory()
    atexit.register(directory.cleanup)
    return Path(directory.name)


@functools.cache
def signing_key():
    """The fingerprint of a new key of gpg; empty if this machine cannot make repositories."""
    if not (shutil.which("gpg") and shutil.which("apt-ftparchive")):
        return ""
    home = scratch() / "gnupg"
    home.mkdir(mode=0o700)
    os.environ["GNUPGHOME"] = str(home)
    atexit.register(subprocess.run, ["gpgconf", "--kill", "all"], check=False)
    output("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-gen-key",
           "tarry <tarry@example.org>", "ed25519", "sign", "never")
    listed = output("gpg", "--list-keys", "--with-colons")
    return next(line.split(":")[9] for line in listed.splitlines() if line.startswith("fpr"))


@functools.cache
def released():
    """The directory with its files. Beside it is the repository, if there is a `signing_key`."""
    out = scratch() / "out"
    key = signing_key()
    output(ROOT / "scripts" / "release", "--build", BUILD, "--out", out, "--image", "--fast",
           *(["--apt", out.parent / "apt", "--key", key] if key else []))
    return out
