"""The TypeScript client: the archive that npm publishes."""

import json
import re
import shutil
from pathlib import Path

import tree

HERE = tree.SOURCE / "clients" / "typescript"
NOT_COPIED = ("node_modules", "dist", "build", "*.tgz")


def versions():
    """The versions that the sources name, by file; a release has one."""
    told = {HERE / name: json.loads((HERE / name).read_text(encoding="utf-8"))["version"]
            for name in ("package.json", "package-lock.json")}
    source = HERE / "src/version.ts"
    told[source] = re.search(r'version = "(.*)"', source.read_text(encoding="utf-8"))[1]
    return told


def make(work, out):
    """Writes the archive into `out`; the files that it made. npm gives all files in it one time."""
    for path, told in versions().items():
        if told != tree.version():
            raise SystemExit(f"{path} has version {told}; include/tarry/version.h has "
                             f"{tree.version()}")
    folder = Path(work) / "typescript"
    shutil.copytree(HERE, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
    shutil.copy(tree.SOURCE / "LICENSE", folder)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    tree.output("npm", "ci", "--silent", "--prefer-offline", "--ignore-scripts", cwd=folder)
    tree.output("npm", "run", "--silent", "build", cwd=folder)
    tree.output("npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", out,
                cwd=folder)
    return [out / f"tarry-client-{tree.version()}.tgz"]
