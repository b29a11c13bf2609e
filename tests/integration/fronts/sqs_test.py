#!/usr/bin/env python3
"""The SQS front, by Amazon's SDK for Python: the cases are in sqs_boto3.py, which needs the SDK."""

import unittest
from pathlib import Path

from kept import Kept, run
from program import PROGRAM, SOURCE

BOTO3 = "1.43.11"


class Sdk(Kept):
    def test_the_cases_of_boto3(self):
        python = self.environment(f"boto3=={BOTO3}")
        here = Path(__file__).resolve().parent
        print(run(python, "-B", here / "sqs_boto3.py", cwd=here,
                  TARRY_PROGRAM=str(Path(PROGRAM).resolve()), TARRY_SOURCE_DIR=str(SOURCE)))


if __name__ == "__main__":
    unittest.main()
