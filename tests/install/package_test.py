#!/usr/bin/env python3
"""package_test.py BUILD_DIR

What scripts/release makes from BUILD_DIR: the contents of the packages and the tarball, what
lintian says of them, the newest symbols of glibc that the program asks for, and the image.
"""

import hashlib
import json
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

from archives import keep_smallest
from image_checks import Contents, Running  # noqa: F401: unittest.main runs them
from released import ROOT, output, released
from repository_checks import Repository  # noqa: F401
from script_checks import Scripts  # noqa: F401

OLDEST_GLIBC = (2, 34)
DEBIAN_12 = ("glibc", "2.36")
MOST_EXPOSED = 2.5  # of 10, as systemd-analyze counts
SKIPPED = 77

PROGRAM_FILES = {
    "/etc/logrotate.d/tarry", "/etc/tarry/tarry.toml", "/usr/bin/tarry",
    "/usr/lib/systemd/system/tarry.service", "/usr/lib/systemd/system/tarry.socket",
    "/usr/share/bash-completion/completions/tarry",
    "/usr/share/fish/vendor_completions.d/tarry.fish", "/usr/share/man/man1/tarry.1.gz",
    "/usr/share/zsh/vendor-completions/_tarry", "/usr/share/doc/tarry/copyright",
    "/usr/share/doc/tarry/changelog.Debian.gz"}


