"""A repository for apt: pool/, dists/stable/ with Packages and Release, signed by a key."""

import gzip
import os
import shutil

from tree import epoch, output, run

RELEASE = {"Origin": "tarry", "Label": "tarry", "Suite": "stable", "Codename": "stable",
           "Components": "main", "Architectures": "amd64 arm64"}


def repository(debs, place, key):
    """Adds packages to the repository in directory `place`; without a key it stays unsigned."""
    pool = place / "pool" / "main"
    pool.mkdir(parents=True, exist_ok=True)
    for file in debs:
        shutil.copy2(file, pool / file.name)
    dist = place / "dists" / "stable"
    for machine in RELEASE["Architectures"].split():
        folder = dist / "main" / f"binary-{machine}"
        folder.mkdir(parents=True, exist_ok=True)
        listed = output("apt-ftparchive", "--arch", machine, "packages", "pool/main", cwd=place)
        (folder / "Packages").write_text(listed, encoding="utf-8")
        with open(folder / "Packages.gz", "wb") as raw, \
                gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
            packed.write(listed.encode())
    for old in ("Release", "InRelease", "Release.gpg"):
        (dist / old).unlink(missing_ok=True)
    options = [f"-oAPT::FTPArchive::Release::{name}={value}" for name, value in RELEASE.items()]
    text = output("apt-ftparchive", *options, "release", dist,
                  env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch())})
    (dist / "Release").write_text(text, encoding="utf-8")
    if key:
        sign = ("gpg", "--batch", "--yes", "--local-user", key)
        run(*sign, "--clearsign", "--output", dist / "InRelease", dist / "Release")
        run(*sign, "--armor", "--detach-sign", "--output", dist / "Release.gpg", dist / "Release")
