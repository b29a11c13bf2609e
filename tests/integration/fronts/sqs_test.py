#!/usr/bin/env python3
"""The SQS front, by Amazon's SDK for Python: the cases are in sqs_boto3.py and sqs_fifo.py, which
need the SDK.
"""

import unittest
from pathlib import Path

from kept import Kept, run
from program import PROGRAM, SOURCE

BOTO3 = "1.43.11"


class Sdk(Kept):
    def run_cases(self, name):
        python = self.environment(f"boto3=={BOTO3}")
        here = Path(__file__).resolve().parent
        print(run(python, "-B", here / name, cwd=here,
                  TARRY_PROGRAM=str(Path(PROGRAM).resolve()), TARRY_SOURCE_DIR=str(SOURCE)))

    def test_the_cases_of_boto3(self):
        self.run_cases("sqs_boto3.py")

    def test_fifo_queues(self):
        self.run_cases("sqs_fifo.py")


if __name__ == "__main__":
    unittest.main()
