"""The signed repository: apt reads it, and believes only its key. package_test.py runs the tests.
"""

import gzip
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from released import output, released, signing_key


@unittest.skipUnless(shutil.which("gpg") and shutil.which("apt-ftparchive"),
                     "no gpg or no apt-ftparchive here (scripts/setup test)")
class Repository(unittest.TestCase):
    def setUp(self):
        self.key = signing_key()
        directory = tempfile.TemporaryDirectory(prefix="tarry-apt-")
        self.addCleanup(directory.cleanup)
        self.here = Path(directory.name)
        self.place = shutil.copytree(released().parent / "apt", self.here / "repository")
        for name in ("state/lists/partial", "cache/archives/partial", "etc"):
            (self.here / name).mkdir(parents=True)
        output("gpg", "--output", self.here / "tarry.gpg", "--export", self.key)
        source = self.here / "etc/tarry.sources"  # as docs/releasing.md has it
        source.write_text(f"Types: deb\nURIs: file:{self.place}\nSuites: stable\n"
                          f"Components: main\nSigned-By: {self.here}/tarry.gpg\n")

    def apt(self, *words):
        """Runs apt with nothing of this machine's but its list of installed packages."""
        options = {"Dir::Etc::SourceList": "/dev/null", "Dir::Etc::SourceParts": self.here / "etc",
                   "Dir::State": self.here / "state", "Dir::Cache": self.here / "cache",
                   "Dir::State::status": "/dev/null", "APT::Sandbox::User": "root",
                   "APT::Architecture": "amd64"}
        return subprocess.run([words[0], *[f"-o{name}={value}" for name, value in options.items()],
                               *words[1:]], capture_output=True, text=True, check=False,
                              cwd=self.here, env={**os.environ, "LC_ALL": "C"})

    def test_apt_finds_the_packages(self):
        said = self.apt("apt-get", "update")
        self.assertEqual((said.returncode, said.stderr), (0, ""), said.stdout)
        listed = self.apt("apt-cache", "pkgnames").stdout.split()
        debs = sorted(released().glob("*.deb"))
        self.assertLessEqual({deb.name.split("_")[0] for deb in debs}, set(listed))
        said = self.apt("apt-get", "download", "tarry")
        self.assertEqual(said.returncode, 0, said.stderr)
        deb, = released().glob("tarry_*.deb")
        fetched, = self.here.glob("tarry_*.deb")
        self.assertTrue(fetched.read_bytes() == deb.read_bytes())

    def test_a_changed_list_is_refused(self):
        for folder in self.place.glob("dists/stable/main/binary-*"):
            text = (folder / "Packages").read_text() + "\n"
            (folder / "Packages").write_text(text)
            (folder / "Packages.gz").write_bytes(gzip.compress(text.encode()))
        self.assertNotEqual(self.apt("apt-get", "update").returncode, 0)

    def test_a_changed_release_is_refused(self):
        for name in ("Release", "InRelease"):
            file = self.place / "dists/stable" / name
            file.write_text(file.read_text().replace("Label: tarry", "Label: other"))
        said = self.apt("apt-get", "update")
        self.assertRegex(said.stderr, "(?i)signature")
