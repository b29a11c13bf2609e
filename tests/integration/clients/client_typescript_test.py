#!/usr/bin/env python3
"""The TypeScript client: it is built and packed, passes its own checks, and carries out the table
of clients/conformance against real servers.
"""

import shutil
import subprocess
import sys
import unittest

from kept import TYPESCRIPT, Kept, run
from program import PROGRAM, SOURCE, Server

sys.path.insert(0, str(SOURCE / "clients/conformance"))
import readme  # noqa: E402

CLIENT = TYPESCRIPT
NOT_COPIED = {"node_modules", "dist", "build"}
PROBE = """
const queue = new Client(process.argv[2]).queue("packed");
const push = () => queue.push("p", { key: "k" });
push().then(async (one) => {
  console.log(one.outcome, (await push()).outcome);
  await queue.remove();
});
"""


def sources():
    """The client's own files."""
    found = []
    for path in sorted(CLIENT.rglob("*")):
        if path.is_file() and not NOT_COPIED & set(path.relative_to(CLIENT).parts):
            found.append(path)
    return found


class ClientForTypeScript(Kept):
    """Builds once what all tests need; a run in which nothing has changed builds nothing."""

    def setUp(self):
        super().setUp()
        texts = [f"{path.relative_to(CLIENT)}\0{path.read_text()}" for path in sources()]

        def build(work):
            for path in sources():
                target = work / path.relative_to(CLIENT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
            shutil.copy(SOURCE / "LICENSE", work)
            (work / "node_modules").symlink_to(self.node_modules())
            run("npm", "run", "--silent", "build:all", cwd=work)

        self.texts = texts
        self.client = self.made("typescript-client", texts, build)

    def conformance(self, *flags):
        command = [sys.executable, "-B", SOURCE / "clients/conformance/run.py", "--client",
                   "typescript", "--driver", f"node {self.client}/conformance/driver.mjs", *flags]
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=280)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\d\d passed, 0 failed")

    def test_table_on_a_file(self):
        self.conformance("--store", "file:", "--jobs", "8")

    def test_table_on_redis_over_a_unix_socket(self):
        self.conformance("--store", "redis:", "--transport", "unix", "--jobs", "8")

    def test_table_over_tls(self):
        self.conformance("--transport", "tls", "--jobs", "8")

    def test_own_tests(self):
        run("node", "--test", "build/test/", cwd=self.client, TARRY_PROGRAM=PROGRAM,
            TARRY_SOURCE_DIR=str(SOURCE))

    def test_example(self):
        said = run("node", "build/examples/order-timeout.js", cwd=self.client,
                   TARRY_PROGRAM=PROGRAM)
        self.assertEqual(said, "closed order:3\n")
        lines = (CLIENT / "examples/order-timeout.ts").read_text().splitlines()
        self.assertLessEqual(len(lines), 40)

    def test_vitest(self):
        said = run("npx", "vitest", "run", cwd=self.client, TARRY_PROGRAM=PROGRAM)
        self.assertRegex(said, r"2 passed")

    def test_package(self):
        """Packed, and installed into a directory where nothing else is."""
        run("npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", self.directory,
            cwd=self.client)
        (self.directory / "package.json").write_text('{"private": true}\n')
        packed, = self.directory.glob("*.tgz")
        run("npm", "install", "--silent", "--offline", "--omit=peer", packed, cwd=self.directory)
        server = self.enterContext(Server("memory:"))
        loads = {"es.mjs": 'import { Client } from "@tarry/client";\n'
                           'import "@tarry/client/testing";\n',
                 "common.cjs": 'const { Client } = require("@tarry/client");\n'
                               'require("@tarry/client/testing");\n'}
        for name, load in loads.items():
            (self.directory / name).write_text(load + PROBE)
            said = run("node", name, server.url, cwd=self.directory)
            self.assertEqual(said, "pushed exists\n")
        lines = readme.said(CLIENT / "README.md", "shop.mjs", ["node", "shop.mjs"],
                            folder=self.directory)
        self.assertEqual(lines, ["cancelled", "closed order:42"])
        self.assertFalse((self.directory / "node_modules/@opentelemetry").exists())

    def test_lint(self):
        def lint(_):
            run("npx", "eslint", ".", cwd=self.client)
            run("npx", "prettier", "--check", ".", cwd=self.client)

        self.made("typescript-linted", self.texts, lint)


if __name__ == "__main__":
    unittest.main()
