#!/usr/bin/env python3
"""The SQS front, by SDKs and frameworks that take long to install: only with TARRY_SQS_SDKS=1. The
cases of boto3, which always run, are those of sqs_test.py. Go's SDK needs Go 1.24 or later, and
Rust's a newer Rust than Debian's: without cargo it is skipped.
"""

import json
import os
import re
import shutil
import subprocess
import unittest

from kept import JAVAC, JVM, Kept, run
from ports import free_port
from program import SOURCE, eventually
from sqs_server import SQS, Server

HERE = SOURCE / "tests/integration/fronts"
DRIVERS = HERE / "sqs_sdks"
NPM = ("@aws-sdk/client-sqs@3.1075.0", "sqs-consumer@15.0.3")
CELERY = ("celery[sqs]==5.7.0", "boto3==1.44.8")
AWSCLI = "awscli==1.46.3"
BOTO3 = "boto3==1.43.11"
ELASTICMQ = SOURCE / "tests/elasticmq/pom.xml"
CLASSPATH = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"


@unittest.skipUnless(os.environ.get("TARRY_SQS_SDKS"), "only with TARRY_SQS_SDKS=1")
class Sdks(Kept):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("memory:", *SQS).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def test_javascript(self):
        def install(folder):
            run("npm", "install", "--silent", "--no-save", "--prefix", folder, *NPM)

        folder = self.made("sqs-javascript", NPM, install)
        shutil.copy(DRIVERS / "javascript.mjs", folder)
        said = run("node", "javascript.mjs", self.server.sqs_url, cwd=folder)
        self.assertIn("javascript: done", said)

    def test_go(self):
        sources = [DRIVERS / "go" / name for name in ("main.go", "go.mod", "go.sum")]

        def make(folder):
            for source in sources:
                shutil.copy(source, folder)
            run("go", "build", "-o", "driver", ".", cwd=folder)

        folder = self.made("sqs-go", [source.read_text() for source in sources], make)
        self.assertIn("go: done", run(folder / "driver", self.server.sqs_url))

    @unittest.skipUnless(shutil.which("cargo"), "no cargo")
    def test_rust(self):
        sources = [DRIVERS / "rust" / name for name in ("Cargo.toml", "src/main.rs")]

        def make(folder):
            (folder / "src").mkdir()
            for source in sources:
                shutil.copy(source, folder / source.relative_to(DRIVERS / "rust"))
            run("cargo", "build", "-q", cwd=folder)

        folder = self.made("sqs-rust", [source.read_text() for source in sources], make)
        said = run(folder / "target/debug/sqs_sdks", self.server.sqs_url)
        self.assertIn("rust: done", said)

    def test_java_and_spring(self):
        sources = [DRIVERS / "java" / name for name in ("pom.xml", "Driver.java")]

        def make(folder):
            run("mvn", "-q", "-B", "-f", sources[0], CLASSPATH, f"-Dmdep.outputFile={folder}/path")
            run(*JAVAC, "-parameters", "-cp", (folder / "path").read_text(), "-d", folder,
                sources[1])

        folder = self.made("sqs-java", [source.read_text() for source in sources], make)
        said = run("java", "-Xmx256m", *JVM, "-cp", f"{folder}:{(folder / 'path').read_text()}",
                   "Driver", self.server.sqs_url)
        self.assertIn("java: done", said)
        self.assertIn("spring: done", said)

    def test_the_calls_of_boto3_beside_elasticmq(self):
        def install(folder):
            run("mvn", "-q", "-B", "-f", ELASTICMQ, CLASSPATH, f"-Dmdep.outputFile={folder}/path")

        folder = self.made("elasticmq", [ELASTICMQ.read_text()], install)
        port = free_port()
        log = self.directory / "elasticmq.log"
        with log.open("w") as output:
            elasticmq = subprocess.Popen(
                ["java", f"-Drest-sqs.bind-port={port}", "-Drest-sqs.bind-hostname=127.0.0.1",
                 f"-Dnode-address.port={port}", "-Drest-stats.enabled=false",
                 "-cp", (folder / "path").read_text(), "org.elasticmq.server.Main"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        try:
            eventually(lambda: "=== ElasticMQ server" in log.read_text(), "ElasticMQ starts")
            with Server("memory:", *SQS) as server:
                print(run(self.environment(BOTO3), "-B", HERE / "sqs_pair.py", server.sqs_url,
                          f"http://127.0.0.1:{port}"))
        finally:
            elasticmq.kill()
            elasticmq.wait()
        reasons = re.findall(r"^    \"([^\"]+)\": lambda", (HERE / "sqs_pair.py").read_text(), re.M)
        table = (SOURCE / "docs/guide/sqs.md").read_text().partition("## Beside ElasticMQ")[2]
        told = [name for row in re.findall(r"^\| ([^|]+) \|", table, re.M)
                for name in row.split(", ")]
        self.assertEqual(sorted(reasons), sorted(set(told) - {"difference"}))

    def test_celery(self):
        python = self.environment(*CELERY)
        broker = self.server.sqs_url.replace("http://", "sqs://anyone:anything@") + "//"
        variables = {"BROKER": broker, "PYTHONDONTWRITEBYTECODE": "1"}
        worker = subprocess.Popen(
            [python, "-m", "celery", "-A", "celery_tasks", "worker", "-P", "solo"], cwd=DRIVERS,
            env=os.environ | variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT)
        try:
            done = self.directory / "done"
            run(python, "celery_tasks.py", done, cwd=DRIVERS, **variables)
            eventually(lambda: done.exists() and set(done.read_text().split()) == {
                "one", "two", "again", "later"}, "all tasks run")
        finally:
            worker.kill()
            worker.wait()

    def test_aws_cli(self):
        python = self.environment(AWSCLI)
        variables = {"AWS_ACCESS_KEY_ID": "anyone", "AWS_SECRET_ACCESS_KEY": "anything",
                     "AWS_DEFAULT_REGION": "us-east-1", "AWS_PAGER": ""}

        def sqs(*words):
            said = run(python, "-m", "awscli", "--endpoint-url", self.server.sqs_url,
                       "--output", "json", "sqs", *words, **variables)
            return json.loads(said or "{}")

        def receive(url):
            return sqs("receive-message", "--queue-url", url, "--max-number-of-messages", "10",
                       "--wait-time-seconds", "20")["Messages"]

        dead = sqs("create-queue", "--queue-name", "cli-dead")["QueueUrl"]
        arn = sqs("get-queue-attributes", "--queue-url", dead, "--attribute-names", "QueueArn")
        policy = json.dumps({"deadLetterTargetArn": arn["Attributes"]["QueueArn"],
                             "maxReceiveCount": 1})
        url = sqs("create-queue", "--queue-name", "cli", "--attributes",
                  json.dumps({"RedrivePolicy": policy}))["QueueUrl"]
        sqs("send-message", "--queue-url", url, "--message-body", "poison", "--delay-seconds", "1")
        message, = receive(url)
        for timeout in ("600", "0"):
            sqs("change-message-visibility", "--queue-url", url, "--visibility-timeout", timeout,
                "--receipt-handle", message["ReceiptHandle"])
        message, = receive(dead)
        self.assertEqual(message["Body"], "poison")
        sqs("delete-message", "--queue-url", dead, "--receipt-handle", message["ReceiptHandle"])
        sqs("send-message-batch", "--queue-url", url, "--entries",
            json.dumps([{"Id": str(i), "MessageBody": str(i)} for i in range(10)]))
        messages = receive(url)
        self.assertEqual(len(messages), 10)
        gone = sqs("delete-message-batch", "--queue-url", url, "--entries", json.dumps(
            [{"Id": one["Body"], "ReceiptHandle": one["ReceiptHandle"]} for one in messages]))
        self.assertEqual(len(gone["Successful"]), 10)


if __name__ == "__main__":
    unittest.main()
