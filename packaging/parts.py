"""The third-party code in what a portable build makes: for licences, copyright and the SBOM."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Part:
    name: str
    packages: tuple[str, ...]  # Debian's, of which the build machine has one
    license: str               # an SPDX expression
    home: str
    holder: str


PARTS = (
    Part("boost", ("libboost1.81-dev", "libboost-dev"), "BSL-1.0", "https://www.boost.org",
         "the Boost authors"),
    Part("cli11", ("libcli11-dev",), "BSD-3-Clause", "https://github.com/CLIUtils/CLI11",
         "University of Cincinnati, Henry Schreiner"),
    Part("fmt", ("libfmt-dev",), "MIT", "https://fmt.dev", "Victor Zverovich"),
    Part("hiredis", ("libhiredis-dev",), "BSD-3-Clause", "https://github.com/redis/hiredis",
         "Salvatore Sanfilippo, Pieter Noordhuis"),
    Part("libstdc++", ("libstdc++-12-dev", "libstdc++-14-dev"),
         "GPL-3.0-or-later WITH GCC-exception-3.1", "https://gcc.gnu.org",
         "Free Software Foundation"),
    Part("spdlog", ("libspdlog-dev",), "MIT", "https://github.com/gabime/spdlog", "Gabi Melman"),
    Part("tomlplusplus", ("libtomlplusplus-dev",), "MIT", "https://marzer.github.io/tomlplusplus",
         "Mark Gillard"),
    Part("xxhash", ("libxxhash-dev",), "BSD-2-Clause", "https://xxhash.com", "Yann Collet"),
)


def installed(part):
    """(Debian package, its version) on this machine."""
    said = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\n", *part.packages],
        capture_output=True, text=True, check=False).stdout
    found = [line.split()[1:] for line in said.splitlines() if line.startswith("installed ")]
    if not found:
        raise SystemExit(f"release: none of {', '.join(part.packages)} is installed here")
    return tuple(found[0])


def license_text(part):
    """Debian's copyright file of it."""
    package, _ = installed(part)
    return Path("/usr/share/doc", package, "copyright").read_text(encoding="utf-8")


def upstream_version(debian):
    return re.sub(r"^\d+:|[-+][^-]*$", "", debian)
