"""A server that also listens for SQS's clients."""

from pathlib import Path

import program

SQS = ("--sqs", "127.0.0.1:0")


class Server(program.Server):
    """`sqs_url` is the endpoint for SQS's clients: the last port of the server."""

    def __init__(self, store, *flags, **options):
        super().__init__(store, *flags, **options)
        ports = Path(self._directory.name) / "port"
        self.sqs_port = int(ports.read_text().split()[-1])
        self.sqs_url = f"http://127.0.0.1:{self.sqs_port}"
