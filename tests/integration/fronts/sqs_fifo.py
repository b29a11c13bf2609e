"""FIFO queues of the SQS front, by Amazon's SDK for Python."""

import concurrent.futures
import hashlib
import itertools
import json
import tempfile
import threading
import unittest

import botocore.exceptions

from sqs_boto3 import SQS, Served, Server


class Queues(Served):
    """What is sent to `url` is in the group g, unless the test says otherwise."""

    def setUp(self):
        self.name = self._testMethodName[:70] + ".fifo"
        self.url = self.make(self.name)

    def make(self, name, **attributes):
        return self.sqs.create_queue(QueueName=name, Attributes={
            "FifoQueue": "true", **attributes})["QueueUrl"]

    def send(self, body, group="g", **params):
        params.setdefault("MessageDeduplicationId", body)
        return self.sqs.send_message(QueueUrl=params.pop("url", self.url), MessageBody=body,
                                     MessageGroupId=group, **params)

    def one(self, **params):
        message, = self.receive(MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"],
                                **params)
        return message

    def delete(self, message):
        self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])

    def hide(self, message, seconds):
        self.sqs.change_message_visibility(QueueUrl=self.url, VisibilityTimeout=seconds,
                                           ReceiptHandle=message["ReceiptHandle"])


class Fifo(Queues):
    def test_a_group_is_received_in_the_order_of_its_sends(self):
        sent = [self.send(f"m{i}") for i in range(5)]
        numbers = [one["SequenceNumber"] for one in sent]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertEqual({len(number) for number in numbers}, {20})
        for i in range(5):
            message = self.one()
            self.assertEqual(message["Body"], f"m{i}")
            self.assertEqual(message["MessageId"], sent[i]["MessageId"])
            self.assertEqual(message["Attributes"]["SequenceNumber"], numbers[i])
            self.assertEqual(message["Attributes"]["MessageGroupId"], "g")
            self.assertEqual(message["Attributes"]["MessageDeduplicationId"], f"m{i}")
            self.assertEqual(self.receive(), [], "while one of the group is in flight")
            self.delete(message)

    def test_a_message_that_is_visible_again_has_its_place(self):
        for body in ("first", "second"):
            self.send(body)
        message = self.one(ReceiveRequestAttemptId="attempt-1")
        self.hide(message, 0)
        self.assertEqual(self.one(VisibilityTimeout=5)["Body"], "first")
        self.assertEqual(self.receive(), [])
        self.advance("5s")
        message = self.one()
        self.assertEqual(message["Body"], "first")
        self.hide(message, 60)
        self.advance("30s")
        self.assertEqual(self.receive(), [])
        self.delete(message)
        self.assertEqual(self.one()["Body"], "second")

    def test_groups_do_not_wait_for_each_other(self):
        for i in range(3):
            for group in "abc":
                self.send(f"{group}{i}", group)
        messages = []
        while len(messages) < 3:
            messages += self.receive(MaxNumberOfMessages=10)
        self.assertEqual(sorted(one["Body"] for one in messages), ["a0", "b0", "c0"])
        self.assertEqual(self.receive(), [])
        self.delete(next(one for one in messages if one["Body"] == "b0"))
        self.assertEqual(self.one()["Body"], "b1")

    def test_a_batch_is_in_order_too(self):
        answer = self.sqs.send_message_batch(QueueUrl=self.url, Entries=[
            {"Id": str(i), "MessageBody": str(i), "MessageGroupId": "g",
             "MessageDeduplicationId": str(i)} for i in range(9)] + [
                 {"Id": "bad", "MessageBody": "x", "MessageDeduplicationId": "x"}])
        self.assertEqual([one["Code"] for one in answer["Failed"]], ["MissingParameter"])
        numbers = [one["SequenceNumber"] for one in answer["Successful"]]
        self.assertEqual(numbers, sorted(set(numbers)))
        for i in range(9):
            message = self.one()
            self.assertEqual(message["Body"], str(i))
            self.delete(message)

    def test_an_id_is_known_for_five_minutes(self):
        first = self.send("x", MessageDeduplicationId="id")
        again = self.send("y", "other", MessageDeduplicationId="id")
        self.assertEqual((again["MessageId"], again["SequenceNumber"]),
                         (first["MessageId"], first["SequenceNumber"]))
        message = self.one()
        self.assertEqual(message["Body"], "x")
        self.delete(message)
        self.advance("4m59s")
        self.assertEqual(self.send("z", MessageDeduplicationId="id")["MessageId"],
                         first["MessageId"])
        self.assertEqual(self.receive(), [])
        self.advance("2s")
        self.send("new", MessageDeduplicationId="id")
        self.assertEqual(self.one()["Body"], "new")

    def test_ids_of_a_group_may_be_its_own(self):
        self.url = self.make("by-group.fifo", DeduplicationScope="messageGroup",
                             FifoThroughputLimit="perMessageGroupId",
                             ContentBasedDeduplication="true")
        for group in "aab":
            self.sqs.send_message(QueueUrl=self.url, MessageBody="x", MessageGroupId=group)
        known = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["All"])
        self.assertEqual(known["Attributes"]["ApproximateNumberOfMessages"], "2")
        message = self.one_of_two()
        self.assertEqual(message["Attributes"]["MessageDeduplicationId"],
                         hashlib.sha256(b"x").hexdigest())

    def one_of_two(self):
        return self.receive(MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"])[0]

    def test_ids_may_be_of_the_content(self):
        self.sqs.set_queue_attributes(QueueUrl=self.url, Attributes={
            "ContentBasedDeduplication": "true"})
        for body in ("x", "x", "y"):
            self.sqs.send_message(QueueUrl=self.url, MessageBody=body, MessageGroupId="g")
        for body in ("x", "y"):
            message = self.one()
            self.assertEqual(message["Body"], body)
            self.delete(message)
        self.sqs.set_queue_attributes(QueueUrl=self.url, Attributes={
            "ContentBasedDeduplication": "false"})
        self.refused("InvalidParameterValue", self.sqs.send_message, QueueUrl=self.url,
                     MessageBody="z", MessageGroupId="g")
        self.send("w", MessageDeduplicationId="x1")
        self.assertEqual(self.send("w", MessageDeduplicationId="x1")["MessageId"],
                         self.one()["MessageId"])

    def test_what_a_send_must_and_must_not_name(self):
        send = self.sqs.send_message
        for code, params in (
                ("MissingParameter", {"MessageDeduplicationId": "x"}),
                ("InvalidParameterValue", {"MessageGroupId": "g"}),
                ("InvalidParameterValue", {"MessageGroupId": "a b", "MessageDeduplicationId": "x"}),
                ("InvalidParameterValue", {"MessageGroupId": "g", "MessageDeduplicationId": "x",
                                           "DelaySeconds": 1}),
                ("InvalidParameterValue", {"MessageGroupId": "g", "MessageDeduplicationId": "x",
                                           "MessageAttributes": {"tarry.key": {
                                               "DataType": "String", "StringValue": "k"}}})):
            with self.subTest(params=params):
                self.refused(code, send, QueueUrl=self.url, MessageBody="x", **params)
        self.assertEqual(self.receive(), [])

    def test_the_queue_may_have_a_delay(self):
        self.sqs.set_queue_attributes(QueueUrl=self.url, Attributes={"DelaySeconds": "10"})
        self.send("a")
        self.advance("9s")
        self.assertEqual(self.receive(), [])
        self.advance("1s")
        self.assertEqual(self.one()["Body"], "a")

    def test_attributes(self):
        known = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["All"])
        known = known["Attributes"]
        self.assertEqual({name: known[name] for name in (
            "FifoQueue", "ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit")},
                         {"FifoQueue": "true", "ContentBasedDeduplication": "false",
                          "DeduplicationScope": "queue", "FifoThroughputLimit": "perQueue"})
        self.assertEqual(self.make(self.name), self.url)
        self.refused("QueueAlreadyExists", self.sqs.create_queue, QueueName=self.name,
                     Attributes={"FifoQueue": "true", "ContentBasedDeduplication": "true"})
        for name, value in (("FifoQueue", "false"), ("DeduplicationScope", "group")):
            self.refused("InvalidAttributeValue", self.sqs.set_queue_attributes, QueueUrl=self.url,
                         Attributes={name: value})

    def test_a_creation_that_was_cut_short_is_finished_by_the_next_one(self):
        """The last step of a creation gives the queue its order."""
        path = "/v1/queues/" + self.name
        self.assertEqual(self.ask_http("GET", path)["settings"]["group_order"], "push")
        self.ask_http("PUT", path, {"group_order": "due"})
        self.assertEqual(self.make(self.name), self.url)
        self.assertEqual(self.ask_http("GET", path)["settings"]["group_order"], "push")
        for body in ("first", "second"):
            self.send(body)
        self.assertEqual(self.one()["Body"], "first")
        self.assertEqual(self.receive(), [])

    def test_a_waiting_message_is_cancelled_by_its_id(self):
        for body in ("first", "second"):
            self.send(body)
        self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle="key:first")
        self.assertEqual(self.one()["Body"], "second")

    def test_a_dead_letter_queue_is_fifo_too(self):
        plain = self.sqs.create_queue(QueueName="plain-dead")["QueueUrl"]
        dead = self.make("dead.fifo")
        arns = [self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])[
            "Attributes"]["QueueArn"] for url in (plain, dead)]

        def policy(arn, receives=1):
            return {"RedrivePolicy": json.dumps({"deadLetterTargetArn": arn,
                                                 "maxReceiveCount": receives})}

        change = self.sqs.set_queue_attributes
        self.refused("InvalidParameterValue", change, QueueUrl=self.url, Attributes=policy(arns[0]))
        self.refused("InvalidParameterValue", change, QueueUrl=plain, Attributes=policy(arns[1]))
        change(QueueUrl=self.url, Attributes=policy(arns[1]))
        for i in range(4):
            self.send(f"m{i}")
        for i in range(3):
            message = self.one()
            self.assertEqual(message["Body"], f"m{i}")
            self.hide(message, 0)
        source, self.url = self.url, dead
        for i in range(2):
            message = self.one()
            self.assertEqual(message["Body"], f"m{i}")
            self.assertEqual(message["Attributes"]["MessageGroupId"], "g")
            self.hide(message, 0)
            if i == 0:
                self.delete(self.one())
        self.refused("InvalidParameterValue", self.sqs.start_message_move_task, SourceArn=arns[1],
                     DestinationArn=arns[0])
        self.sqs.start_message_move_task(SourceArn=arns[1])
        self.url = source
        for i in (3, 1, 2):  # what comes back is behind what was there
            message = self.one()
            self.assertEqual(message["Body"], f"m{i}")
            self.delete(message)


