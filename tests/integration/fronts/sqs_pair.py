"""Makes the same calls of boto3 at tarry and at ElasticMQ, and prints where the answers differ: the
call, tarry's answer, ElasticMQ's, and the reason's name in docs/guide/sqs.md. Exits 1 if a
difference has no reason, or a reason no difference.

usage: sqs_pair.py TARRY_ENDPOINT ELASTICMQ_ENDPOINT

What differs by chance (ids, handles, times, hosts) is not compared, and neither are the texts of
errors: only their codes and statuses. sqs_sdks_test.py starts both servers.
"""

import json
import sys

import boto3
import botocore.config
import botocore.exceptions

BY_CHANCE = {"MessageId", "ReceiptHandle", "SentTimestamp", "ApproximateFirstReceiveTimestamp",
             "CreatedTimestamp", "LastModifiedTimestamp", "SenderId", "StartedTimestamp",
             "TaskHandle", "NextToken", "SequenceNumber"}
NAMED = {"QueueUrl", "queueUrl", "QueueArn", "SourceArn", "DeadLetterQueueSourceArn",
         "deadLetterTargetArn"}  # their last part counts
ALWAYS_THERE = ("MaximumMessageSize", "MessageRetentionPeriod", "SqsManagedSseEnabled")
TEXT = {"DataType": "String", "StringValue": "red"}


def client(endpoint):
    return boto3.client(
        "sqs", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="anyone",
        aws_secret_access_key="anything",
        config=botocore.config.Config(retries={"max_attempts": 0}, parameter_validation=False,
                                      read_timeout=30))


def compared(value, name=""):
    """The part of an answer that is compared."""
    if isinstance(value, dict):
        return {key: compared(one, key) for key, one in sorted(value.items())
                if key not in ("ResponseMetadata", "Message")}
    if isinstance(value, list):
        return sorted((compared(one, name.removesuffix("s")) for one in value),
                      key=lambda one: json.dumps(one, sort_keys=True, default=str))
    if name in BY_CHANCE:
        return "..."
    if name in NAMED:
        return value.replace(":", "/").rpartition("/")[2]
    if name == "RedrivePolicy":
        return compared(json.loads(value))
    return str(value)


def refuses(outcome):
    return isinstance(outcome, str)


def without_empty(outcome):
    """The answer without its empty lists and maps."""
    return outcome if refuses(outcome) else {key: one for key, one in outcome.items() if one}


def without_common(outcome):
    return {key: one for key, one in outcome["Attributes"].items() if key not in ALWAYS_THERE}


# The reasons by their names in docs/guide/sqs.md, with a test of (call, tarry's answer,
# ElasticMQ's). The first whose test holds is a difference's reason.
REASONS = {
    "empty lists": lambda call, ours, theirs: not refuses(ours) and not refuses(theirs)
    and without_empty(ours) == without_empty(theirs),
    "sizes": lambda call, ours, theirs: "262145" in call or "26214" in call or "1048" in call,
    "long delays": lambda call, ours, theirs: "901" in call and not refuses(ours),
    "FIFO": lambda call, ours, theirs: ".fifo" in call,
    "errors inside": lambda call, ours, theirs: refuses(ours) and refuses(theirs)
    and theirs[:3] in ("500", "503"),
    "handles": lambda call, ours, theirs: "delete_message" in call
    and "ReceiptHandleIsInvalid" in str(theirs) and not refuses(ours),
    "in flight": lambda call, ours, theirs: "MessageNotInflight" in str(ours)
    or call == "receive_message after that",
    "codes": lambda call, ours, theirs: refuses(ours) and refuses(theirs),
    "limits": lambda call, ours, theirs: refuses(ours) or "InvalidParameterValue" in str(ours),
    "codes of entries": lambda call, ours, theirs: "MissingParameter" in str(ours),
    "all attributes": lambda call, ours, theirs: "Attributes" in ours
    and without_common(ours) == without_common(theirs),
    "system attributes": lambda call, ours, theirs: "AWSTraceHeader" in call,
    "prefixes": lambda call, ours, theirs: ".*" in call,
    "move tasks": lambda call, ours, theirs: call == "list_message_move_tasks",
}


