"""The Go client: the files of a module proxy. Unpack them, and set GOPROXY=file://THE-FOLDER."""

import json
import re
import zipfile
from datetime import datetime, timezone
from pathlib import Path

import tree

HERE = tree.SOURCE / "clients" / "go"
MODULE = "tarry.io/go/tarry"


def version():
    text = (HERE / "client.go").read_text(encoding="utf-8")
    return re.search(r'const Version = "(.*)"', text)[1]


def sources():
    """What users of the module need: no driver of the table of cases."""
    for path in sorted([*HERE.rglob("*.go"), HERE / "go.mod", HERE / "README.md"]):
        if "conformance" not in path.relative_to(HERE).parts:
            yield path.relative_to(HERE).as_posix(), path.read_bytes()
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


def make(work, out):
    """Writes the files of the proxy into `out`, as one archive; the files that it made."""
    if version() != tree.version():
        raise SystemExit(f"{HERE}/client.go has version {version()}; include/tarry/version.h has "
                         f"{tree.version()}")
    name = f"v{version()}"
    module = Path(work) / "go-module.zip"
    packed(module, ((f"{MODULE}@{name}/{path}", data) for path, data in sources()))
    when = datetime.fromtimestamp(tree.epoch(), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    proxy = {"list": f"{name}\n".encode(),
             f"{name}.info": json.dumps({"Version": name, "Time": when}).encode(),
             f"{name}.mod": (HERE / "go.mod").read_bytes(), f"{name}.zip": module.read_bytes()}
    bundle = Path(out) / f"tarry-{version()}-go.zip"
    packed(bundle, ((f"{MODULE}/@v/{path}", data) for path, data in proxy.items()))
    return [bundle]
