"""Amazon's SDK for Python, unchanged, is a client of tarry: the SQS front, by boto3."""

import concurrent.futures
import datetime
import hashlib
import itertools
import json
import os
import tempfile
import unittest
import unittest.mock
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree
from pathlib import Path

import boto3
import botocore
import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import botocore.exceptions

from redis_server import RedisServer
from sqs_server import SQS
from sqs_server import Server as SqsServer


class Server(SqsServer):
    """With a client of boto3."""

    def client(self, access="anyone", secret="anything", **options):
        return boto3.client(
            "sqs", endpoint_url=self.sqs_url, region_name="us-east-1", aws_access_key_id=access,
            aws_secret_access_key=secret,
            config=botocore.config.Config(retries={"max_attempts": 0}, **options))


def digest(secret):
    return "sha256:" + hashlib.sha256(secret.encode()).hexdigest()


class Served(unittest.TestCase):
    """One server for all tests of a class, whose clock the tests move."""

    STORE = "memory:"

    @classmethod
    def setUpClass(cls):
        cls.server = Server(cls.STORE, *SQS, "--test-clock").__enter__()
        cls.sqs = cls.server.client()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def refused(self, code, call, **params):
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            call(**params)
        self.assertEqual(caught.exception.response["Error"]["Code"], code)
        return caught.exception

    def receive(self, **params):
        return self.sqs.receive_message(QueueUrl=self.url, **params).get("Messages", [])

    def ask_http(self, method, path, body=None):
        """A request to tarry's own API. Returns the document of the answer."""
        request = urllib.request.Request(
            self.server.url + path, None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def advance(self, by):
        self.ask_http("POST", "/v1/clock/advance", {"by": by})


class Sqs(Served):
    def setUp(self):
        self.name = self._testMethodName[:80]
        self.url = self.sqs.create_queue(QueueName=self.name)["QueueUrl"]

    def test_a_message_goes_there_and_back(self):
        attributes = {"color": {"DataType": "String", "StringValue": "röd"},
                      "size": {"DataType": "Number.int", "StringValue": "42"},
                      "blob": {"DataType": "Binary", "BinaryValue": b"\0\xff"}}
        sent = self.sqs.send_message(QueueUrl=self.url, MessageBody="hello ☃\r\n",
                                     MessageAttributes=attributes)
        self.assertEqual(sent["MD5OfMessageBody"],
                         hashlib.md5("hello ☃\r\n".encode()).hexdigest())
        message, = self.receive(MessageAttributeNames=["All"],
                                MessageSystemAttributeNames=["All"])
        self.assertEqual(message["Body"], "hello ☃\r\n")
        self.assertEqual(message["MessageId"], sent["MessageId"])
        self.assertEqual(message["MessageAttributes"], attributes)
        self.assertEqual(message["MD5OfMessageAttributes"], sent["MD5OfMessageAttributes"])
        self.assertEqual(message["Attributes"]["ApproximateReceiveCount"], "1")
        self.assertEqual(self.receive(), [])
        self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        self.advance("1h")
        self.assertEqual(self.receive(), [])

    def test_a_number_is_one(self):
        def send(value="0", kind="Number"):
            return self.sqs.send_message(QueueUrl=self.url, MessageBody="x", MessageAttributes={
                "size": {"DataType": kind, "StringValue": value}})

        for good in ("0", "-7", "+1.50", ".5", "5.", "1e10", "-2.5E-3"):
            send(good)
        for bad in ("x", ".", "-", "1e", "1 ", "0x10", "1,5", "NaN", "1.2.3"):
            with self.subTest(bad=bad):
                self.refused("InvalidParameterValue", send, value=bad, kind="Number.size")

    def test_a_delay_may_be_longer_than_quarter_of_an_hour(self):
        self.sqs.send_message(QueueUrl=self.url, MessageBody="far", DelaySeconds=90 * 24 * 3600)
        self.advance("89d")
        self.assertEqual(self.receive(), [])
        self.advance("1d")
        self.assertEqual(self.receive()[0]["Body"], "far")

    def test_visibility_is_the_lease(self):
        self.sqs.send_message(QueueUrl=self.url, MessageBody="x")
        first, = self.receive(VisibilityTimeout=10)
        self.sqs.change_message_visibility(QueueUrl=self.url, VisibilityTimeout=60,
                                           ReceiptHandle=first["ReceiptHandle"])
        self.advance("59s")
        self.assertEqual(self.receive(), [])
        self.advance("1s")
        second, = self.receive(AttributeNames=["ApproximateReceiveCount"])
        self.assertEqual(second["Attributes"], {"ApproximateReceiveCount": "2"})
        self.sqs.change_message_visibility(QueueUrl=self.url, VisibilityTimeout=0,
                                           ReceiptHandle=second["ReceiptHandle"])
        third, = self.receive()
        self.refused("AWS.SimpleQueueService.MessageNotInflight",
                     self.sqs.change_message_visibility, QueueUrl=self.url,
                     ReceiptHandle=second["ReceiptHandle"], VisibilityTimeout=5)
        self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=third["ReceiptHandle"])

    def test_batches(self):
        entries = [{"Id": str(i), "MessageBody": f"m{i}"} for i in range(9)]
        entries.append({"Id": "bad", "MessageBody": "x", "DelaySeconds": -1})
        sent = self.sqs.send_message_batch(QueueUrl=self.url, Entries=entries)
        self.assertEqual([one["Id"] for one in sent["Successful"]], [str(i) for i in range(9)])
        self.assertEqual([(one["Id"], one["Code"]) for one in sent["Failed"]],
                         [("bad", "InvalidParameterValue")])
        messages = self.receive(MaxNumberOfMessages=10)
        self.assertEqual(sorted(one["Body"] for one in messages), [f"m{i}" for i in range(9)])
        handles = [one["ReceiptHandle"] for one in messages]
        changed = self.sqs.change_message_visibility_batch(QueueUrl=self.url, Entries=[
            {"Id": str(i), "ReceiptHandle": handle, "VisibilityTimeout": 0 if i < 5 else 100}
            for i, handle in enumerate(handles)])
        self.assertEqual(len(changed["Successful"]), 9)
        self.assertEqual(len(self.receive(MaxNumberOfMessages=10)), 5)
        gone = self.sqs.delete_message_batch(QueueUrl=self.url, Entries=[
            {"Id": str(i), "ReceiptHandle": handle} for i, handle in enumerate(handles[5:])])
        self.assertEqual(len(gone["Successful"]), 4)

    def test_bad_batches_are_refused_by_name(self):
        call = self.sqs.send_message_batch
        one = {"Id": "a", "MessageBody": "x"}
        prefix = "AWS.SimpleQueueService."
        self.refused(prefix + "EmptyBatchRequest", call, QueueUrl=self.url, Entries=[])
        self.refused(prefix + "BatchEntryIdsNotDistinct", call, QueueUrl=self.url,
                     Entries=[one, one])
        self.refused(prefix + "InvalidBatchEntryId", call, QueueUrl=self.url,
                     Entries=[one | {"Id": "a b"}])
        self.refused(prefix + "TooManyEntriesInBatchRequest", call, QueueUrl=self.url,
                     Entries=[one | {"Id": str(i)} for i in range(11)])
        self.refused(prefix + "BatchRequestTooLong", call, QueueUrl=self.url,
                     Entries=[{"Id": str(i), "MessageBody": "x" * 600_000} for i in range(2)])

    def test_a_name_cancels_and_moves_what_waits(self):
        def push(key, delay):
            self.sqs.send_message(QueueUrl=self.url, MessageBody=key, DelaySeconds=delay,
                                  MessageAttributes={"tarry.key": {"DataType": "String",
                                                                   "StringValue": key}})
        push("a", 1000)
        push("b", 1000)
        push("c", 1000)
        self.refused("tarry.exists", push, key="a", delay=1)
        self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle="key:a")
        self.sqs.change_message_visibility(QueueUrl=self.url, ReceiptHandle="key:b",
                                           VisibilityTimeout=0)
        self.sqs.change_message_visibility(QueueUrl=self.url, ReceiptHandle="key:c",
                                           VisibilityTimeout=50_000_000)
        message, = self.receive(MaxNumberOfMessages=10, MessageAttributeNames=["tarry.*"])
        self.assertEqual(message["MessageAttributes"]["tarry.key"]["StringValue"], "b")
        self.refused("tarry.in_flight", self.sqs.change_message_visibility, QueueUrl=self.url,
                     ReceiptHandle="key:b", VisibilityTimeout=5)
        self.refused("tarry.stopping", self.sqs.delete_message, QueueUrl=self.url,
                     ReceiptHandle="key:b")
        self.refused("ReceiptHandleIsInvalid", self.sqs.delete_message, QueueUrl=self.url,
                     ReceiptHandle="key:nothing")

    def test_queues(self):
        self.refused("AWS.SimpleQueueService.NonExistentQueue", self.sqs.get_queue_url,
                     QueueName="nothing")
        with self.assertRaises(self.sqs.exceptions.QueueDoesNotExist):
            self.sqs.send_message(QueueUrl=self.server.sqs_url + "/0/nothing", MessageBody="x")
        self.assertEqual(self.sqs.get_queue_url(QueueName=self.name)["QueueUrl"], self.url)
        self.assertEqual(self.sqs.create_queue(QueueName=self.name)["QueueUrl"], self.url)
        self.refused("QueueAlreadyExists", self.sqs.create_queue, QueueName=self.name,
                     Attributes={"VisibilityTimeout": "5"})
        self.assertIn(self.url, self.sqs.list_queues()["QueueUrls"])
        for i in range(3):
            self.sqs.create_queue(QueueName=f"page{i}")
        pages = self.sqs.get_paginator("list_queues").paginate(
            QueueNamePrefix="page", PaginationConfig={"PageSize": 2})
        self.assertEqual([len(page["QueueUrls"]) for page in pages], [2, 1])
        self.sqs.send_message(QueueUrl=self.url, MessageBody="x")
        self.sqs.purge_queue(QueueUrl=self.url)
        self.assertEqual(self.receive(), [])
        self.sqs.delete_queue(QueueUrl=self.url)
        self.refused("AWS.SimpleQueueService.NonExistentQueue", self.sqs.send_message,
                     QueueUrl=self.url, MessageBody="x")

    def test_attributes(self):
        self.sqs.set_queue_attributes(QueueUrl=self.url, Attributes={
            "VisibilityTimeout": "7", "DelaySeconds": "5", "MaximumMessageSize": "1024"})
        self.sqs.send_message(QueueUrl=self.url, MessageBody="x")
        known = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["All"])
        known = known["Attributes"]
        self.assertEqual(known["VisibilityTimeout"], "7")
        self.assertEqual(known["ApproximateNumberOfMessagesDelayed"], "1")
        self.assertEqual(known["QueueArn"], f"arn:aws:sqs:us-east-1:000000000000:{self.name}")
        self.advance("5s")
        self.assertEqual(len(self.receive()), 1)
        self.advance("7s")
        self.assertEqual(len(self.receive()), 1)
        self.refused("InvalidParameterValue", self.sqs.send_message, QueueUrl=self.url,
                     MessageBody="x" * 1025)
        for name, value, code in (("DelaySeconds", "-1", "InvalidAttributeValue"),
                                  ("Colour", "1", "InvalidAttributeName"),
                                  ("RedrivePolicy", "{}", "InvalidAttributeValue"),
                                  ("FifoQueue", "true", "InvalidAttributeValue"),
                                  ("FifoQueue", "yes", "InvalidAttributeValue"),
                                  ("DeduplicationScope", "queue", "InvalidAttributeName")):
            self.refused(code, self.sqs.set_queue_attributes, QueueUrl=self.url,
                         Attributes={name: value})

    def test_deduplication_in_a_queue_without_order(self):
        self.sqs.set_queue_attributes(QueueUrl=self.url, Attributes={
            "ContentBasedDeduplication": "true"})
        send = self.sqs.send_message
        first = send(QueueUrl=self.url, MessageBody="x", MessageDeduplicationId="a")
        again = send(QueueUrl=self.url, MessageBody="y", MessageDeduplicationId="a")
        self.assertEqual(first["MessageId"], again["MessageId"])
        sent = self.sqs.send_message_batch(QueueUrl=self.url, Entries=[
            {"Id": str(i), "MessageBody": body} for i, body in enumerate(("x", "x", "z"))])
        ids = [one["MessageId"] for one in sent["Successful"]]
        self.assertEqual((ids[0] == ids[1], len(set(ids))), (True, 2))
        messages = self.receive(MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"])
        self.assertEqual(sorted((one["Body"], one["Attributes"]["MessageDeduplicationId"])
                                for one in messages),
                         sorted((("x", "a"), ("x", hashlib.sha256(b"x").hexdigest()),
                                 ("z", hashlib.sha256(b"z").hexdigest()))))
        for one in messages:
            self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=one["ReceiptHandle"])
        self.advance("4m59s")
        again = send(QueueUrl=self.url, MessageBody="x", MessageDeduplicationId="a")
        self.assertEqual((again["MessageId"], self.receive()), (first["MessageId"], []))
        self.advance("2s")
        send(QueueUrl=self.url, MessageBody="new", MessageDeduplicationId="a")
        self.assertEqual(self.receive()[0]["Body"], "new")
        self.refused("InvalidParameterValue", send, QueueUrl=self.url, MessageBody="x",
                     MessageDeduplicationId="a b")

    def test_without_deduplication_its_id_is_refused(self):
        self.refused("InvalidParameterValue", self.sqs.send_message, QueueUrl=self.url,
                     MessageBody="x", MessageDeduplicationId="a")

    def test_a_fifo_queue_has_a_name_of_its_own(self):
        for name, attributes in (("order.fifo", {}), ("order.fifo", {"FifoQueue": "false"}),
                                 ("order", {"FifoQueue": "true"})):
            with self.subTest(name=name, attributes=attributes):
                self.refused("InvalidParameterValue", self.sqs.create_queue, QueueName=name,
                             Attributes=attributes)

    def test_a_message_that_another_front_pushed(self):
        body = {"payload_base64": "//4=", "headers": {"colour": "red"}}
        urllib.request.urlopen(urllib.request.Request(
            f"{self.server.url}/v1/queues/{self.name}/messages", json.dumps(body).encode(),
            {"Content-Type": "application/json"}), timeout=60).close()
        message, = self.receive(MessageAttributeNames=["All"])
        self.assertEqual(message["Body"], "//4=")
        self.assertEqual(message["MessageAttributes"]["colour"]["StringValue"], "red")
        self.assertEqual(message["MessageAttributes"]["tarry.encoding"]["StringValue"], "base64")