def reason_of(difference):
    return next((name for name, holds in REASONS.items() if holds(*difference)), "")


class Pair:
    """Both servers. Parameters that differ between them, such as handles, are pairs in `Of`."""

    def __init__(self, tarry, elasticmq):
        self.sides = (client(tarry), client(elasticmq))
        self.calls = 0
        self.differences = []

    def __call__(self, verb, told="", **parameters):
        """Calls both, notes a difference, and returns both answers; None for an error."""
        answers, outcomes = [], []
        for side, sqs in enumerate(self.sides):
            own = of_side(parameters, side)
            try:
                answer = getattr(sqs, verb)(**own)
                outcomes.append(compared(answer))
                answers.append(answer)
            except botocore.exceptions.ClientError as error:
                code = error.response["Error"]["Code"].removeprefix("AWS.SimpleQueueService.")
                status = error.response["ResponseMetadata"]["HTTPStatusCode"]
                outcomes.append(f"{code} {status}")
                answers.append(None)
        self.calls += 1
        if outcomes[0] != outcomes[1]:
            self.differences.append((told or call_text(verb, parameters), *outcomes))
        return answers


    def let_pass(self):
        """Two seconds pass: a receive from an empty queue waits so long."""
        sqs = self.sides[0]
        url = sqs.create_queue(QueueName="empty")["QueueUrl"]
        sqs.receive_message(QueueUrl=url, WaitTimeSeconds=2)


class Of(tuple):
    """A value for each side."""


def of_side(value, side):
    if isinstance(value, Of):
        return value[side]
    if isinstance(value, dict):
        return {key: of_side(one, side) for key, one in value.items()}
    if isinstance(value, list):
        return [of_side(one, side) for one in value]
    return value


def call_text(verb, parameters):
    words = [f"{name}={shown(value)}" for name, value in parameters.items() if name != "QueueUrl"]
    return f"{verb}({', '.join(words)})"


def shown(value):
    text = json.dumps(value, default=str) if not isinstance(value, Of) else "..."
    return text if len(text) <= 60 else text[:50] + f"...{len(text)}"


def messages_of(answers):
    return [sorted((one or {}).get("Messages", []), key=lambda m: m["Body"]) for one in answers]


def handles_of(answers):
    """The handles of the messages that both have, in the order of their bodies."""
    return [Of(one["ReceiptHandle"] for one in pair) for pair in zip(*messages_of(answers))]


