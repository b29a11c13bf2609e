#!/usr/bin/env python3
"""beanstalkd's clients, unchanged, as clients of tarry: greenstalk and pystalk (Python),
go-beanstalk (Go), fivebeans and jackd (JavaScript) and beaneater (Ruby). Each does the same at
Debian's beanstalkd and at tarry, and prints the same.
"""

import shutil
import unittest

from beanstalk_pair import IS_1_12, Reference, Tarry
from kept import Kept, run
from program import SOURCE

DRIVERS = SOURCE / "tests/integration/fronts/beanstalk_clients"
PYPI = ("greenstalk==2.1.1", "pystalk==0.9.1")
NPM = ("fivebeans@1.5.0", "jackd@2.2.2")


class Clients(Kept):
    @classmethod
    def setUpClass(cls):
        cls.tarry, cls.reference = Tarry(), Reference()

    @classmethod
    def tearDownClass(cls):
        cls.reference.stop()
        if cls.tarry.stop() != 0:
            raise AssertionError("tarry did not end well")

    def both(self, name, *command, cwd=None):
        """The command at both servers, with a tube of its own."""
        said = [run(*command, "127.0.0.1", server.port, f"{name}-tube", cwd=cwd, timeout=50)
                for server in (self.reference, self.tarry)]
        self.assertIn("65535", said[0])
        if not IS_1_12:  # not all clients understand the quotes around the tube's name
            said[0] = said[0].replace("false reserved", "true reserved")
        self.assertEqual(*said)

    def test_greenstalk_and_pystalk(self):
        python = self.environment(*PYPI)
        for client in ("greenstalk", "pystalk"):
            with self.subTest(client=client):
                self.both(client, python, "-B", DRIVERS / f"{client}_client.py")

    def test_go_beanstalk(self):
        sources = [DRIVERS / name for name in ("main.go", "go.mod", "go.sum")]

        def make(folder):
            for source in sources:
                shutil.copy(source, folder)
            run("go", "build", "-o", "driver", ".", cwd=folder)

        folder = self.made("go-beanstalk", [source.read_text() for source in sources], make)
        self.both("go", folder / "driver")

    def test_fivebeans_and_jackd(self):
        def install(folder):
            run("npm", "install", "--silent", "--no-save", "--prefix", folder, *NPM)

        folder = self.made("beanstalk-javascript", NPM, install)
        shutil.copy(DRIVERS / "javascript.mjs", folder)
        for client in ("fivebeans", "jackd"):
            with self.subTest(client=client):
                self.both(client, "node", "--no-deprecation", "javascript.mjs", client, cwd=folder)

    def test_beaneater(self):
        self.both("beaneater", "ruby", DRIVERS / "beaneater_client.rb")


if __name__ == "__main__":
    unittest.main()
