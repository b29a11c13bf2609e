#!/usr/bin/env python3
"""The client libraries that scripts/release --clients makes: two builds are the same byte for byte,
and each is installed into a clean environment and pushes a message from there.

Tests of the libraries try the wheel and npm's archive in every run. So without TARRY_ALL_PACKAGES=1
only the Go module is made here.
"""

import importlib
import os
import sys
import unittest
import zipfile
from pathlib import Path

from kept import Kept, run
from program import SOURCE, Server

sys.path.insert(0, str(SOURCE / "packaging"))
sys.dont_write_bytecode = True

ALL = os.environ.get("TARRY_ALL_PACKAGES") == "1"
GO = """package main

import (
    "context"
    "fmt"
    "os"

    "tarry.io/go/tarry"
)

func main() {
    client, err := tarry.New(os.Args[1])
    if err != nil {
        panic(err)
    }
    said, err := client.Queue("packed").Push(context.Background(), []byte("p"))
    if err != nil {
        panic(err)
    }
    fmt.Println(said.Outcome, tarry.Version)
}
"""
PYTHON = """import sys, tarry
print(tarry.Client(sys.argv[1]).queue("packed").push("p").outcome, tarry.__version__)
"""
NODE = """import { Client } from "@tarry/client";
const client = new Client(process.argv[2]);
console.log((await client.queue("packed").push("p")).outcome);
client.close();
"""


class ClientPackages(Kept):
    def packages(self, language):
        """Makes the library twice; its files."""
        os.environ["SOURCE_DATE_EPOCH"] = "1800000000"
        self.addCleanup(os.environ.pop, "SOURCE_DATE_EPOCH")
        made = []
        for name in ("one", "two"):
            work, out = (Path(self.directory) / f"{language}-{name}-{what}"
                         for what in ("work", "out"))
            work.mkdir()
            out.mkdir()
            made.append(importlib.import_module(f"clients.{language}").make(work, out))
        for one, other in zip(*made):
            self.assertEqual(one.name, other.name)
            self.assertEqual(one.read_bytes(), other.read_bytes(), one.name)
        return made[0]

    def place(self, name):
        folder = Path(self.directory) / name
        folder.mkdir()
        return folder

    def server(self):
        return self.enterContext(Server("memory:"))

    def test_go(self):
        bundle, = self.packages("go")
        proxy, place, server = self.place("proxy"), self.place("go"), self.server()
        zipfile.ZipFile(bundle).extractall(proxy)
        (place / "main.go").write_text(GO)
        clean = {"GOPROXY": f"file://{proxy}", "GOMODCACHE": str(place / "cache"),
                 "GONOSUMDB": "*", "GOFLAGS": "-mod=mod -modcacherw", "GOTOOLCHAIN": "local"}
        run("go", "mod", "init", "example.com/user", cwd=place, **clean)
        run("go", "get", "tarry.io/go/tarry@latest", cwd=place, **clean)
        said = run("go", "run", ".", server.url, cwd=place, **clean)
        self.assertRegex(said, r"^pushed \d+\.\d+\.\d+\n$")
        spans, = zipfile.ZipFile(bundle).namelist()[-1:]
        self.assertRegex(spans, r"^tarry.io/go/tarry/opentelemetry/@v/v[\d.]+\.zip$")

    @unittest.skipUnless(ALL, "only with TARRY_ALL_PACKAGES=1")
    def test_python(self):
        server = self.server()
        for file in self.packages("python"):
            place = self.place(file.name)
            run(sys.executable, "-m", "venv", place)
            run(place / "bin/python", "-m", "pip", "-q", "install", file)
            said = run(place / "bin/python", "-c", PYTHON, server.url, PYTHONPATH="")
            self.assertRegex(said, r"^pushed \d+\.\d+\.\d+\n$")

    @unittest.skipUnless(ALL, "only with TARRY_ALL_PACKAGES=1")
    def test_typescript(self):
        file, = self.packages("typescript")
        place, server = self.place("npm"), self.server()
        (place / "package.json").write_text('{"private": true, "type": "module"}\n')
        (place / "main.mjs").write_text(NODE)
        run("npm", "install", "--silent", "--offline", "--omit=peer", file, cwd=place)
        self.assertEqual(run("node", "main.mjs", server.url, cwd=place), "pushed\n")


if __name__ == "__main__":
    unittest.main()