def queues(call, urls):
    for name in ("", "a b", "a.b", "x" * 80, "x" * 81, "order.fifo"):
        call("create_queue", QueueName=name)
    call("create_queue", QueueName="main")
    call("create_queue", QueueName="main", Attributes={"VisibilityTimeout": "30"})
    call("create_queue", QueueName="main", Attributes={"VisibilityTimeout": "31"})
    for name, values in {"VisibilityTimeout": ("0", "43200", "43201", "-1", "x", ""),
                         "DelaySeconds": ("0", "900", "901", "-1"),
                         "MaximumMessageSize": ("1023", "1024", "262144", "1048576", "1048577"),
                         "MessageRetentionPeriod": ("59", "60", "1209600", "1209601"),
                         "ReceiveMessageWaitTimeSeconds": ("0", "20", "21"),
                         "NoSuchAttribute": ("1",), "QueueArn": ("x",)}.items():
        for i, value in enumerate(values):
            call("create_queue", QueueName=f"with-{name}-{i}", Attributes={name: value})
            call("set_queue_attributes", QueueUrl=urls("main"), Attributes={name: value},
                 told=f"set_queue_attributes({name}={value!r})")
    for i, policy in enumerate(("x", "{}", '{"maxReceiveCount":3}',
                                '{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:none",'
                                '"maxReceiveCount":3}')):
        call("create_queue", QueueName=f"policy-{i}", Attributes={"RedrivePolicy": policy})
    call("get_queue_url", QueueName="main")
    call("get_queue_url", QueueName="none")
    call("list_queues", QueueNamePrefix="main")
    call("list_queues", QueueNamePrefix="none")
    for most in (0, 1, 1000, 1001):
        call("list_queues", QueueNamePrefix="mai", MaxResults=most)
    call("create_queue", QueueName="fresh")
    call("get_queue_attributes", QueueUrl=urls("fresh"), AttributeNames=["All"])
    call("get_queue_attributes", QueueUrl=urls("fresh"), AttributeNames=["VisibilityTimeout"])
    call("get_queue_attributes", QueueUrl=urls("fresh"), AttributeNames=["None"])
    call("get_queue_attributes", QueueUrl=urls("fresh"))
    call("tag_queue", QueueUrl=urls("fresh"), Tags={"a": "1", "b": "2"})
    call("list_queue_tags", QueueUrl=urls("fresh"))
    call("untag_queue", QueueUrl=urls("fresh"), TagKeys=["a", "none"])
    call("list_queue_tags", QueueUrl=urls("fresh"))
    call("list_queue_tags", QueueUrl=urls("none"))


def sends(call, urls):
    call("create_queue", QueueName="sent")
    url = urls("sent")
    for body in ("x", "", " ", "snow ☃", "a\x00b", "a\x0bb", "a\ufffeb", "<&>'\"", "\r\n\t",
                 "x" * 262144, "x" * 262145, "x" * 1048576, "x" * 1048577):
        call("send_message", QueueUrl=url, MessageBody=body)
    call("purge_queue", QueueUrl=url)
    call("purge_queue", "purge_queue again within 60 s", QueueUrl=url)
    for delay in (0, 1, 900, 901, -1):
        call("send_message", QueueUrl=url, MessageBody="x", DelaySeconds=delay)
    call("purge_queue", QueueUrl=url)
    attributes = {
        "text": TEXT, "number": {"DataType": "Number", "StringValue": "1.5e3"},
        "bytes": {"DataType": "Binary", "BinaryValue": b"\x00\xff"},
        "own": {"DataType": "String.colour", "StringValue": "red"},
        "no number": {"DataType": "Number", "StringValue": "x"},
        "other": {"DataType": "Float", "StringValue": "1"},
        "empty": {"DataType": "String", "StringValue": ""},
        "neither": {"DataType": "String"}, "typeless": {"StringValue": "x"},
    }
    for told, value in attributes.items():
        call("send_message", QueueUrl=url, MessageBody="x", MessageAttributes={"a": value},
             told=f"send_message(attribute: {told})")
    for name in ("AWS.x", "amazon.x", ".a", "a.", "a..b", "a b", "a" * 256, "a" * 257, "é"):
        call("send_message", QueueUrl=url, MessageBody="x", MessageAttributes={name: TEXT},
             told=f"send_message(attribute's name: {name if len(name) < 20 else len(name)})")
    many = {f"a{i}": TEXT for i in range(11)}
    call("send_message", "send_message(11 attributes)", QueueUrl=url, MessageBody="x",
         MessageAttributes=many)
    call("send_message", QueueUrl=url, MessageBody="x", MessageSystemAttributes={
        "AWSTraceHeader": {"DataType": "String", "StringValue": "Root=1"}})
    call("send_message", QueueUrl=url, MessageBody="x", MessageSystemAttributes={"Other": TEXT})
    call("send_message", QueueUrl=url, MessageBody="x", MessageGroupId="g")
    call("send_message", QueueUrl=url, MessageBody="x", MessageDeduplicationId="d")
    call("send_message", QueueUrl=urls("none"), MessageBody="x", told="send_message(no queue)")
    call("send_message", QueueUrl=url, told="send_message(no body)")

    def batch(told, *entries):
        call("send_message_batch", f"send_message_batch({told})", QueueUrl=url,
             Entries=[dict(zip(("Id", "MessageBody", "DelaySeconds"), one)) for one in entries])

    batch("none")
    batch("10", *((str(i), "x") for i in range(10)))
    batch("11", *((str(i), "x") for i in range(11)))
    batch("ids alike", ("a", "x"), ("a", "y"))
    for name in ("", "a b", "a.b", "x" * 80, "x" * 81):
        batch(f"the id {name if len(name) < 20 else len(name)}", (name, "x"))
    batch("one empty body", ("a", "x"), ("b", ""))
    batch("one delay of 901", ("a", "x"), ("b", "x", 901))
    batch("262145 bytes together", ("a", "x" * 131073), ("b", "x" * 131072))
    batch("1048577 bytes together", ("a", "x" * 524289), ("b", "x" * 524288))


