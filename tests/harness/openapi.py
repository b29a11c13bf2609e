"""The OpenAPI document, and a client that checks every request and answer against it."""

import copy
import json
import sys
from urllib.parse import quote, urlencode

try:
    import jsonschema  # noqa: F401
except ImportError:  # Debian's package; the tests may run on another Python
    sys.path.append("/usr/lib/python3/dist-packages")
from jsonschema import Draft202012Validator, RefResolver  # noqa: E402

METHODS = ("get", "put", "post", "delete")
JSON_TYPE = "application/json"


def closed(document):
    """The document without unknown fields. The real one permits more fields in answers, so that
    generated clients accept the fields of later versions; here, a field that it does not name is a
    mistake."""
    document = copy.deepcopy(document)
    for schema in document.get("components", {}).get("schemas", {}).values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return document


class Document:
    """The document, and the fields of its schemas that real traffic has contained."""

    def __init__(self, document):
        self.root = closed(document)
        self._resolver = RefResolver("", self.root)
        self.met = set()  # (the schema's place, the field)

    def operations(self):
        """(method, path, operation)"""
        for path, item in self.root["paths"].items():
            for method in METHODS:
                if method in item:
                    yield method.upper(), path, item[method]

    def resolve(self, node):
        """The node that a reference names; other nodes are returned unchanged."""
        while "$ref" in node:
            node = self._resolver.resolve(node["$ref"])[1]
        return node

    def parameters(self, path, operation):
        """The parameters of the path and of the operation, by name."""
        both = self.root["paths"][path].get("parameters", []) + operation.get("parameters", [])
        return {p["name"]: p for p in map(self.resolve, both)}

    def body_schema(self, operation):
        """The schema of the request's body; None if it has none."""
        if "requestBody" not in operation:
            return None
        return self.resolve(operation["requestBody"])["content"][JSON_TYPE]["schema"]

    def errors(self, schema, value):
        """The errors of the value, in words."""
        validator = Draft202012Validator(schema, resolver=self._resolver)
        return [f"{list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(value)]

    def meet(self, schema, value, place):
        """Records the fields of a valid value."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            return self.meet(self.resolve(schema), value, name)
        for choice in schema.get("oneOf", ()):
            if not self.errors(choice, value):
                return self.meet(choice, value, place)
        if isinstance(value, dict):
            for name, inner in value.items():
                if name in schema.get("properties", {}):
                    self.met.add((place, name))
                    self.meet(schema["properties"][name], inner, f"{place}.{name}")
        elif isinstance(value, list) and "items" in schema:
            for inner in value:
                self.meet(schema["items"], inner, place)
        return None

    def fields(self):
        """(schema, field) pairs of all components."""
        return {(name, field) for name, schema in self.root["components"]["schemas"].items()
                for field in schema.get("properties", {})}


class Reply:
    """An answer: status, fields, body."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()
        self.type = response.headers["Content-Type"]

    @property
    def json(self):
        """The body."""
        return json.loads(self.text)


class Client:
    """Sends operations to a server. Anything that differs from the document is an
    AssertionError."""

    def __init__(self, server, document):
        self._server = server
        self.document = document
        self._by_id = {o["operationId"]: (m, p, o) for m, p, o in document.operations()}
        self.asked = set()       # (operation, parameter)
        self.answered = set()  # (operation, status as in the document)

    def raw(self, method, target, body=None, headers=()):
        """Sends any request."""
        connection = self._server.connection()
        try:
            connection.request(method, target, body, dict(headers))
            return Reply(connection.getresponse())
        finally:
            connection.close()

    def ask(self, name, status=200, *, queue="orders", schedule="report", session="none",
            query=None, body=None,
            headers=(), text=None):
        """Sends an operation by its id. `body` is a JSON value; `text` is sent unchanged."""
        method, path, operation = self._by_id[name]
        known = self.document.parameters(path, operation)
        query = query or {}
        if status == 200:
            for given in query:
                assert given in known, f"{name}: the parameter {given} is not documented"
                self.asked.add((name, given))
            if body is not None:
                schema = self.document.body_schema(operation)
                wrong = self.document.errors(schema, body)
                assert not wrong, f"{name}: {body}: {wrong}"
                self.document.meet(schema, body, name)
        target = path.replace("{queue}", quote(queue, safe="")).replace("{name}", schedule)
        target = target.replace("{id}", session)
        if query:
            target += "?" + urlencode(query)
        fields = dict(headers)
        if body is not None or text is not None:
            fields.setdefault("Content-Type", JSON_TYPE)
        text = json.dumps(body) if text is None and body is not None else text
        reply = self.raw(method, target, text, fields)
        assert reply.status == status, f"{name}: {reply.status}, not {status}: {reply.text}"
        self.check(name, operation, reply)
        return reply

    def check(self, name, operation, reply):
        """Checks the answer against the document."""
        assert reply.headers["X-Request-ID"], name
        responses = operation["responses"]
        said = str(reply.status) if str(reply.status) in responses else "default"
        response = self.document.resolve(responses[said])
        self.answered.add((name, said))
        for field in response.get("headers", {}):
            assert reply.headers[field], f"{name} {reply.status}: {field} is missing"
        media = reply.type.split(";")[0]
        assert media in response["content"], f"{name} {reply.status}: is {reply.type}"
        if media == "text/plain":
            return
        schema = response["content"][media]["schema"]
        wrong = self.document.errors(schema, reply.json)
        assert not wrong, f"{name} {reply.status}: {reply.text}: {wrong}"
        self.document.meet(schema, reply.json, name)
        if reply.status != 200:
            assert reply.json["status"] == reply.status, reply.text