def listed(package):
    """The paths of a package's files, and each file's mode and owner."""
    rows = [line.split(None, 5) for line in output("dpkg-deb", "--contents", package).splitlines()]
    return {row[5].split(" -> ")[0].removeprefix("."): row[0] + " " + row[1] for row in rows
            if not row[0].startswith("d")}


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.out = released()
        cls.packages = {path.name.split("_")[0]: path for path in cls.out.glob("*.deb")}
        cls.version = re.search(r'VERSION "(.*)"',
                                (ROOT / "include/tarry/version.h").read_text())[1]
        cls.library = "libtarry" + cls.version.rpartition(".")[0]
        cls.root = Path(cls.directory.name, "root")
        output("dpkg-deb", "--extract", cls.packages["tarry"], cls.root)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def test_there_are_four(self):
        self.assertEqual(set(self.packages),
                         {"tarry", self.library, "libtarry-dev", "tarry-relay-modules"})

    def test_the_program_and_all_that_belongs_to_it(self):
        files = listed(self.packages["tarry"])
        self.assertLessEqual(PROGRAM_FILES, set(files))
        for path, mode in files.items():
            runs = path == "/usr/bin/tarry"
            self.assertEqual(mode, ("-rwxr-xr-x" if runs else "-rw-r--r--") + " root/root", path)
        self.assertEqual(output(self.root / "usr/bin/tarry", "--version"),
                         f"tarry {self.version}\n")
        config = self.root / "etc/tarry/tarry.toml"
        self.assertIn("file:/var/lib/tarry",
                      output(self.root / "usr/bin/tarry", "config", "check", "--config", config))

    def test_the_library_and_its_headers(self):
        abi = self.library.removeprefix("libtarry")
        names = {Path(path).name for path in listed(self.packages[self.library])}
        self.assertLessEqual({f"libtarry.so.{abi}", f"libtarry.so.{self.version}"}, names)
        names = {Path(path).name for path in listed(self.packages["libtarry-dev"])}
        self.assertLessEqual({"store.h", "libtarry.so", "tarry-config.cmake", "tarry.pc"}, names)
        depends = output("dpkg-deb", "--field", self.packages["libtarry-dev"], "Depends")
        self.assertTrue(depends.startswith(f"{self.library} (= {self.version}-1)"), depends)

    def test_the_unit(self):
        unit = self.root / "usr/lib/systemd/system/tarry.service"
        self.assertIn("\nExecStart=/usr/bin/tarry serve --config /etc/tarry/tarry.toml\n",
                      unit.read_text())
        if not shutil.which("systemd-analyze"):
            self.skipTest("no systemd-analyze here")
        said = output("systemd-analyze", "security", "--offline=yes", "--no-pager", unit)
        found, = re.findall(r"Overall exposure level for tarry\.service: ([\d.]+)", said)
        self.assertLess(float(found), MOST_EXPOSED)

    def sample(self, package):
        """The package with a few members of each archive. One compiler and one strip made them all,
        and lintian would take half a minute for them."""
        root = Path(self.directory.name, "sample")
        output("dpkg-deb", "--raw-extract", package, root)
        sums = root / "DEBIAN" / "md5sums"
        for archive in root.rglob("*.a"):
            old = hashlib.md5(archive.read_bytes()).hexdigest()
            keep_smallest(archive, 3)
            new = hashlib.md5(archive.read_bytes()).hexdigest()
            sums.write_text(sums.read_text().replace(old, new))
        file = Path(self.directory.name, package.name)
        output("dpkg-deb", "--root-owner-group", "-Zxz", "-z0", "--build", root, file)
        return file

    def test_lintian_finds_no_error(self):
        if not shutil.which("lintian"):
            self.skipTest("no lintian here")
        files = self.packages | {"libtarry-dev": self.sample(self.packages["libtarry-dev"])}
        said = subprocess.run(["lintian", "--allow-root", "--fail-on", "error",
                               *map(str, files.values())],
                              capture_output=True, text=True, check=False)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)

    @unittest.skipUnless(platform.libc_ver() == DEBIAN_12, "releases are made on Debian 12")
    def test_symbols_of_glibc_are_old_enough(self):
        said = output("objdump", "-T", self.root / "usr/bin/tarry")
        found = {tuple(map(int, number.split("."))) for number in
                 re.findall(r"GLIBC_([\d.]+)", said)}
        self.assertLessEqual(max(found), OLDEST_GLIBC)

    def test_the_tarball(self):
        file, = self.out.glob("tarry-*.tar.gz")
        with tarfile.open(file) as tar:
            entries = {entry.name.partition("/")[2]: entry for entry in tar.getmembers()}
            self.assertEqual({(entry.uid, entry.gid) for entry in entries.values()}, {(0, 0)})
            self.assertEqual(len({entry.mtime for entry in entries.values()}), 1)
            self.assertEqual(tar.extractfile(entries["bin/tarry"]).read(),
                             (self.root / "usr/bin/tarry").read_bytes())
        self.assertLessEqual({"README", "licences/tarry", "licences/boost", "etc/tarry.toml",
                              "lib/systemd/system/tarry.service", "lib/systemd/system/tarry.socket",
                              "share/man/man1/tarry.1"},
                             set(entries))

    def test_sums_and_sbom(self):
        sums = dict(reversed(line.split()) for line in
                    (self.out / "SHA256SUMS").read_text().splitlines())
        self.assertEqual(set(sums), {path.name for path in self.out.iterdir()} - {"SHA256SUMS"})
        for name, digest in sums.items():
            self.assertEqual(hashlib.sha256((self.out / name).read_bytes()).hexdigest(), digest)
        document = json.loads((self.out / f"tarry-{self.version}.spdx.json").read_text())
        idents = {package["SPDXID"] for package in document["packages"]}
        for link in document["relationships"]:
            self.assertIn(link["relatedSpdxElement"], idents)
        self.assertIn("boost", {package["name"] for package in document["packages"]})


class WrongArguments(unittest.TestCase):
    def refused(self, *words):
        said = subprocess.run([ROOT / "scripts" / "release", *map(str, words)],
                              capture_output=True, text=True, check=False)
        self.assertEqual((said.returncode, said.stdout), (2, ""), said.stderr)
        return said.stderr

    def test_each_is_named(self):
        with tempfile.TemporaryDirectory() as directory:
            self.assertIn(f"--build {directory} has no finished build",
                          self.refused("--build", directory))
            self.assertIn("--key needs --apt", self.refused("--key", "x", "--out",
                                                            Path(directory, "new")))
            Path(directory, "file").touch()
            self.assertIn(f"--out {directory} is not empty", self.refused("--out", directory))


if __name__ == "__main__":
    if not shutil.which("dpkg-deb"):
        print("skipped: no dpkg-deb here")
        sys.exit(SKIPPED)
    unittest.main()
