"""A TCP proxy between a client and a server, which fails as a test tells it.

Its mode applies to later connections and to existing ones:

pass     passes everything on, both ways
drop     accepts connections, and closes them at once
mute     passes requests on, and closes once the server answers: the answer is lost
half     like mute, but passes the first half of the answer on
bits     passes everything on, both ways, one byte at a time
stall    accepts connections, and passes nothing on
"""

import socket
import threading


class FaultProxy:
    def __init__(self, connect):
        """`connect` is a function that opens a socket to the server."""
        self._connect = connect
        self._mode = "pass"
        self._lock = threading.Lock()
        self._open = set()
        self._ended = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.connections = 0
        self.lost = 0  # answers that mute and half have withheld
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def set(self, mode):
        """The mode from now on. `pass` after another mode begins with new connections."""
        with self._lock:
            before, self._mode = self._mode, mode
        if mode == "drop" or before == "stall":
            self._cut_all()

    def close(self):
        with self._lock:
            self._ended = True
        # It wakes the thread that accepts; on Linux a plain close does not.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._cut_all()
        for thread in self._threads:
            thread.join()

    def _cut_all(self):
        with self._lock:
            for one in self._open:
                self._cut(one)

    @staticmethod
    def _cut(one):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the connection has ended already

    def _accept(self):
        while not self._ended:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            try:
                server = self._connect()
            except OSError:
                client.close()
                continue
            with self._lock:
                refused = self._ended or self._mode == "drop"
                if not refused:
                    self._open |= {client, server}
            if refused:
                client.close()
                server.close()
                continue
            for end in (client, server):
                if end.family != socket.AF_UNIX:
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for source, sink, answers in ((client, server, False), (server, client, True)):
                self._threads.append(
                    threading.Thread(target=self._pump, args=(source, sink, answers)))
                self._threads[-1].start()

    def _pump(self, source, sink, answers):
        try:
            while data := source.recv(65536):
                if self._mode == "stall":
                    continue
                if self._mode in ("mute", "half") and answers:
                    with self._lock:
                        self.lost += 1
                    if self._mode == "half":
                        sink.sendall(data[:len(data) // 2])
                    break
                if self._mode == "bits":
                    for i in range(len(data)):
                        sink.sendall(data[i:i + 1])
                    continue
                sink.sendall(data)
        except OSError:
            pass  # the other side is closed
        with self._lock:
            self._cut(source)
            self._cut(sink)
            self._open -= {source, sink}
        # Each pump closes the socket that it reads: the other pump may still be about to write to
        # its own.
        source.close()
