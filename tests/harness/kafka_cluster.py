"""librdkafka's mock cluster in a process of its own, and the records that have arrived in a topic.
"""

import collections
import os
import subprocess
from pathlib import Path

PROGRAM = Path(os.environ.get("TARRY_PROGRAM", "")).parent / "tests" / "tarry_kafka_cluster"

Record = collections.namedtuple("Record", "key attempt due_ms made_ms partition")


class KafkaCluster:
    """Brokers on free ports of 127.0.0.1. Their output goes to a file in `parent`."""

    def __init__(self, brokers, topic, *, parent):
        self._out = Path(parent) / f"kafka-{topic}"
        with open(self._out, "wb") as out:
            self._process = subprocess.Popen([PROGRAM, str(brokers), topic], stdin=subprocess.PIPE,
                                             stdout=out)
        self._told = 0
        self.brokers = self._wait_for(lambda lines: lines and lines[0])

    def _lines(self):
        """Only whole lines: the last one may still be incomplete."""
        return self._out.read_text(encoding="utf-8").split("\n")[:-1]

    def _wait_for(self, wanted):
        while True:
            found = wanted(self._lines())
            if found:
                return found
            if self._process.poll() is not None:
                raise AssertionError(f"the cluster ended with {self._process.returncode}")
            os.sched_yield()

    def say(self, word):
        """Says `down` or `up`, and returns once that is done."""
        self._told += 1
        self._process.stdin.write(f"{word}\n".encode())
        self._process.stdin.flush()
        self._wait_for(lambda lines: sum(line in ("down", "up") for line in lines) >= self._told)

    def records(self):
        """The records that have arrived so far."""
        return [Record(fields[0], *map(int, fields[1:]))
                for fields in (line.split() for line in self._lines()[1:]) if len(fields) == 5]

    def stop(self):
        self._process.stdin.close()
        self._process.wait()
