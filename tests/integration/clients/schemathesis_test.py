#!/usr/bin/env python3
"""Schemathesis finds no difference between the server and its OpenAPI document, except those that
generated/schemathesis.toml lists with their reasons. Every run tries the same requests, so that a
failure speaks of the change at hand. TARRY_SEED and TARRY_SCHEMATHESIS_EXAMPLES allow other and
longer runs.
"""

import os
import unittest

from kept import SOURCES, Kept, run
from program import Server

VERSION = "4.32.5"


class Schemathesis(Kept):
    """All its checks, with a few examples for each operation."""

    def test_it_finds_no_difference(self):
        python = self.environment(f"schemathesis=={VERSION}")
        seed = os.environ.get("TARRY_SEED", "3822503117")  # once found an unchecked time
        examples = os.environ.get("TARRY_SCHEMATHESIS_EXAMPLES", "3")
        print("seed", seed, flush=True)
        with Server("memory:") as server:
            said = run(python, "-m", "schemathesis.cli",
                       "--config-file", SOURCES / "schemathesis.toml",
                       "run", server.url + "/v1/openapi.json", "--seed", seed, "--no-color",
                       "--phases", "examples,coverage,fuzzing", "--max-examples", examples,
                       "--request-timeout", "60", cwd=self.directory,
                       PYTHONPATH=str(SOURCES), SCHEMATHESIS_HOOKS="schemathesis_hooks")
        self.assertRegex(said, r"\d{3} passed")


if __name__ == "__main__":
    unittest.main()
