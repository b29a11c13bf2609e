"""The Go client's modules: the files of a proxy. Unpack them, and set GOPROXY=file://THE-FOLDER."""

import json
import re
import zipfile
from datetime import datetime, timezone
from pathlib import Path

import tree

HERE = tree.SOURCE / "clients" / "go"
MODULE = "tarry.io/go/tarry"
SPANS = "opentelemetry"  # a module of its own, in a folder of that name


def versions():
    """The versions that the sources name, by file; a release has one."""
    found = {HERE / "client.go": r'const Version = "(.*)"',
             HERE / SPANS / "go.mod": rf"{MODULE} v(.*)"}
    return {path: re.search(pattern, path.read_text(encoding="utf-8"))[1]
            for path, pattern in found.items()}


def sources(folder, *left_out):
    """What users of the module in that folder need."""
    for path in sorted([*folder.rglob("*.go"), *folder.glob("go.*"), *folder.glob("README.md")]):
        name = path.relative_to(folder)
        if name.parts[0] not in left_out:
            yield name.as_posix(), path.read_bytes()
    yield "LICENSE", (tree.SOURCE / "LICENSE").read_bytes()


def packed(target, files):
    """A zip of (name, bytes), with the release's time."""
    when = datetime.fromtimestamp(tree.epoch(), timezone.utc).timetuple()[:6]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def proxied(work, module, folder, files):
    """(name, bytes) of what a proxy has of a module."""
    name = f"v{tree.version()}"
    archive = Path(work) / "go-module.zip"
    packed(archive, ((f"{module}@{name}/{path}", data) for path, data in files))
    when = datetime.fromtimestamp(tree.epoch(), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    for path, data in (("list", f"{name}\n".encode()),
                       (f"{name}.info", json.dumps({"Version": name, "Time": when}).encode()),
                       (f"{name}.mod", (folder / "go.mod").read_bytes()),
                       (f"{name}.zip", archive.read_bytes())):
        yield f"{module}/@v/{path}", data


def make(work, out):
    """Writes the files of the proxy into `out`, as one archive; the files that it made."""
    for path, told in versions().items():
        if told != tree.version():
            raise SystemExit(f"{path} has version {told}; include/tarry/version.h has "
                             f"{tree.version()}")
    bundle = Path(out) / f"tarry-{tree.version()}-go.zip"
    packed(bundle, [*proxied(work, MODULE, HERE, sources(HERE, "conformance", SPANS)),
                    *proxied(work, f"{MODULE}/{SPANS}", HERE / SPANS, sources(HERE / SPANS))])
    return [bundle]
