#!/usr/bin/env python3
"""tarry relay to a webhook: the answers of an HTTP server, or its silence, and what then happens to
the message.
"""

import email.utils
import hashlib
import hmac
import http.server
import json
import os
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import unittest
from pathlib import Path

from authority import Authority
from fault_proxy import FaultProxy
from program import DONE, PROGRAM, SOURCE, ProgramTest, Server, environment, eventually

GUIDE = SOURCE / "docs/guide/relays.md"
SECRET = "correct horse battery staple"


class Receiver(http.server.ThreadingHTTPServer):
    """Answers by the path: /status/NNN answers that status; /drop closes before an answer, /cut in
    the middle of it; /hang never answers; /hold answers 200 once `over` is set, /late after half a
    second."""

    daemon_threads = True

    def __init__(self, tls=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests = []  # (path, headers, body)
        self.retry_after = None
        self.status = None  # the status of every answer, whatever the path
        self.over = threading.Event()
        self.connections = 0
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.origin = f"{'https' if tls else 'http'}://127.0.0.1:{self.server_address[1]}"
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def process_request(self, request, client_address):
        self.connections += 1
        super().process_request(request, client_address)

    def handle_error(self, request, client_address):
        """Ignored, because some tests are about clients that hang up."""

    def end(self):
        self.over.set()
        self.shutdown()
        self._thread.join()
        self.server_close()

    def bodies(self):
        return [body for _, _, body in self.requests]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass

    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, self.headers, body))
        what = self.path.split("?")[0]
        if what == "/hold":
            self.server.over.wait()
        if what == "/late":
            self.server.over.wait(0.5)
        if what == "/hang":
            self.server.over.wait()
            self.close_connection = True
            return
        if what == "/drop":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        if what == "/cut":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        found = re.fullmatch(r"/status/(\d+)", what)
        status = self.server.status or (int(found[1]) if found else 200)
        text = f"because {status}".encode()
        self.send_response(status)
        if self.server.retry_after:
            self.send_header("Retry-After", self.server.retry_after)
        if status in (301, 302, 307):
            self.send_header("Location", "/ok")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class Webhook(ProgramTest):
    def setUp(self):
        super().setUp()
        if "webhook" not in self.asked("version")["sinks"]:
            self.skipTest("this build knows no webhooks")
        self.server = Server("memory:")
        self.addCleanup(self.server.stop)
        self.remote("queue", "set", "q", "--backoff-min", "1ms", "--backoff-max", "1ms",
                    "--max-attempts", "3")
        self.receiver = self.receive()

    def receive(self, tls=None):
        receiver = Receiver(tls)
        self.addCleanup(receiver.end)
        return receiver

    def remote(self, *words, **more):
        return self.asked(*words, store=self.server.url, **more)

    @staticmethod
    def kill(relay):
        if relay.poll() is None:
            relay.kill()
            relay.communicate()

    def start(self, path="/ok", options="", origin=None, flags=(), store=None, **variables):
        """Starts `tarry relay q` in the background."""
        url = f"{origin or self.receiver.origin}{path}#allow_private=yes{options}"
        relay = subprocess.Popen(
            [PROGRAM, "--store", store or self.server.url, "-o", "json", "relay", "q", "--to", url,
             *flags],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.directory,
            env=environment(**variables))
        self.addCleanup(self.kill, relay)
        return relay

    def stop(self, relay):
        relay.send_signal(signal.SIGTERM)
        out, err = relay.communicate(timeout=60)
        self.assertEqual(relay.returncode, DONE, err)
        return json.loads(out)

    def push(self, key, payload="x", *more):
        self.remote("push", "q", payload, "--key", key, *more)

    def state(self, key):
        return self.remote("get", "q", key)["state"]

    def dead(self, key, reason):
        eventually(lambda: self.state(key) == "dead", f"{key} is dead")
        found = self.remote("get", "q", key)
        self.assertIn(reason, found["reason"])
        return found

    def acked(self, count):
        eventually(lambda: self.remote("queue", "info", "q")["counters"]["acked"] == count,
                   f"{count} acked")

    def test_the_message_arrives_whole_on_connections_that_are_kept(self):
        relay = self.start("/due?shop=eu", "&connections=1&content_type=text/plain")
        for i in range(5):
            self.push(f"k{i}", f"body {i}", "--header", "X-Lang=de")
        self.acked(5)
        self.assertEqual(self.receiver.bodies(), [b"body %d" % i for i in range(5)])
        path, headers, _ = self.receiver.requests[0]
        self.assertEqual(path, "/due?shop=eu")
        self.assertEqual((headers["Tarry-Queue"], headers["Tarry-Key"], headers["Tarry-Attempt"]),
                         ("q", "k0", "1"))
        self.assertEqual((headers["X-Lang"], headers["Content-Type"]), ("de", "text/plain"))
        self.assertEqual(headers["Idempotency-Key"], headers["Tarry-Id"])
        self.assertGreaterEqual(int(headers["Tarry-Timestamp"]) * 1000 + 999,
                                int(headers["Tarry-Due-Ms"]))
        self.assertNotIn("Tarry-Signature", headers)
        self.assertEqual(self.receiver.connections, 1)
        self.assertEqual(self.stop(relay)["acked"], 5)

    def test_what_waits_for_its_turn_does_not_go_out_once_its_lease_has_ended(self):
        proxy = FaultProxy(lambda: socket.create_connection(("127.0.0.1", self.server.port)))
        self.addCleanup(proxy.close)
        for key in ("first", "second", "third"):
            self.push(key, key)
        relay = self.start("/hold", "&connections=1", flags=("--lease", "1s"),
                           store=f"http://127.0.0.1:{proxy.port}")
        eventually(lambda: self.receiver.bodies() == [b"first"], "the first one is there")
        eventually(lambda: self.state("third") == "leased", "the others wait behind it")
        proxy.set("stall")
        eventually(lambda: self.state("second") == "ready", "its lease has run out")
        self.assertEqual(self.remote("cancel", "q", "second")["results"][0]["outcome"],
                         "cancelled")
        self.receiver.over.set()
        proxy.set("pass")
        self.push("last", "last")
        eventually(lambda: b"last" in self.receiver.bodies(), "it goes on")
        self.acked(3)
        self.assertNotIn(b"second", self.receiver.bodies())
        self.assertEqual(self.receiver.bodies().count(b"third"), 1)
        self.assertEqual(self.stop(relay)["buried"], 0)

    def test_the_path_may_be_the_messages(self):
        relay = self.start("/due", "&path_from=to")
        self.push("a", "x", "--header", "to=/orders/7?x=1")
        self.push("b")
        self.push("c", "x", "--header", "to=http://elsewhere/")
        self.dead("c", 'header "to" with "http://elsewhere/" is no path')
        self.acked(2)
        self.assertEqual({path for path, _, _ in self.receiver.requests},
                         {"/orders/7?x=1", "/due"})
        self.stop(relay)

    def test_4xx_is_dead_at_once_and_5xx_after_its_attempts(self):
        relay = self.start("/status/200", "&path_from=to")
        for status in (400, 404, 410, 422):
            self.push(str(status), "x", "--header", f"to=/status/{status}")
        for status in (400, 404, 410, 422):
            found = self.dead(str(status), f'answered {status}: "because {status}"')
            self.assertEqual(found["attempt"], 1)
        for done, status in enumerate((408, 425, 429, 500, 503, 302)):
            self.push(str(status), "x", "--header", f"to=/status/{status}")
            found = self.dead(str(status), f'answered {status}: "because {status}"')
            self.assertEqual(found["attempt"], 3)
            self.push(f"well-{status}")  # otherwise the breaker would open
            self.acked(done + 1)
        self.assertIn("redirects are not followed", self.remote("get", "q", "302")["reason"])
        paths = [path for path, _, _ in self.receiver.requests]
        self.assertEqual(paths.count("/status/500"), 3)
        self.assertNotIn("/ok", paths)
        attempts = [int(headers["Tarry-Attempt"]) for path, headers, _ in self.receiver.requests
                    if path == "/status/503"]
        self.assertEqual(attempts, [1, 2, 3])
        self.stop(relay)

    def test_what_is_refused_is_told_of(self):
        relay = self.start("/status/404")
        self.push("k")
        self.assertIn(b'messages are refused for good; the last error: answered 404: "because 404"',
                      relay.stderr.readline())
        self.stop(relay)

    def test_who_may_not_call_it_kills_no_message(self):
        for status in (401, 403, 407, 409):
            with self.subTest(status):
                relay = self.start(f"/status/{status}", flags=("--max-attempts", "2"))
                self.push(str(status))
                self.assertEqual(self.dead(str(status), f"answered {status}")["attempt"], 2)
                self.stop(relay)

    def test_retry_after_is_honoured_in_seconds_and_as_a_date(self):
        relay = self.start("/status/503")
        for retry_after in ("3600", email.utils.formatdate(time.time() + 3600, usegmt=True)):
            with self.subTest(retry_after):
                key = retry_after.replace(" ", "-")
                self.receiver.retry_after = retry_after
                self.push(key)
                eventually(lambda: self.state(key) == "scheduled", "it is to be tried again")
                due = self.remote("get", "q", key)["due_ms"] / 1000 - time.time()
                self.assertTrue(3400 < due < 3700, due)
        self.stop(relay)

    def test_what_breaks_off_is_tried_again_as_another_attempt(self):
        relay = self.start("/ok", "&path_from=to&timeout=300ms")
        for what in ("drop", "cut", "hang"):
            self.push(what, "x", "--header", f"to=/{what}")
        for what in ("drop", "cut", "hang"):
            self.dead(what, "")
            attempts = [int(headers["Tarry-Attempt"])
                        for path, headers, _ in self.receiver.requests if path == "/" + what]
            self.assertEqual(attempts, [1, 2, 3], what)
        self.assertIn("cut off", self.remote("get", "q", "cut")["reason"])
        self.push("after")
        self.acked(1)
        self.stop(relay)

    def test_one_request_that_times_out_while_others_are_answered_is_no_outage(self):
        self.push("stuck", "x", "--max-attempts", "1", "--header", "to=/hang")
        for i in range(12):
            self.push(f"k{i}")
        relay = self.start("/late", "&path_from=to&connections=2&timeout=3s")
        self.dead("stuck", "")  # while other messages wait for their turn
        self.acked(12)
        counts = self.stop(relay)
        self.assertEqual((counts["breaker_openings"], counts["released"]), (0, 0))

    def test_nothing_dies_of_a_receiver_that_is_away(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
            relay = self.start(origin=f"http://127.0.0.1:{port}")
            for key in "abc":
                self.push(key)
            line = relay.stderr.readline().decode()
            self.assertIn(f"webhook http://127.0.0.1:{port} is down: ", line)
        states = [self.remote("get", "q", key) for key in "abc"]
        self.assertEqual([one["attempt"] for one in states], [0, 0, 0])
        counts = self.stop(relay)
        self.assertEqual((counts["buried"], counts["retried"]), (0, 0))
        relay = self.start()
        self.acked(3)
        self.stop(relay)

    def test_a_receiver_that_fails_everybody_opens_the_breaker(self):
        self.receiver.status = 500
        self.remote("queue", "set", "q", "--max-attempts", "100")
        relay = self.start()
        for i in range(8):
            self.push(str(i))
        said = relay.stderr.readline()
        if b"messages fail" in said:  # if it has time for that before the breaker opens
            said = relay.stderr.readline()
        self.assertIn(b" is down: answered 500", said)
        self.receiver.status = None
        self.assertIn(b" is back", relay.stderr.readline())
        self.acked(8)
        self.assertEqual(self.stop(relay)["buried"], 0)

    def test_the_guides_receiver_checks_the_signature(self):
        code, = re.findall(r"<!-- webhook receiver -->\n```python\n(.*?)```",
                           GUIDE.read_text(encoding="utf-8"), re.DOTALL)
        (self.directory / "secret").write_text(SECRET + "\n")
        os.chmod(self.directory / "secret", 0o600)
        for options, variables in (("&secret_file=secret", {}),
                                   ("&secret_env=HOOK_SECRET", {"HOOK_SECRET": SECRET})):
            with self.subTest(options):
                self.receiver.requests.clear()
                relay = self.start("/ok", options, **variables)
                self.push("k" + options[1:10], "häuser\n")
                eventually(lambda: self.receiver.requests, "it arrives")
                path, headers, body = self.receiver.requests[0]
                names = {"secret": SECRET.encode(), "headers": headers, "body": body, "path": path}

                def is_genuine(code=code, names=names, **others):
                    mine = names | others
                    exec(code, mine)  # pylint: disable=exec-used
                    return mine["genuine"]

                self.assertTrue(is_genuine())
                self.assertFalse(is_genuine(body=body + b" "))
                self.assertFalse(is_genuine(path=path + "?more"))
                for name in ("Tarry-Id", "Tarry-Queue", "Tarry-Key", "Tarry-Attempt",
                             "Tarry-Timestamp"):
                    other = dict(headers) | {name: str(headers[name]) + "1"}
                    self.assertFalse(is_genuine(headers=other), name)
                cmdline = Path(f"/proc/{relay.pid}/cmdline").read_bytes()
                self.assertNotIn(SECRET.encode(), cmdline)
                self.stop(relay)

    def test_the_signature_of_before_is_made_where_it_is_wanted(self):
        (self.directory / "secret").write_text(SECRET + "\n")
        relay = self.start("/ok", "&secret_file=secret&signature=v1")
        self.push("k", "tea")
        eventually(lambda: self.receiver.requests, "it arrives")
        _, headers, body = self.receiver.requests[0]
        text = headers["Tarry-Timestamp"].encode() + b"." + body
        self.assertEqual(headers["Tarry-Signature"],
                         "v1=" + hmac.new(SECRET.encode(), text, hashlib.sha256).hexdigest())
        self.stop(relay)

    def test_a_producer_does_not_speak_for_the_relay(self):
        relay = self.start()
        theirs = {"Cookie": "session=1", "Authorization": "Bearer theirs",
                  "X-Forwarded-For": "10.0.0.1", "Content-Encoding": "gzip", "Host": "elsewhere",
                  "X-Shop": "eu"}
        flags = [word for name, value in theirs.items() for word in ("--header", f"{name}={value}")]
        self.push("k", "x", *flags)
        self.acked(1)
        (_, headers, _), = self.receiver.requests
        self.assertEqual(headers["X-Shop"], "eu")
        self.assertNotEqual(headers["Host"], "elsewhere")
        for name in ("Cookie", "Authorization", "X-Forwarded-For", "Content-Encoding"):
            self.assertNotIn(name, headers)
        self.stop(relay)

    def test_the_token_goes_along(self):
        (self.directory / "token").write_text("sesame\n")
        relay = self.start(options="&token_file=token")
        self.push("k")
        self.acked(1)
        (_, headers, _), = self.receiver.requests
        self.assertEqual(headers["Authorization"], "Bearer sesame")
        self.assertNotIn(b"sesame", Path(f"/proc/{relay.pid}/cmdline").read_bytes())
        self.stop(relay)

    def certify(self, name):
        """Makes NAME.pem and NAME.key, signed only by itself."""
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
             f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{name}.key",
             "-out", f"{name}.pem"], cwd=self.directory, check=True, capture_output=True)

    def serving_tls(self):
        self.certify("receiver")
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.directory / "receiver.pem", self.directory / "receiver.key")
        return tls

    def authority(self, name):
        """With a server's and a client's certificate, in the folder NAME."""
        files = Authority(self.directory / name, name)
        files.issue("server")
        files.issue("client", "client")
        return files

    def demanding(self, files, version):
        """A receiver that demands a certificate of that authority."""
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.minimum_version = tls.maximum_version = version
        tls.load_cert_chain(files.path("server"), files.key("server"))
        tls.verify_mode = ssl.CERT_REQUIRED
        tls.load_verify_locations(files.path("ours"))
        return self.receive(tls)

    def test_a_receiver_that_demands_a_certificate(self):
        strangers = self.authority("strangers")
        own = self.authority("ours")
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with self.subTest(version):
                receiver = self.demanding(own, version)
                ours = "&ca=ours/ours.pem"
                self.push(version.name)
                relay = self.start(options=ours, origin=receiver.origin)
                self.assertIn(b" is down: the server demands a client's certificate: give it with "
                              b"cert=FILE and key=FILE; ", relay.stderr.readline())
                self.stop(relay)
                for suffix in ("pem", "key"):
                    shutil.copy(strangers.here / f"client.{suffix}", self.directory)
                # The file is replaced while the relay runs.
                relay = self.start(options=ours + "&cert=client.pem&key=client.key",
                                   origin=receiver.origin)
                self.assertIn(b' is down: the server refuses the client\'s certificate '
                              b'"client.pem": its authority is unknown to the server; ',
                              relay.stderr.readline())
                self.assertEqual(receiver.requests, [])
                # While the relay holds the message for a probe, its attempt counts.
                eventually(lambda key=version.name: self.remote("get", "q", key)["attempt"] == 0,
                           "it is given back")
                for suffix in ("pem", "key"):
                    shutil.copy(self.directory / f"ours/client.{suffix}",
                                self.directory / f"new.{suffix}")
                    os.replace(self.directory / f"new.{suffix}",
                               self.directory / f"client.{suffix}")
                eventually(lambda path=receiver: len(path.requests) == 1, "it arrives")
                self.assertIn(b" is back", relay.stderr.readline())
                self.stop(relay)

    def test_a_replaced_authority_is_trusted_without_a_restart(self):
        receiver = self.receive(self.serving_tls())
        self.certify("other")
        shutil.copy(self.directory / "other.pem", self.directory / "ca.pem")
        relay = self.start(options="&ca=ca.pem", origin=receiver.origin)
        self.push("k")
        self.assertIn(b" is down: ", relay.stderr.readline())
        shutil.copy(self.directory / "receiver.pem", self.directory / "new.pem")
        os.replace(self.directory / "new.pem", self.directory / "ca.pem")
        self.acked(1)
        self.stop(relay)

    def test_files_that_cannot_be_used(self):
        files = self.authority("ours")
        files.issue("other", "client")
        client, key = files.path("client"), files.key("client")
        secret = files.encrypt_key("client", "sesame")
        (self.directory / "text").write_text("no PEM\n")
        for options, says in (
                (f"cert={client}", "options cert and key go together; one of them is not given"),
                (f"key={key}", "options cert and key go together; one of them is not given"),
                ("ca=/no/such", 'the CA file "/no/such" cannot be read: No such file'),
                ("ca=text", 'the CA file "text" holds no certificate in PEM form'),
                (f"cert=/no/such&key={key}", 'the certificate file "/no/such" cannot be read: No'),
                (f"cert=.&key={key}", 'the certificate file "." cannot be read: it is a directory'),
                (f"cert=text&key={key}", 'the certificate file "text" holds no certificate in PEM'),
                (f"cert={key}&key={key}", f'the certificate file "{key}" holds no certificate in'),
                (f"cert={client}&key=/no/such", 'the key file "/no/such" cannot be read: No such'),
                (f"cert={client}&key=text", 'the key file "text" holds no usable private key in'),
                (f"cert={client}&key={client}", f'the key file "{client}" holds no usable private'),
                (f"cert={client}&key={files.key('other')}",
                 f'the key file "{files.key("other")}" does not belong to the certificate in '
                 f'"{client}"'),
                (f"cert={client}&key={secret}", f'"{secret}" is encrypted with a passphrase')):
            with self.subTest(options):
                to = f"https://hooks.example/#{options}"
                self.refused("relay", "q", "--to", to, says=says)
                (self.directory / "relays.toml").write_text(
                    f'[[relay]]\nqueue = "q"\nto = "{to}"\n')
                for command in (("config", "check"), ("config", "check", "-o", "json"), ("relay",)):
                    self.refused(*command, "--config", "relays.toml", says=says)
        self.refused("relay", "q", "--to", f"http://hooks.example/#cert={client}&key={key}",
                     says="options ca, cert and key are for https:, and the URL is http:")
        self.refused("relay", "q", "--to", "http://hooks.example/#ca=text",
                     says="options ca, cert and key are for https:, and the URL is http:")

    def test_connecting_has_so_long(self):
        """Connects to a server that accepts nobody: its queue of connections is full."""
        with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
            waiting = []
            self.addCleanup(lambda: [one.close() for one in waiting])
            while not waiting or select.select([], waiting[-1:], [], 0.1)[1]:
                waiting.append(socket.socket())
                waiting[-1].setblocking(False)
                waiting[-1].connect_ex(full.getsockname())
            origin = f"http://127.0.0.1:{full.getsockname()[1]}"
            self.push("k")
            patient = self.start(options="&connect_timeout=1h&timeout=1h", origin=origin)
            eventually(lambda: self.state("k") == "leased", "the patient one has it")
            # This relay begins later, but is the first to say that the far end is down.
            self.remote("push", "other", "x", "--key", "k")
            hasty = subprocess.Popen(
                [PROGRAM, "--store", self.server.url, "relay", "other", "--to",
                 origin + "/ok#allow_private=yes&connect_timeout=1ms"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
            self.addCleanup(self.kill, hasty)
            self.assertIn(b" is down: ", hasty.stderr.readline())
            patient.kill()
            self.assertEqual(patient.communicate(timeout=60), (b"", b""))

    def test_tls_with_a_certificate_that_is_trusted_and_one_that_is_not(self):
        receiver = self.receive(self.serving_tls())
        self.push("k")
        relay = self.start(origin=receiver.origin)
        self.assertIn(b" is down: ", relay.stderr.readline())
        self.assertEqual(self.stop(relay)["acked"], 0)
        self.assertEqual(receiver.requests, [])
        relay = self.start(options="&ca=receiver.pem", origin=receiver.origin)
        self.acked(1)
        self.stop(relay)

    def test_proxies_of_the_environment_are_not_asked(self):
        relay = self.start(http_proxy="http://127.0.0.1:1", HTTP_PROXY="http://127.0.0.1:1",
                           all_proxy="http://127.0.0.1:1")
        self.push("k")
        self.acked(1)
        self.stop(relay)

    def test_a_name_that_leads_to_a_private_address_is_not_called(self):
        """A name whose address is known only after a look-up."""
        relay = subprocess.Popen(
            [PROGRAM, "--store", self.server.url, "-o", "json", "relay", "q", "--to",
             f"http://hook.localhost:{self.receiver.server_address[1]}/ok"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        self.addCleanup(self.kill, relay)
        self.push("k")
        line = relay.stderr.readline().decode()
        self.assertRegex(line, r' is down: host "hook\.localhost" leads to \S+, which is not '
                         r"permitted by allow=public \(the default\); allow=\S+ permits it")
        counts = self.stop(relay)
        self.assertEqual((counts["retried"], counts["buried"]), (0, 0))
        self.assertEqual(self.remote("get", "q", "k")["attempt"], 0)
        self.assertEqual(self.receiver.requests, [])

    def start_with(self, allow, host):
        """A relay of `q` to the receiver by this name or address."""
        relay = subprocess.Popen(
            [PROGRAM, "--store", self.server.url, "-o", "json", "relay", "q", "--to",
             f"http://{host}:{self.receiver.server_address[1]}/ok#allow={allow}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        self.addCleanup(self.kill, relay)
        return relay

    def test_a_listed_name_or_network_is_called(self):
        for number, (allow, host) in enumerate((
                ("hook.localhost", "hook.localhost"),
                ("public,*.LocalHost", "hook.localhost"),
                ("localhost", "localhost"),
                ("127.0.0.0/8", "hook.localhost"),
                ("127.0.0.1", "127.0.0.1"),
                ("fd00::/8,127.0.0.0/30", "2130706433"),
                ("127.0.0.1", "0x7f.1"),
                ("::ffff:127.0.0.0/104", "0177.0.0.1"),
                ("127.0.0.0/8", "[::ffff:127.0.0.1]"),
                ("0.0.0.0", "0.0.0.0"),
                ("0.0.0.0/0,::/0", "hook.localhost")), start=1):
            with self.subTest(allow, host=host):
                relay = self.start_with(allow, host)
                self.push(f"k{number}")
                self.acked(number)
                self.stop(relay)

    def test_what_is_not_listed_is_not_called(self):
        """hook.localhost leads to 127.0.0.1 and ::1, which is known only when it is called."""
        self.push("k")
        for allow, address in (("public", r"\S+"), ("::1", "127.0.0.1"),
                               ("127.0.0.0/32,*.hook.localhost,localhost", r"\S+"),
                               ("10.0.0.0/8,0.0.0.0,::/64", "127.0.0.1")):
            with self.subTest(allow):
                relay = self.start_with(allow, "hook.localhost")
                said = relay.stderr.readline().decode()
                self.assertRegex(said, f' is down: host "hook.localhost" leads to {address}, which '
                                 f"is not permitted by allow={re.escape(allow)}")
                counts = self.stop(relay)
                self.assertEqual((counts["retried"], counts["buried"]), (0, 0))
        self.assertEqual(self.remote("get", "q", "k")["attempt"], 0)
        self.assertEqual((self.receiver.requests, self.receiver.connections), ([], 0))

    def test_a_permitted_address_stands_in_for_one_that_is_not(self):
        """Each address of a name is checked on its own."""
        relay = self.start_with("127.0.0.1", "hook.localhost")
        self.push("k")
        self.acked(1)
        self.stop(relay)

    def test_bad_input(self):
        (self.directory / "short").write_text("short")
        for url, says in (
                ("http://", "the URL is none"),
                ("http://u:hush@example.com/", "the URL names a user"),
                ("http://u:a#hush@example.com/", "as %2F, %3F, %23 and %25"),
                ("http://127.0.0.1/", 'host "127.0.0.1" is not permitted by allow=public (the '
                 "default); allow=127.0.0.1 permits it"),
                ("http://localhost/", 'host "localhost" leads to 127.0.0.1, which is not'),
                ("https://10.1.2.3/x", 'host "10.1.2.3" is not permitted by allow=public'),
                ("http://[::1]:80/", 'host "::1" is not permitted by allow=public'),
                ("http://169.254.169.254/latest", "is not permitted by allow=public"),
                ("http://2130706433/", 'host "127.0.0.1" is not permitted by allow=public'),
                ("http://017700000001/", 'host "127.0.0.1" is not permitted by allow=public'),
                ("http://127.1/", 'host "127.0.0.1" is not permitted by allow=public'),
                ("http://0x7f.0.0.1/", 'host "127.0.0.1" is not permitted by allow=public'),
                ("http://0/", 'host "0.0.0.0" is not permitted by allow=public'),
                ("http://[::]/", 'host "::" is not permitted by allow=public'),
                ("http://[::ffff:10.0.0.1]/", 'host "::ffff:10.0.0.1" is not permitted by allow='),
                ("http://[fe80::1%25lo]/", 'host "fe80::1" is not permitted by allow=public'),
                ("http://10.1.2.3/#allow=10.0.0.0/16", '"10.1.2.3" is not permitted by allow=10.'),
                ("http://[::1]/#allow=127.0.0.0/8", '"::1" is not permitted by allow=127.0.0.0/8'),
                ("http://8.8.8.8/#allow=10.0.0.0/8", '"8.8.8.8" is not permitted by allow=10.'),
                ("http://a.example/#allow=*.a.example,b.example", 'host "a.example" is not '
                 "permitted by allow=*.a.example,b.example, which has only names"),
                ("http://a.example/#allow=10.0.0.1/8", 'allow: entry "10.0.0.1/8" is no network'),
                ("http://a.example/#allow=a.example:80", 'allow: entry "a.example:80" is none'),
                ("http://a.example/#allow=", 'allow: entry "" is none'),
                ("http://a.example/#allow=10.0.0.0/8&allow_private=yes", "exclude each other"),
                ("http://example.com/#retries=5", '"retries"'),
                ("http://example.com/#connections=0", "connections"),
                ("http://example.com/#connections=257", "connections"),
                ("http://example.com/#timeout=2h", "a time-out of 2h must be from 1ms to 1h"),
                ("http://example.com/#timeout=soon", "soon"),
                ("http://example.com/#connect_timeout=0s", "must be from 1ms to 1h"),
                ("http://example.com/#allow_private=maybe", '"maybe" must be yes or no'),
                ("https://example.com/#timeot=1s", '"timeot" is not one of https:, which are'),
                ("https://example.com/#timeot=1s", 'did you mean "timeout"?'),
                ("http://example.com/#secret_file=/no/such", '"/no/such" cannot be read'),
                ("http://example.com/#secret_file=short", "has 5 bytes; it needs 16"),
                ("http://example.com/#secret_env=NOT_SET", '"NOT_SET" is not set'),
                ("http://example.com/#token_file=/no/such", '"/no/such" cannot be read'),
                ("http://example.com/#content_type=a%0Ab", "must be one line of ASCII")):
            with self.subTest(url):
                refused = self.refused("relay", "q", "--to", url, says=says)
                self.assertNotIn("hush", refused.err)


if __name__ == "__main__":
    unittest.main()
