#!/usr/bin/env python3
"""Clients that public generators make from the OpenAPI document compile, and complete the round of
the README.
"""

import json
import shutil
import unittest
from pathlib import Path

from kept import JAVAC, JVM, SOURCES, Kept, run
from openapi import Client, Document
from program import Server

GENERATOR = "7.25.0"
PYTHON_GENERATOR = "0.29.1"
# What openapi-generator makes. One JVM makes all three: each alone would spend its time starting.
GENERATED = {
    "java": {"generatorName": "java", "library": "native",
             "additionalProperties": {"openApiNullable": "false"}},
    "go": {"generatorName": "go", "gitUserId": "tarry", "gitRepoId": "client"},
    "typescript": {"generatorName": "typescript-fetch"},
}
UNUSED = {name: "false" for name in ("apiTests", "modelTests", "apiDocs", "modelDocs")}
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:"


class GeneratedClients(Kept):
    """One test for each language."""

    def setUp(self):
        super().setUp()
        self.server = self.enterContext(Server("memory:"))
        client = Client(self.server, Document({"paths": {}}))
        self.text = client.raw("GET", "/v1/openapi.json").text
        self.document = self.directory / "openapi.json"
        self.document.write_text(self.text)

    def client(self, language, make):
        """The client's folder."""
        rounds = [path.read_text() for path in sorted(SOURCES.glob("[Rr]ound.*"))]
        return self.made(language, [self.text, Path(__file__).read_text(), *rounds], make)

    def generator(self):
        """openapi-generator's jar."""
        jar = self.kept / f"openapi-generator-cli-{GENERATOR}.jar"
        if not jar.exists():
            run("mvn", "-q", "-B", COPY + "copy", f"-DoutputDirectory={self.kept}",
                f"-Dartifact=org.openapitools:openapi-generator-cli:{GENERATOR}")
        return jar

    def generated(self, language, target):
        """Copies the generated client to the folder."""
        def make(work):
            configs = []
            for name, config in GENERATED.items():
                configs.append(work / f"{name}.json")
                configs[-1].write_text(json.dumps({
                    **config, "inputSpec": str(self.document), "outputDir": str(work / name),
                    "globalProperties": UNUSED}))
            run("java", "-Xmx512m", *JVM, "-jar", self.generator(), "batch", *configs)

        texts = [self.text, Path(__file__).read_text()]
        shutil.copytree(self.made("generated", texts, make) / language, target, dirs_exist_ok=True)

    def round(self, *command, **variables):
        self.assertEqual(run(*command, self.server.url, **variables), "round done\n")

    def test_java(self):
        def make(work):
            self.generated("java", work)
            run("mvn", "-q", "-B", "compile", COPY + "copy-dependencies",
                "-DincludeScope=runtime", cwd=work)
            run(*JAVAC, "-cp", "target/classes:target/dependency/*", "-d", "target/round",
                SOURCES / "Round.java", cwd=work)

        work = self.client("java", make)
        paths = [work / "target" / name for name in ("classes", "round", "dependency/*")]
        self.round("java", "-Xmx256m", *JVM, "-cp", ":".join(map(str, paths)), "Round")

    def test_go(self):
        def make(work):
            self.generated("go", work)
            (work / "round").mkdir()
            shutil.copy(SOURCES / "round.go", work / "round/main.go")
            run("go", "vet", ".", "./round", cwd=work, GOFLAGS="-mod=mod")
            run("go", "build", "-o", "made", "./round", cwd=work, GOFLAGS="-mod=mod")

        self.round(self.client("go", make) / "made")

    def test_python(self):
        python = self.environment(f"openapi-python-client=={PYTHON_GENERATOR}")

        def make(work):
            (work / "config.json").write_text(json.dumps({"post_hooks": []}))
            run(python, "-m", "openapi_python_client", "generate", "--path", self.document,
                "--output-path", work / "tarry_client", "--meta", "none",
                "--config", work / "config.json", "--fail-on-warning")
            run(python, "-m", "compileall", "-q", work / "tarry_client")

        work = self.client("python", make)
        self.round(python, SOURCES / "round.py", PYTHONPATH=str(work))

    def test_typescript(self):
        def make(work):
            self.generated("typescript", work / "client")
            shutil.copy(SOURCES / "round.ts", work / "round.ts")
            (work / "node_modules").symlink_to(self.node_modules())
            run("npx", "tsc", "--strict", "--noUncheckedIndexedAccess", "--target", "es2022",
                "--module", "commonjs", "--moduleResolution", "node10", "--skipLibCheck",
                "--outDir", "made", "round.ts", cwd=work)

        self.round("node", self.client("typescript", make) / "made/round.js")


if __name__ == "__main__":
    unittest.main()