class OnHttp(unittest.TestCase):
    """SQS at the address of HTTP."""

    TARGET = {"X-Amz-Target": "AmazonSQS.ListQueues", "Content-Type": "application/x-amz-json-1.0"}
    FORM = {"Content-Type": "application/x-www-form-urlencoded"}

    def test_an_sdk_and_http_share_the_address(self):
        with Server("memory:", "--sqs-on-http") as server:
            sqs = server.client()
            url = sqs.create_queue(QueueName="jobs")["QueueUrl"]
            self.assertEqual(url, server.url + "/000000000000/jobs")
            sqs.send_message(QueueUrl=url, MessageBody="x")
            message, = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=20)["Messages"]
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

            connection = server.connection()  # a proxy mixes requests of several clients

            def ask(method, path, body=None, headers=None):
                connection.request(method, path, body, headers or {})
                answer = connection.getresponse()
                return answer.status, answer.read().decode()

            for _ in range(2):
                for asked, says in ((("GET", "/v1/queues"), '"jobs"'),
                                    (("POST", "/", "{}", self.TARGET), url),
                                    (("POST", "/", "Action=ListQueues", self.FORM), "<QueueUrl>"),
                                    (("GET", "/?Action=ListQueues"), "<QueueUrl>"),
                                    (("GET", "/000000000000/jobs?Action=GetQueueAttributes&"
                                      "AttributeName.1=All"), "<Name>QueueArn</Name>"),
                                    (("GET", "/healthz"), "ok")):
                    with self.subTest(asked=asked):
                        status, text = ask(*asked)
                        self.assertEqual(status, 200, text)
                        self.assertIn(says, text)
            status, _ = ask("POST", "/v1/queues/jobs/messages", "Action=ListQueues", self.FORM)
            self.assertGreaterEqual(status, 400)  # tarry's own
            _, metrics = ask("GET", "/metrics")
            self.assertIn('tarry_sqs_requests_total{route="ListQueues",code="200"} 6', metrics)
            connection.close()

    def test_only_when_asked(self):
        with Server("memory:", *SQS) as server:
            connection = server.connection()
            connection.request("POST", "/", "{}", self.TARGET)
            self.assertIn(connection.getresponse().status, (404, 405))
            connection.close()