def receives(call, urls):
    call("create_queue", QueueName="taken")
    url = urls("taken")
    call("receive_message", QueueUrl=url)
    for most in (0, 1, 10, 11):
        call("receive_message", QueueUrl=url, MaxNumberOfMessages=most)
    for wait in (0, 1, 21, -1):
        call("receive_message", QueueUrl=url, WaitTimeSeconds=wait)
    for seconds in (0, 43200, 43201, -1):
        call("receive_message", QueueUrl=url, VisibilityTimeout=seconds)
    call("receive_message", QueueUrl=urls("none"), told="receive_message(no queue)")

    call("send_message", QueueUrl=url, MessageBody="x", MessageAttributes={
        "colour": TEXT, "color.dark": TEXT, "size": {"DataType": "Number", "StringValue": "7"}})
    for asked in ({}, {"MessageAttributeNames": ["All"]}, {"MessageAttributeNames": [".*"]},
                  {"MessageAttributeNames": ["size"]}, {"MessageAttributeNames": ["none"]},
                  {"MessageAttributeNames": ["color.*"]}, {"MessageAttributeNames": ["col*"]},
                  {"AttributeNames": ["All"]}, {"MessageSystemAttributeNames": ["All"]},
                  {"MessageSystemAttributeNames": ["ApproximateReceiveCount"]},
                  {"AttributeNames": ["None"]}):
        call("receive_message", QueueUrl=url, VisibilityTimeout=0, **asked)
    call.let_pass()
    handle, = handles_of(call("receive_message", QueueUrl=url))[:1]

    def show(told, **parameters):
        call("change_message_visibility", f"change_message_visibility({told})",
             **{"QueueUrl": url, "ReceiptHandle": handle, **parameters})

    for seconds in (100, 43200, 43201, -1):
        show(str(seconds), VisibilityTimeout=seconds)
    show("no timeout")
    show("a handle that is none", ReceiptHandle="x", VisibilityTimeout=1)
    show("0", VisibilityTimeout=0)
    call.let_pass()
    again, = handles_of(call("receive_message", "receive_message once more", QueueUrl=url))[:1]
    call("delete_message", "delete_message(the older handle)", QueueUrl=url, ReceiptHandle=handle)
    call("get_queue_attributes", "counts after delete by the older handle", QueueUrl=url,
         AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"])
    call("delete_message", "delete_message", QueueUrl=url, ReceiptHandle=again)
    call("delete_message", "delete_message again", QueueUrl=url, ReceiptHandle=again)
    show("after delete", ReceiptHandle=again, VisibilityTimeout=1)
    for bad in ("x", ""):
        call("delete_message", QueueUrl=url, ReceiptHandle=bad)
    call("delete_message", "delete_message(no handle)", QueueUrl=url)

    call("send_message", QueueUrl=url, MessageBody="y")
    late, = handles_of(call("receive_message", QueueUrl=url, VisibilityTimeout=1))[:1]
    call.let_pass()
    show("after its end", ReceiptHandle=late, VisibilityTimeout=10)
    call("delete_message", "delete_message after its end", QueueUrl=url, ReceiptHandle=late)
    call("receive_message", "receive_message after that", QueueUrl=url)

    call("create_queue", QueueName="shown")
    url = urls("shown")
    call("send_message", QueueUrl=url, MessageBody="z")
    handle, = handles_of(call("receive_message", QueueUrl=url))[:1]
    for told, seconds in (("0", 0), ("100, when it is visible", 100)):
        call("change_message_visibility", f"change_message_visibility({told})", QueueUrl=url,
             ReceiptHandle=handle, VisibilityTimeout=seconds)
    call("receive_message", "receive_message after that", QueueUrl=url)
    batches(call, urls)


def batches(call, urls):
    call("create_queue", QueueName="batches")
    url = urls("batches")
    call("send_message_batch", "send 3", QueueUrl=url,
         Entries=[{"Id": str(i), "MessageBody": str(i)} for i in range(3)])
    taken = []
    for _ in range(5):  # a receive may give fewer than there are
        taken += handles_of(call("receive_message", "receive 3", QueueUrl=url,
                                 MaxNumberOfMessages=10))
    entries = [{"Id": str(i), "ReceiptHandle": one} for i, one in enumerate(taken[:3])]

    def both(told, given):
        call("change_message_visibility_batch", f"change_message_visibility_batch({told})",
             QueueUrl=url, Entries=[{**one, "VisibilityTimeout": 60} for one in given])
        call("delete_message_batch", f"delete_message_batch({told})", QueueUrl=url, Entries=given)

    both("none", [])
    both("one handle that is none", [entries[0], {"Id": "bad", "ReceiptHandle": "x"}])
    both("ids alike", [entries[1], {**entries[2], "Id": "1"}])
    both("11", [{"Id": str(i), "ReceiptHandle": "x"} for i in range(11)])
    call("change_message_visibility_batch", "change_message_visibility_batch(43201)", QueueUrl=url,
         Entries=[{**entries[1], "VisibilityTimeout": 43201}])
    both("the rest", entries[1:])
    both("the rest again", entries[1:])


def dead_letters(call, urls):
    call("create_queue", QueueName="dead")
    arn = Of(one["Attributes"]["QueueArn"] for one in call(
        "get_queue_attributes", QueueUrl=urls("dead"), AttributeNames=["QueueArn"]))
    policy = Of(json.dumps({"deadLetterTargetArn": one, "maxReceiveCount": 1}) for one in arn)
    call("create_queue", QueueName="mortal", Attributes={"RedrivePolicy": policy})
    call("get_queue_attributes", QueueUrl=urls("mortal"), AttributeNames=["RedrivePolicy"])
    call("list_dead_letter_source_queues", QueueUrl=urls("dead"))
    call("list_dead_letter_source_queues", "no sources", QueueUrl=urls("mortal"))
    call("send_message", QueueUrl=urls("mortal"), MessageBody="poison",
         MessageAttributes={"colour": TEXT})
    call("receive_message", QueueUrl=urls("mortal"), VisibilityTimeout=1)
    call.let_pass()
    call("receive_message", "the second receive of maxReceiveCount 1", QueueUrl=urls("mortal"))
    call("receive_message", "of the dead-letter queue", QueueUrl=urls("dead"), VisibilityTimeout=1,
         WaitTimeSeconds=2, AttributeNames=["All"], MessageAttributeNames=["All"])
    call.let_pass()
    call("start_message_move_task", "start_message_move_task", SourceArn=arn)
    call.let_pass()
    call("list_message_move_tasks", "list_message_move_tasks", SourceArn=arn)
    call("cancel_message_move_task", "cancel_message_move_task(none)", TaskHandle="x")
    call("receive_message", "after the move", QueueUrl=urls("mortal"), AttributeNames=[
        "ApproximateReceiveCount"])
    call("start_message_move_task", "start_message_move_task(no dead-letter queue)", SourceArn=Of(
        one.replace("dead", "mortal") for one in arn))
    call("delete_queue", QueueUrl=urls("mortal"))
    call("delete_queue", "delete_queue again", QueueUrl=urls("mortal"))
    call("receive_message", "of a deleted queue", QueueUrl=urls("mortal"))


def fifo(call, urls):
    for told, attributes in (("FIFO", {"FifoQueue": "true"}), ("FIFO again", {"FifoQueue": "true"}),
                             ("otherwise", {"FifoQueue": "true", "DelaySeconds": "7"})):
        call("create_queue", f"create_queue(line.fifo, {told})", QueueName="line.fifo",
             Attributes=attributes)
    call("create_queue", "create_queue(line, FifoQueue, without .fifo)", QueueName="line",
         Attributes={"FifoQueue": "true"})
    url = urls("line.fifo")
    call("get_queue_attributes", "get_queue_attributes(of .fifo)", QueueUrl=url,
         AttributeNames=["FifoQueue", "ContentBasedDeduplication"])

    def send(body, group="g", told="", **parameters):
        call("send_message", f"send_message(to .fifo{told and ', '}{told})", QueueUrl=url,
             MessageBody=body, **({"MessageGroupId": group} if group else {}),
             **{"MessageDeduplicationId": body, **parameters})

    def receive(told, **parameters):
        handles = handles_of(call(
            "receive_message", f"receive_message(of .fifo, {told})", QueueUrl=url,
            AttributeNames=["MessageGroupId", "MessageDeduplicationId"], **parameters))
        return handles[0] if handles else Of(("none", "none"))

    send("first")
    send("second")
    send("other", "h")
    send("twice", "i")
    send("twice", "i", told="twice")
    send("x", "", told="no group")
    send("x", told="delay of 0", DelaySeconds=0)
    send("y", told="delay of 1", DelaySeconds=1)
    send("z", told="an id with a space", MessageDeduplicationId="a b")
    call("send_message", "send_message(to .fifo, no id)", QueueUrl=url, MessageBody="w",
         MessageGroupId="g")
    first = receive("one", ReceiveRequestAttemptId="a")
    receive("another group")
    receive("a third group")
    receive("all groups are in flight")
    call("change_message_visibility", "change_message_visibility(of .fifo, 0)", QueueUrl=url,
         ReceiptHandle=first, VisibilityTimeout=0)
    call.let_pass()
    first = receive("it has its place")
    call("delete_message", "delete_message(of .fifo)", QueueUrl=url, ReceiptHandle=first)
    receive("the next one")
    call("send_message", "send_message(a group, and no .fifo)", QueueUrl=urls("sent"),
         MessageBody="x", MessageGroupId="g")


def main():
    call = Pair(*sys.argv[1:])
    ends = Of(sys.argv[1:])

    def urls(name):
        return Of(f"{end}/000000000000/{name}" for end in ends)

    for part in (queues, sends, receives, dead_letters, fifo):
        part(call, urls)
    found = {}
    for told, ours, theirs in call.differences:
        reason = reason_of((told, ours, theirs))
        found.setdefault(reason, []).append(told)
        print(f"{told}\n    tarry: {ours}\n    ElasticMQ: {theirs}\n    {reason or 'NO REASON'}")
    print(f"{call.calls} calls, {len(call.differences)} differences:",
          ", ".join(f"{len(calls)} {reason or 'NO REASON'}" for reason, calls in found.items()))
    missing = set(REASONS) - set(found)
    if missing:
        print("reasons without a difference:", ", ".join(sorted(missing)))
    return 1 if missing or "" in found else 0


if __name__ == "__main__":
    sys.exit(main())
