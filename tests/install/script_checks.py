"""The scripts of the package tarry, with stubs of what they call. package_test.py runs these tests.

Each script sees directories of the test as /etc, /var/lib and /run. packaging/prove.sh runs the
scripts by dpkg, in fresh roots.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from container import possible
from released import ROOT, output, released

sys.path.append(str(ROOT / "packaging"))
import newer_store  # noqa: E402

STUBS = ("adduser", "deb-systemd-helper", "deb-systemd-invoke", "deluser", "getent", "install",
         "systemctl")
# $0 the test's directory; then the script and its words.
INSIDE = """
set -e
mount --bind "$0/etc" /etc
mount --bind "$0/lib" /var/lib
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system
exec "$@"
"""


@unittest.skipUnless(possible(), "needs root, and namespaces of its own")
class Scripts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="tarry-scripts-")
        cls.addClassCleanup(directory.cleanup)
        cls.package = Path(directory.name)
        deb, = released().glob("tarry_*.deb")
        output("dpkg-deb", "--raw-extract", deb, cls.package / "root")

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="tarry-scripts-")
        self.addCleanup(directory.cleanup)
        self.here = Path(directory.name)
        for name in ("etc/tarry", "lib/tarry", "bin"):
            (self.here / name).mkdir(parents=True)
        self.config = self.here / "etc/tarry/tarry.toml"
        self.config.write_text((self.package / "root/etc/tarry/tarry.toml").read_text())
        for name in STUBS:
            stub = self.here / "bin" / name
            stub.write_text(f'#!/bin/sh\necho {name} "$@" >>"{self.here}/calls"\n')
            stub.chmod(0o755)
        self.program = self.package / "root/usr/bin/tarry"
        (self.here / "bin/tarry").symlink_to(self.program)

    def run_script(self, which, *words, **variables):
        """(what it says, the commands that it gave)"""
        (self.here / "calls").write_text("")
        said = subprocess.run(
            ["unshare", "--mount", "sh", "-c", INSIDE, self.here,
             self.package / "root/DEBIAN" / which, *words], capture_output=True, text=True,
            env={"PATH": f"{self.here}/bin:{os.environ['PATH']}", **variables}, check=False)
        self.assertEqual(said.returncode, 0, said.stderr)
        return said.stdout + said.stderr, (self.here / "calls").read_text().splitlines()

    def serve(self):
        """A server of this package on the store of the service."""
        server = subprocess.Popen(
            [self.program, "serve", "--store", f"file:{self.here}/lib/tarry", "--listen",
             f"unix:{self.here}/tarry.sock"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        server.stdout.readline()
        return server

    def assert_goes_on(self, server):
        self.assertIsNone(server.poll())
        output(self.program, "--store", f"http+unix://{self.here}/tarry.sock", "health")

    def test_an_installation_starts_it(self):
        (self.here / "lib/tarry").rmdir()
        said, calls = self.run_script("postinst", "configure", "")
        self.assertEqual(said, "")
        self.assertIn("install -d -m 0700 -o tarry -g tarry /var/lib/tarry", calls)
        self.assertEqual(calls[-1], "deb-systemd-invoke start tarry.service")
        self.assertNotIn("deb-systemd-helper enable tarry.socket", calls)

    def test_an_upgrade_restarts_it(self):
        server = self.serve()
        said, calls = self.run_script("prerm", "upgrade", "0.3.0-1")
        self.assertEqual((said, calls), ("", []))  # the old server works until the new one is there
        said, calls = self.run_script("postinst", "configure", "0.1.0-1")
        self.assertEqual((said, calls[-1]), ("", "deb-systemd-invoke restart tarry.service"))
        self.assert_goes_on(server)

    def refused(self, *says, spoil):
        """An upgrade that must leave the running server alone, and name the reason."""
        server = self.serve()
        spoil()
        said, calls = self.run_script("postinst", "configure", "0.1.0-1")
        self.assertFalse([call for call in calls if call.startswith("deb-systemd-invoke")], calls)
        lines = said.splitlines()
        self.assertEqual(lines[0], "tarry: the server was not started or restarted; one that runs "
                                   "goes on as it is:")
        for words in says:
            self.assertIn(words, lines[1])
        self.assertEqual(lines[2:], ["tarry: mend this, then: systemctl restart tarry"])
        self.assert_goes_on(server)

    def test_over_a_wrong_configuration(self):
        text = self.config.read_text() + '\nmax_boddy = "1MiB"\n'
        self.refused("/etc/tarry/tarry.toml:", '"max_boddy"',
                     spoil=lambda: self.config.write_text(text))

    def test_over_a_store_of_a_newer_format(self):
        store = self.here / "lib/tarry/STORE"
        self.refused("version 99", spoil=lambda: store.write_bytes(
            newer_store.newer(store.read_bytes())))

    def test_with_a_server_that_does_not_start(self):
        """Its port is taken, for example."""
        (self.here / "bin/deb-systemd-invoke").write_text("#!/bin/sh\nexit 1\n")
        said, _ = self.run_script("postinst", "configure", "")
        self.assertEqual(said, "tarry: the server did not start; journalctl -u tarry says why\n")

    def test_a_removal_stops_it_and_a_purge_keeps_the_store(self):
        self.serve().kill()
        _, calls = self.run_script("prerm", "remove")
        self.assertEqual(calls, ["deb-systemd-invoke stop tarry.socket tarry.service"])
        said, calls = self.run_script("postrm", "purge")
        self.assertTrue((self.here / "lib/tarry/STORE").exists())
        self.assertIn("kept /var/lib/tarry", said)
        self.assertIn("deb-systemd-helper purge tarry.socket", calls)
        said, _ = self.run_script("postrm", "purge", TARRY_PURGE_DATA="yes")
        self.assertEqual((said, (self.here / "lib/tarry").exists()), ("", False))