class DeadLetters(Served):
    """A queue that SQS's clients see as the dead-letter queue of another one."""

    def setUp(self):
        self.dead = self.sqs.create_queue(QueueName=self._testMethodName + "-dead")["QueueUrl"]
        self.arn = self.sqs.get_queue_attributes(
            QueueUrl=self.dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        policy = {"deadLetterTargetArn": self.arn, "maxReceiveCount": 2}
        self.url = self.sqs.create_queue(QueueName=self._testMethodName, Attributes={
            "RedrivePolicy": json.dumps(policy)})["QueueUrl"]

    def kill(self):
        """Sends a message that nobody deletes; returns its id."""
        sent = self.sqs.send_message(QueueUrl=self.url, MessageBody="poison", MessageAttributes={
            "why": {"DataType": "String", "StringValue": "x"}})
        for _ in range(2):
            message, = self.take(self.url)
            self.sqs.change_message_visibility(QueueUrl=self.url, VisibilityTimeout=0,
                                               ReceiptHandle=message["ReceiptHandle"])
        return sent["MessageId"]

    def take(self, url):
        return self.sqs.receive_message(
            QueueUrl=url, MessageAttributeNames=["All"],
            MessageSystemAttributeNames=["All"]).get("Messages", [])

    def count(self, url):
        name = "ApproximateNumberOfMessages"
        return self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])[
            "Attributes"][name]

    def test_a_message_that_was_received_too_often_goes_there(self):
        sent = self.kill()
        self.assertEqual(self.take(self.url), [])
        self.assertEqual(self.count(self.dead), "1")
        message, = self.take(self.dead)
        self.assertEqual((message["MessageId"], message["Body"]), (sent, "poison"))
        self.assertEqual(message["Attributes"]["ApproximateReceiveCount"], "3")
        self.assertEqual(message["MessageAttributes"]["why"]["StringValue"], "x")
        self.assertTrue(message["Attributes"]["DeadLetterQueueSourceArn"].endswith(
            ":" + self._testMethodName))
        self.sqs.delete_message(QueueUrl=self.dead, ReceiptHandle=message["ReceiptHandle"])
        self.assertEqual(self.count(self.dead), "0")

    def test_a_move_task_brings_it_back(self):
        sent = self.kill()
        self.assertEqual(self.count(self.dead), "1")
        self.sqs.start_message_move_task(SourceArn=self.arn)
        task, = self.sqs.list_message_move_tasks(SourceArn=self.arn)["Results"]
        self.assertEqual((task["Status"], task["ApproximateNumberOfMessagesMoved"],
                          task["ApproximateNumberOfMessagesToMove"]), ("COMPLETED", 1, 1))
        self.assertEqual(self.count(self.dead), "0")
        message, = self.take(self.url)
        self.assertEqual(message["MessageId"], sent)
        self.assertEqual(message["Attributes"]["ApproximateReceiveCount"], "1")

    def test_the_sources_are_listed(self):
        listed = self.sqs.list_dead_letter_source_queues(QueueUrl=self.dead)
        self.assertEqual(listed["queueUrls"], [self.url])
        self.sqs.set_queue_attributes(QueueUrl=self.url, Attributes={"RedrivePolicy": ""})
        listed = self.sqs.list_dead_letter_source_queues(QueueUrl=self.dead)
        self.assertEqual(listed["queueUrls"], [])

    def test_the_target_must_exist(self):
        policy = {"deadLetterTargetArn": "arn:aws:sqs:us-east-1:000000000000:nothing",
                  "maxReceiveCount": 2}
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            self.sqs.set_queue_attributes(QueueUrl=self.url, Attributes={
                "RedrivePolicy": json.dumps(policy)})
        self.assertEqual(caught.exception.response["Error"]["Code"], "InvalidParameterValue")


