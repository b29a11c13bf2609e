"""The Python client: a wheel and its sources, ready for PyPI."""

import gzip
import os
import re
import shutil
import sys
import tarfile
from pathlib import Path

import tarball
import tree

HERE = tree.SOURCE / "clients" / "python"
TOOLS = ("build==1.3.0", "setuptools==80.9.0", "wheel==0.45.1")
NOT_COPIED = ("build", "*.egg-info", "__pycache__", "tests", "conformance")


def version():
    text = (HERE / "src/tarry/version.py").read_text(encoding="utf-8")
    return re.search(r'__version__ = "(.*)"', text)[1]


def copy_of_sources(folder):
    """With the times and modes of the release, so that two builds are the same."""
    shutil.copytree(HERE, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
    shutil.copy(tree.SOURCE / "LICENSE", folder)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (tree.epoch(), tree.epoch()))


def packed_again(made, out):
    """The archive of the sources, without the times of this build and its user's name."""
    target = out / made.name
    with (tarfile.open(made) as old, open(target, "wb") as raw,
          gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed,
          tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as new):
        for entry in sorted(old.getmembers(), key=lambda one: one.name):
            entry.pax_headers = {}
            new.addfile(tarball.of_nobody(entry), old.extractfile(entry))
    return target


def make(work, out):
    """Writes the wheel and the archive into `out`; the files that it made."""
    if version() != tree.version():
        raise SystemExit(f"{HERE}/src/tarry/version.py has version {version()}; "
                         f"include/tarry/version.h has {tree.version()}")
    folder = Path(work) / "python"
    copy_of_sources(folder / "tarry")
    python = folder / "tools/bin/python"
    tree.run(sys.executable, "-m", "venv", folder / "tools")
    tree.run(python, "-m", "pip", "-q", "--disable-pip-version-check", "install", "--no-compile",
             *TOOLS)
    tree.output(python, "-m", "build", "--no-isolation", "--outdir", folder / "made",
                folder / "tarry",
                env={**os.environ, "SOURCE_DATE_EPOCH": str(tree.epoch())})
    wheel, = (folder / "made").glob("*.whl")
    sources, = (folder / "made").glob("*.tar.gz")
    shutil.copy(wheel, out)
    return [out / wheel.name, packed_again(sources, out)]
