"""console_source.py WEB OUT [DIRECTORY NPM]: the console's files as a C++ source, compressed.

WEB is the folder web/; its copy in DIRECTORY is built by NPM. If WEB is "-", or if the build fails,
the program gets no console. With CI set, a failure is an error.
"""

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

_TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
          ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
_LINE = 24
_MOST = 150_000  # bytes of all files, compressed


def build(web, directory, npm):
    """Builds the copy; returns the folder of the files, or None."""
    directory.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(directory / "src", ignore_errors=True)
    shutil.copytree(web / "src", directory / "src")
    for name in ("package.json", "package-lock.json", "build.mjs"):
        shutil.copy2(web / name, directory / name)
    kept = directory / "installed-lock.json"
    lock = (directory / "package-lock.json").read_bytes()
    steps = [[npm, "run", "--silent", "build"]]
    if not kept.exists() or kept.read_bytes() != lock:
        steps.insert(0, [npm, "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund",
                         "--loglevel=error"])
    for step in steps:
        done = subprocess.run(step, cwd=directory, stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            print(f"the console: {' '.join(step)} failed:\n{done.stdout}", file=sys.stderr)
            return None
    kept.write_bytes(lock)
    return directory / "dist"


def constant(name, data):
    """An array of the bytes."""
    lines = [f"constexpr unsigned char {name}[] = {{"]
    for at in range(0, len(data), _LINE):
        lines.append("  " + ",".join(str(byte) for byte in data[at:at + _LINE]) + ",")
    return lines + ["};"]


def source(files):
    """The C++ source of the files."""
    lines = ['#include "server/console/assets.h"', "", "#include <array>", "",
             "namespace tarry::console {", "namespace {", ""]
    rows = []
    total = 0
    for number, path in enumerate(files):
        data = gzip.compress(path.read_bytes(), 9, mtime=0)
        total += len(data)
        lines += constant(f"kFile{number}", data) + [""]
        rows.append(f'      Asset{{"{path.name}", "{_TYPES[path.suffix]}",\n'
                    f"            {{reinterpret_cast<const char*>(kFile{number}), {len(data)}}}}},")
    if total > _MOST:
        sys.exit(f"the console has {total} bytes, compressed; the limit is {_MOST}")
    lines += ["}  // namespace", "", "std::span<const Asset> assets() noexcept {"]
    if rows:
        lines += [f"  static const std::array<Asset, {len(rows)}> all = {{{{", *rows, "  }};",
                  "  return all;"]
    else:
        lines += ["  return {};"]
    return "\n".join(lines + ["}", "", "}  // namespace tarry::console", ""])


def main(web, out, directory=None, npm=None):
    files = []
    if web != "-":
        dist = build(Path(web), Path(directory), npm)
        if dist is not None:
            files = sorted(dist.iterdir())
        elif os.environ.get("CI"):
            sys.exit("the console could not be built")
        else:
            print("the console: the program is built without it", file=sys.stderr)
    Path(out).write_text(source(files), encoding="ascii")


if __name__ == "__main__":
    main(*sys.argv[1:])