class FifoInAFile(Fifo):
    """In a store of several shards."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.STORE = f"file:{folder.name}/store?shards=4&sync=os"
        super().setUpClass()


class Concurrent(unittest.TestCase):
    GROUPS = 4
    EACH = 25

    def send(self, server, url, group):
        sqs = server.client()
        for first in range(0, self.EACH, 5):
            sqs.send_message_batch(QueueUrl=url, Entries=[
                {"Id": str(i), "MessageBody": f"{group} {i}", "MessageGroupId": str(group),
                 "MessageDeduplicationId": f"{group}-{i}"} for i in range(first, first + 5)])

    def take(self, server, url, number):
        sqs = server.client()
        for turn in itertools.count():
            with self.lock:
                if sum(self.next) == self.GROUPS * self.EACH:
                    return
            for message in sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=3,
                                               WaitTimeSeconds=1).get("Messages", []):
                group, place = map(int, message["Body"].split())
                fails = (turn + number) % 4 == 0
                with self.lock:
                    self.assertEqual(place, self.next[group], f"of group {group}")
                    if not fails:
                        self.next[group] += 1
                handle = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"]}
                if fails:
                    sqs.change_message_visibility(VisibilityTimeout=0, **handle)
                else:
                    sqs.delete_message(**handle)

    def test_several_receivers_see_each_group_in_order(self):
        self.lock = threading.Lock()
        self.next = [0] * self.GROUPS
        with tempfile.TemporaryDirectory() as folder, \
                Server(f"file:{folder}/store?shards=2&sync=os", *SQS) as server:
            url = server.client().create_queue(QueueName="jobs.fifo", Attributes={
                "FifoQueue": "true"})["QueueUrl"]
            with concurrent.futures.ThreadPoolExecutor(self.GROUPS + 3) as pool:
                running = [pool.submit(self.send, server, url, group)
                           for group in range(self.GROUPS)]
                running += [pool.submit(self.take, server, url, number) for number in range(3)]
                for one in running:
                    one.result(timeout=120)


class Killed(unittest.TestCase):
    """A server that is killed again and again keeps each group's order."""

    ROUNDS = 3

    def test_the_order_is_kept(self):
        gone = (botocore.exceptions.ConnectionError, botocore.exceptions.HTTPClientError)
        sent, got = itertools.count(), []
        with tempfile.TemporaryDirectory() as folder:
            store = f"file:{folder}/store?shards=2&sync=always"
            accepted = []
            for _ in range(self.ROUNDS):
                server = Server(store, *SQS)
                sqs = server.client()
                url = sqs.create_queue(QueueName="q.fifo", Attributes={
                    "FifoQueue": "true", "VisibilityTimeout": "2"})["QueueUrl"]
                for _ in range(20):
                    number = next(sent)
                    sqs.send_message(QueueUrl=url, MessageBody=str(number), MessageGroupId="g",
                                     MessageDeduplicationId=str(number))
                    accepted.append(number)
                for _ in range(8):
                    self.take(sqs, url, got)
                self.take(sqs, url, [], delete=False)  # in flight when the server is killed
                server.process.kill()
                server.process.wait()
                self.assertRaises(gone, sqs.list_queues)
                server.process.stdout.close()
                server._log.close()
                server._directory.cleanup()
            with Server(store, *SQS) as server:
                sqs = server.client()
                while len(got) < len(accepted):
                    self.take(sqs, server.sqs_url + "/000000000000/q.fifo", got)
        self.assertEqual(got, accepted)

    def take(self, sqs, url, got, delete=True):
        message, = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=20)["Messages"]
        if delete:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        got.append(int(message["Body"]))


if __name__ == "__main__":
    unittest.main()