class OnRedis:
    """The same cases on a store in Redis."""

    @classmethod
    def setUpClass(cls):
        cls.redis = RedisServer()
        cls.addClassCleanup(cls.redis.close)
        cls.redis.start()
        cls.STORE = cls.redis.url
        super().setUpClass()


class SqsOnRedis(OnRedis, Sqs):
    def test_a_fifo_queue_is_refused_with_what_there_is_instead(self):
        error = self.refused("AWS.SimpleQueueService.UnsupportedOperation", self.sqs.create_queue,
                             QueueName="order.fifo", Attributes={"FifoQueue": "true"})
        self.assertRegex(str(error), "in order; a file: store does.*without order.*"
                                     "ContentBasedDeduplication=true")


class DeadLettersOnRedis(OnRedis, DeadLetters):
    pass


class Tags(unittest.TestCase):
    def test_they_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            with Server(f"file:{folder}/store", *SQS) as server:
                sqs = server.client()
                url = sqs.create_queue(QueueName="q", tags={"a": "1"})["QueueUrl"]
                sqs.tag_queue(QueueUrl=url, Tags={"b": "2", "c": "3"})
                sqs.untag_queue(QueueUrl=url, TagKeys=["a"])
            with Server(f"file:{folder}/store", *SQS) as server:
                sqs = server.client()
                url = sqs.get_queue_url(QueueName="q")["QueueUrl"]
                self.assertEqual(sqs.list_queue_tags(QueueUrl=url)["Tags"], {"b": "2", "c": "3"})


