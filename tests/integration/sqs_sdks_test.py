#!/usr/bin/env python3
"""The SQS front, by SDKs that take long to install: only with TARRY_SQS_SDKS=1. The cases of boto3,
which always run, are those of sqs_test.py.
"""

import os
import shutil
import unittest

from kept import Kept, run
from program import SOURCE
from sqs_server import SQS, Server

DRIVERS = SOURCE / "tests/integration/sqs_sdks"
NPM = ("@aws-sdk/client-sqs@3.1075.0", "sqs-consumer@15.0.3")


@unittest.skipUnless(os.environ.get("TARRY_SQS_SDKS"), "only with TARRY_SQS_SDKS=1")
class Sdks(Kept):
    def test_javascript(self):
        def install(folder):
            run("npm", "install", "--silent", "--no-save", "--prefix", folder, *NPM)

        folder = self.made("sqs-javascript", NPM, install)
        shutil.copy(DRIVERS / "javascript.mjs", folder)
        with Server("memory:", *SQS) as server:
            said = run("node", "javascript.mjs", server.sqs_url, cwd=folder)
        self.assertIn("javascript: done", said)


if __name__ == "__main__":
    unittest.main()
