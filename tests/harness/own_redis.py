"""Tests with a Redis of their own."""

from ports import free_port
from program import ProgramTest
from redis_server import RedisServer


class Redis(ProgramTest):
    words = ()

    def setUp(self):
        super().setUp()
        for left in range(4, -1, -1):  # another program may take the port before the server does
            port = free_port()
            self.redis = RedisServer("--port", str(port), *self.words, parent=self.directory)
            self.addCleanup(self.redis.close)
            try:
                self.redis.start()
                break
            except Exception:
                if left == 0:
                    raise
        self.store = f"redis://127.0.0.1:{port}/0"

    def add(self, *fields, partition=0):
        return self.redis.ask("XADD", f"tarry:{{{partition}}}:in", "*", *fields)

    def left(self, partition=0):
        return self.redis.ask("XLEN", f"tarry:{{{partition}}}:in")
