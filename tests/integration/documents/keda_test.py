#!/usr/bin/env python3
"""KEDA's recipes: their figures are those of a server whose messages are due."""

import http.client
import json
import re
import unittest
import urllib.parse

import yaml

from program import SOURCE, ProgramTest, Server

HERE = SOURCE / "packaging" / "keda"


def trigger(name):
    documents = list(yaml.safe_load_all((HERE / f"{name}.yaml").read_text()))
    found, = documents[0]["spec"]["triggers"]
    return found, documents[1:]


class Keda(ProgramTest):
    def test_they_count_what_is_due(self):
        tokens = str(self.directory / "tokens")
        reader = self.tarry("token", "new", "scaler", "--scopes", "read", "--queues", "orders",
                            "--tokens-file", tokens).out.strip()
        admin = self.tarry("token", "new", "admin", "--scopes", "read,push,consume,admin",
                           "--queues", "*", "--tokens-file", tokens).out.strip()
        with Server("memory:", "--tokens-file", tokens) as server:
            for delay in ("0s", "0s", "0s", "1h"):
                self.asked("push", "orders", "x", "--in", delay, store=server.url,
                           TARRY_TOKEN=admin)
            self.asked("push", "others", "x", store=server.url, TARRY_TOKEN=admin)
            self.asked("claim", "orders", store=server.url, TARRY_TOKEN=admin)

            asks, others = trigger("metrics-api")
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request("GET", urllib.parse.urlsplit(asks["metadata"]["url"]).path,
                               headers={"Authorization": f"Bearer {reader}"})
            answer = json.loads(connection.getresponse().read())
            self.assertEqual(answer[asks["metadata"]["valueLocation"]], 2)
            authentication, = others
            self.assertEqual(asks["authenticationRef"]["name"], authentication["metadata"]["name"])
            self.assertEqual({each["parameter"] for each in
                              authentication["spec"]["secretTargetRef"]}, {"token", "ca"})

            asks, _ = trigger("prometheus")
            name, queue, states = re.search(r'(\w+)\{queue="(\w+)",state=~"([\w|]+)"\}',
                                            asks["metadata"]["query"]).groups()
            connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {reader}"})
            page = connection.getresponse().read().decode()
            connection.close()
            found = re.findall(rf'^{name}\{{queue="{queue}",state="({states})"\}} (\d+)$', page,
                               re.MULTILINE)
            self.assertEqual(dict(found), {"ready": "2", "leased": "1"})


if __name__ == "__main__":
    unittest.main()
