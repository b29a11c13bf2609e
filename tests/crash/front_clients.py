"""Clients of `tarry serve` in the protocols of beanstalkd and SQS, for crash tests. Both have the
same calls. A call raises Lost if the connection ends before all its answers came.
"""

import http.client
import json
import socket

TIMEOUT_SECONDS = 60
LEASE_SECONDS = 1


class Lost(Exception):
    """No answer came."""


class Beanstalk:
    """Jobs of one tube."""

    flag = "--beanstalk"

    def __init__(self, port):
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_SECONDS)
        except OSError as error:
            raise Lost from error
        self._file = self._socket.makefile("rb")
        for command in (b"use t", b"watch t", b"ignore default"):
            self._ask(command)

    def close(self):
        self._file.close()
        self._socket.close()

    def _line(self):
        try:
            line = self._file.readline()
        except OSError as error:
            raise Lost from error
        if not line.endswith(b"\r\n"):
            raise Lost
        return line.split()

    def _send(self, data):
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise Lost from error

    def _ask(self, command):
        self._send(command + b"\r\n")
        return self._line()

    def push(self, messages):
        """Messages are (body, delay in seconds, key or None). Yields whether each was accepted, in
        their order, as the answers come."""
        data = b""
        for body, delay, key in messages:
            data += b"put-key %s " % key.encode() if key else b"put "
            data += b"0 %d %d %d\r\n%s\r\n" % (delay, LEASE_SECONDS, len(body), body.encode())
        self._send(data)
        for _ in messages:
            yield self._line()[0] == b"INSERTED"

    def claim(self, most):
        """Claimed messages: (handle, body)."""
        self._send(b"reserve-with-timeout 0\r\n" * most)
        claimed = []
        for _ in range(most):
            words = self._line()
            if words[0] == b"RESERVED":
                body = self._file.read(int(words[2]) + 2)
                if len(body) < int(words[2]) + 2:
                    raise Lost
                claimed.append((words[1], body[:-2].decode()))
        return claimed

    def delete(self, handles):
        """Whether each was deleted."""
        self._send(b"".join(b"delete %s\r\n" % handle for handle in handles))
        return [self._line()[0] == b"DELETED" for _ in handles]

    def give_back(self, handle):
        self._ask(b"release %s 0 0" % handle)

    def cancel(self, key):
        """Whether it is gone for sure."""
        return self._ask(b"cancel-key " + key.encode())[0] == b"CANCELLED"

    def hurry(self, key):
        self._ask(b"reschedule-key %s 0" % key.encode())


class Sqs:
    """Messages of one queue."""

    flag = "--sqs"

    def __init__(self, port):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
        self._ask("CreateQueue", QueueName="t")

    def close(self):
        self._connection.close()

    def _ask(self, operation, refused=False, **fields):
        """The answer's JSON; of an error that may be, None."""
        fields.setdefault("QueueUrl", "http://127.0.0.1/0/t")
        headers = {"Content-Type": "application/x-amz-json-1.0",
                   "X-Amz-Target": f"AmazonSQS.{operation}"}
        try:
            self._connection.request("POST", "/", json.dumps(fields), headers)
            response = self._connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise Lost from error
        if response.status != 200:
            if refused:
                return None
            raise AssertionError(f"{operation} {fields}: {response.status} {text}")
        return json.loads(text or "{}")

    def push(self, messages):
        """As Beanstalk.push."""
        entries = []
        for number, (body, delay, key) in enumerate(messages):
            entry = {"Id": str(number), "MessageBody": body, "DelaySeconds": delay}
            if key:
                entry["MessageAttributes"] = {
                    "tarry.key": {"DataType": "String", "StringValue": key}}
            entries.append(entry)
        answer = self._ask("SendMessageBatch", Entries=entries)
        done = {one["Id"] for one in answer.get("Successful", [])}
        return [str(number) in done for number in range(len(messages))]

    def claim(self, most):
        answer = self._ask("ReceiveMessage", MaxNumberOfMessages=most,
                           VisibilityTimeout=LEASE_SECONDS)
        return [(one["ReceiptHandle"], one["Body"]) for one in answer.get("Messages", [])]

    def delete(self, handles):
        """DeleteMessage succeeds with a handle that has expired, too. What was deleted is then
        known from an extension before it."""
        entries = [{"Id": str(number), "ReceiptHandle": handle, "VisibilityTimeout": 30}
                   for number, handle in enumerate(handles)]
        held = self._ask("ChangeMessageVisibilityBatch", Entries=entries)
        held = {one["Id"] for one in held.get("Successful", [])}
        for entry in entries:
            del entry["VisibilityTimeout"]
        gone = self._ask("DeleteMessageBatch", Entries=entries)
        gone = {one["Id"] for one in gone.get("Successful", [])}
        return [str(number) in held & gone for number in range(len(handles))]

    def give_back(self, handle):
        self._ask("ChangeMessageVisibility", refused=True, ReceiptHandle=handle,
                  VisibilityTimeout=0)

    def cancel(self, key):
        return self._ask("DeleteMessage", refused=True, ReceiptHandle="key:" + key) is not None

    def hurry(self, key):
        self._ask("ChangeMessageVisibility", refused=True, ReceiptHandle="key:" + key,
                  VisibilityTimeout=0)
