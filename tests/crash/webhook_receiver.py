#!/usr/bin/env python3
"""A receiver of webhooks that tests kill. For each request it first writes a line of JSON into a
file, and then answers.

usage: webhook_receiver.py PORT FILE, where port 0 is any; the port is printed once it listens.
"""

import http.server
import json
import sys
import threading
import time
import urllib.parse

LOCK = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass

    def do_POST(self):  # pylint: disable=invalid-name
        at_ms = int(time.time() * 1000)
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        line = json.dumps([at_ms, urllib.parse.unquote(self.headers["Tarry-Key"]),
                           int(self.headers["Tarry-Attempt"]),
                           int(self.headers["Tarry-Due-Ms"]), body])
        with LOCK:
            self.server.file.write(line + "\n")
            self.server.file.flush()
        self.wfile.write(b"HTTP/1.1 204 No Content\r\n\r\n")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A connection that breaks is no error: the relay may have been killed."""


def main():
    port, path = int(sys.argv[1]), sys.argv[2]
    server = Server(("127.0.0.1", port), Handler)
    # An earlier life may have left a line without its end.
    with open(path, "a", encoding="utf-8") as server.file:
        server.file.write("\n")
        print(server.server_address[1], flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