class Signed(unittest.TestCase):
    """A server with tokens takes only requests that one of them has signed."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = Path(cls.folder.name)
        cls.secrets = {name: "secret-of-" + name + "-0123456789" for name in ("all", "push")}
        (folder / "tokens").write_text("".join(
            f"{name} {scopes} {queues} {digest(cls.secrets[name])}\n"
            for name, scopes, queues in (("all", "read,push,consume,admin", "*"),
                                         ("push", "push", "q*"))))
        (folder / "keys").write_text("".join(f"{name} {secret}\n"
                                             for name, secret in cls.secrets.items()))
        for name in ("tokens", "keys"):
            (folder / name).chmod(0o600)
        cls.server = Server("memory:", *SQS, "--tokens-file", str(folder / "tokens"),
                            "--sqs-keys-file", str(folder / "keys")).__enter__()
        cls.all = cls.server.client("all", cls.secrets["all"])
        cls.url = cls.all.create_queue(QueueName="q")["QueueUrl"]

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)
        cls.folder.cleanup()

    def refused(self, code, call, **params):
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            call(**params)
        self.assertEqual(caught.exception.response["Error"]["Code"], code)

    def test_rights_are_those_of_the_token(self):
        push = self.server.client("push", self.secrets["push"])
        push.send_message(QueueUrl=self.url, MessageBody="x")
        self.refused("AccessDenied", push.receive_message, QueueUrl=self.url)
        self.refused("AccessDenied", push.create_queue, QueueName="q2")
        self.assertEqual(push.list_queues().get("QueueUrls", []), [])
        self.assertEqual(len(self.all.receive_message(QueueUrl=self.url)["Messages"]), 1)

    def test_nobody_else_is_let_in(self):
        self.refused("SignatureDoesNotMatch", self.server.client("all", "wrong").list_queues)
        self.refused("InvalidClientTokenId", self.server.client("other", "wrong").list_queues)
        unsigned = self.server.client("all", "x", signature_version=botocore.UNSIGNED)
        self.refused("MissingAuthenticationToken", unsigned.list_queues)

    def signed(self, body, action="SendMessage", at=None):
        """The signed request, as botocore makes it."""
        credentials = botocore.credentials.Credentials("all", self.secrets["all"])
        request = botocore.awsrequest.AWSRequest(
            "POST", self.server.sqs_url + "/", data=json.dumps(body),
            headers={"Content-Type": "application/x-amz-json-1.0",
                     "X-Amz-Target": "AmazonSQS." + action})
        signer = botocore.auth.SigV4Auth(credentials, "sqs", "us-east-1")
        if at is None:
            signer.add_auth(request)
            return request.prepare()
        with unittest.mock.patch("botocore.auth.get_current_datetime", return_value=at):
            signer.add_auth(request)
        return request.prepare()

    def answer(self, request, **changes):
        parts = {"url": request.url, "body": request.body, "headers": dict(request.headers)}
        parts |= changes
        body = parts["body"]
        asked = urllib.request.Request(
            parts["url"], body.encode() if isinstance(body, str) else body, parts["headers"])
        try:
            with urllib.request.urlopen(asked, timeout=60) as page:
                return page.status, page.read().decode()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode()

    def test_a_signed_request_that_was_changed_is_refused(self):
        request = self.signed({"QueueUrl": self.url, "MessageBody": "honest"})
        self.assertEqual(self.answer(request)[0], 200)
        changed = request.body.replace("honest", "forged")
        self.assertEqual(self.answer(request, body=changed)[0], 403)
        self.assertEqual(self.answer(request, url=request.url + "?x=1")[0], 403)
        headers = dict(request.headers)
        self.assertEqual(self.answer(request, headers=headers | {
            "X-Amz-Target": "AmazonSQS.PurgeQueue"})[0], 403)

    def test_a_signature_belongs_to_its_request_alone(self):
        """As at AWS, the same request may come again within the quarter of an hour: a client that
        got no answer repeats it. Nothing else can be made of it."""
        request = self.signed({"QueueUrl": self.url, "MessageBody": "again"})
        self.assertEqual([self.answer(request)[0] for _ in range(2)], [200, 200])
        headers = dict(request.headers)
        other = self.signed({"QueueUrl": self.url, "MessageBody": "other"})
        for name in ("Authorization", "X-Amz-Date"):
            moved = {name: dict(other.headers)[name] if name == "Authorization"
                     else "20300101T000000Z"}
            self.assertEqual(self.answer(request, headers=headers | moved)[0],
                             403 if name == "Authorization" else 400, name)
        twice = headers | {"Host": "other.example"}
        self.assertEqual(self.answer(request, headers=twice)[0], 403)

    def test_bodies_in_signed_pieces_are_refused_by_name(self):
        request = self.signed({"QueueUrl": self.url, "MessageBody": "x"})
        headers = dict(request.headers)
        for more, code, word in (
                ({"Content-Encoding": "aws-chunked"}, "SerializationException", "aws-chunked"),
                ({"X-Amz-Content-Sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"},
                 "IncompleteSignature", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD")):
            status, text = self.answer(request, headers=headers | more)
            self.assertEqual(status, 400)
            self.assertIn(code, text)
            self.assertIn(word, text)

    def test_a_signature_is_over_after_a_quarter_of_an_hour(self):
        old = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=16)
        request = self.signed({"QueueUrl": self.url, "MessageBody": "old"}, at=old)
        status, text = self.answer(request)
        self.assertEqual((status, "expired" in text), (403, True))

    def test_a_presigned_url_is_a_request_by_the_query_protocol(self):
        request = botocore.awsrequest.AWSRequest(
            "GET", self.server.sqs_url + "/?Action=GetQueueUrl&QueueName=q&Version=2012-11-05")
        credentials = botocore.credentials.Credentials("all", self.secrets["all"])
        botocore.auth.SigV4QueryAuth(credentials, "sqs", "us-east-1", expires=60).add_auth(request)
        with urllib.request.urlopen(request.url, timeout=60) as page:
            self.assertIn(f"<QueueUrl>{self.url}</QueueUrl>", page.read().decode())
        forged = request.url.replace("QueueName=q", "QueueName=r")
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(forged, timeout=60)
        with caught.exception as refused:
            text = refused.read().decode()
        self.assertIn("<Code>SignatureDoesNotMatch</Code>", text)


class Query(unittest.TestCase):
    """The older protocol, with XML, as a form."""

    def test_it_sends_and_receives(self):
        with Server("memory:", *SQS) as server:
            def ask(path="/", **fields):
                form = urllib.parse.urlencode(fields).encode()
                with urllib.request.urlopen(server.sqs_url + path, form, timeout=60) as page:
                    tree = xml.etree.ElementTree.fromstring(page.read())
                return {part.tag.partition("}")[2]: part.text for part in tree.iter()}

            url = ask(Action="CreateQueue", QueueName="q")["QueueUrl"]
            path = urllib.parse.urlsplit(url).path
            body = "<a & \"b\"> ☃"
            sent = ask(path, Action="SendMessage", MessageBody=body, **{
                "MessageAttribute.1.Name": "n", "MessageAttribute.1.Value.DataType": "String",
                "MessageAttribute.1.Value.StringValue": "v"})
            got = ask(path, Action="ReceiveMessage", **{"MessageAttributeName.1": "All"})
            self.assertEqual((got["Body"], got["MessageId"]), (body, sent["MessageId"]))
            self.assertEqual(got["MD5OfMessageAttributes"], sent["MD5OfMessageAttributes"])
            ask(path, Action="DeleteMessage", ReceiptHandle=got["ReceiptHandle"])


class Waiting(unittest.TestCase):
    def test_a_receive_waits_for_a_message(self):
        with Server("memory:", "--sqs", "127.0.0.1:0") as server:
            sqs = server.client()
            url = sqs.create_queue(QueueName="q")["QueueUrl"]
            sqs.send_message(QueueUrl=url, MessageBody="x", DelaySeconds=1)
            message, = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=20)["Messages"]
            self.assertEqual(message["Body"], "x")


class Killed(unittest.TestCase):
    """A server that is killed again and again loses no message, and delivers none early."""

    ROUNDS = int(os.environ.get("TARRY_SQS_CRASH_ROUNDS", "3"))

    def take(self, sqs, url, got, wait):
        """Receives and deletes what is due; returns how many."""
        messages = sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=wait, VisibilityTimeout=2,
            MessageSystemAttributeNames=["All"]).get("Messages", [])
        for message in messages:
            name, delay = message["Body"].split()
            times = message["Attributes"]
            due = int(times["SentTimestamp"]) + int(delay) * 1000
            self.assertGreaterEqual(int(times["ApproximateFirstReceiveTimestamp"]), due, "early")
            got.add(name)
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return len(messages)

    def push(self, sqs, url, round_number, accepted):
        """Sends until the server is gone; what was answered was accepted."""
        for number in itertools.count():
            bodies = [f"{round_number}/{number}/{i} {i % 3}" for i in range(10)]
            sent = sqs.send_message_batch(QueueUrl=url, Entries=[
                {"Id": str(i), "MessageBody": body, "DelaySeconds": i % 3}
                for i, body in enumerate(bodies)])
            accepted.update(bodies[int(one["Id"])].split()[0] for one in sent["Successful"])

    def test_nothing_is_lost_or_early(self):
        accepted, got = set(), set()
        gone = (botocore.exceptions.ConnectionError, botocore.exceptions.HTTPClientError)
        with tempfile.TemporaryDirectory() as folder:
            store = f"file:{folder}/store?sync=always"
            for number in range(self.ROUNDS):
                server = Server(store, *SQS)
                url = server.client().create_queue(QueueName="q")["QueueUrl"]
                before = len(accepted)
                with concurrent.futures.ThreadPoolExecutor(2) as pool:
                    pushes = pool.submit(self.push, server.client(), url, number, accepted)
                    while len(accepted) < before + 200 and not pushes.done():
                        self.take(server.client(), url, got, 0)
                    server.process.kill()
                    server.process.wait()
                    self.assertIsInstance(pushes.exception(timeout=60), gone)
                server.process.stdout.close()
                server._log.close()
                server._directory.cleanup()
            with Server(store, *SQS) as server:
                sqs = server.client()
                url = sqs.create_queue(QueueName="q")["QueueUrl"]
                while not accepted <= got:
                    self.assertTrue(self.take(sqs, url, got, 20), f"lost: {accepted - got}")
        self.assertGreater(len(accepted), 200)
        print("accepted", len(accepted), "received", len(got))


class Strict(unittest.TestCase):
    def test_delays_are_those_of_aws(self):
        with Server("memory:", *SQS, "--sqs-strict") as server:
            sqs = server.client()
            url = sqs.create_queue(QueueName="q")["QueueUrl"]
            with self.assertRaises(botocore.exceptions.ClientError) as caught:
                sqs.send_message(QueueUrl=url, MessageBody="x", DelaySeconds=901)
            self.assertEqual(caught.exception.response["Error"]["Code"], "InvalidParameterValue")


if __name__ == "__main__":
    unittest.main()
