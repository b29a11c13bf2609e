#!/usr/bin/env python3
"""The Helm chart: what it makes of its examples, wrong values, and its table of values."""

import copy
import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import jsonschema
import yaml

from program import SOURCE, ProgramTest

HERE = SOURCE / "packaging" / "helm"
CHART = HERE / "tarry"
VERSION = re.search(r'VERSION "(.*)"', (SOURCE / "include/tarry/version.h").read_text())[1]

# Values, and a word of the error that refuses them.
REFUSED = (
    ({"store": {"kind": "disk"}}, "'disk' is not one of ['file', 'redis']"),
    ({"store": {"file": {"size": "big"}}}, "'big' does not match"),
    ({"store": {"redis": {"replicas": 0}}}, "0 is less than the minimum of 1"),
    ({"store": {"redis": {"url": "http://x"}}}, "'http://x' does not match"),
    ({"store": {"file": {"options": "sync=os"}}}, "'sync=os' does not match"),
    ({"tls": {"existingsecret": "x"}}, "'existingsecret' was unexpected"),
    ({"insecure": "yes"}, "'yes' is not of type 'boolean'"),
    ({"names": ["a,b"]}, "'a,b' does not match"),
    ({"service": {"port": 70000}}, "70000 is greater than the maximum of 65535"),
    ({"log": {"level": "trace"}}, "'trace' is not one of"),
    ({"networkPolicy": {"from": []}}, "[] "),
    ({"sqs": {"port": 0}}, "0 is less than the minimum of 1"),
    ({"beanstalk": {"on": True}}, "'on' was unexpected"),
)
# Values that only together are wrong.
FAILING = (
    ({}, "tls.existingSecret is empty"),
    ({"tls": {"existingSecret": "a"}}, "tokens.existingSecret is empty"),
    ({"insecure": True, "store": {"kind": "redis"}}, "set store.redis.url"),
    ({"insecure": True, "store": {"kind": "redis", "redis": {"url": "redis://a",
                                                             "existingSecret": "b"}}},
     "are both set"),
    ({"insecure": True, "tls": {"clientAuthority": "ca.crt"}}, "need tls.existingSecret"),
)


def load(path):
    return yaml.safe_load(path.read_text())


def merged(values, over):
    made = copy.deepcopy(values)
    for name, value in over.items():
        both = isinstance(value, dict) and isinstance(made.get(name), dict)
        made[name] = merged(made[name], value) if both else value
    return made


def leaves(values, path=""):
    """(path, value) of all that the table lists."""
    for name, value in values.items():
        if isinstance(value, dict) and value and name != "resources":
            yield from leaves(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


class Values(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.values = load(CHART / "values.yaml")
        cls.schema = json.loads((CHART / "values.schema.json").read_text())

    def test_the_schema_takes_the_defaults_and_the_examples(self):
        jsonschema.Draft7Validator.check_schema(self.schema)
        for over in ({}, *map(load, HERE.glob("examples/*.yaml"))):
            jsonschema.validate(merged(self.values, over), self.schema)

    def test_the_schema_refuses_wrong_values(self):
        for over, word in REFUSED:
            with self.assertRaises(jsonschema.ValidationError) as caught:
                jsonschema.validate(merged(self.values, over), self.schema)
            self.assertIn(word, caught.exception.message)

    def test_the_schema_knows_every_value_and_no_other(self):
        def names(schema, path=""):
            for name, inner in schema["properties"].items():
                if inner.get("additionalProperties") is False:
                    yield from names(inner, f"{path}{name}.")
                else:
                    yield path + name

        self.assertEqual(set(names(self.schema)) - {"global"},
                         {path for path, _ in leaves(self.values)})

    def test_the_table(self):
        rows = re.findall(r"^\| `([\w.]+)` \| `(.*?)` \|", (CHART / "README.md").read_text(),
                          re.MULTILINE)
        self.assertEqual([(name, json.loads(value)) for name, value in rows],
                         list(leaves(self.values)))

    def test_the_version_is_the_program_s(self):
        facts = load(CHART / "Chart.yaml")
        self.assertEqual((facts["version"], facts["appVersion"]), (VERSION, VERSION))


@unittest.skipUnless(shutil.which("go"), "no go here (scripts/setup test)")
class Rendered(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.values = load(CHART / "values.yaml")
        with tempfile.TemporaryDirectory() as directory:
            program = Path(directory, "render")
            subprocess.run(["go", "build", "-o", program, "."], check=True,
                           cwd=SOURCE / "tests" / "support" / "chart")
            cls.examples = {path.stem: path for path in HERE.glob("examples/*.yaml")}
            wishes = [*map(load, cls.examples.values()), *(over for over, _ in FAILING)]
            meta = {name[:1].upper() + name[1:]: value
                    for name, value in load(CHART / "Chart.yaml").items()}
            asked = [{"chart": str(CHART), "values": merged(cls.values, over), "meta": meta,
                      "release": "shop", "namespace": "eu"} for over in wishes]
            said = subprocess.run([program], input=json.dumps(asked), text=True, check=True,
                                  capture_output=True).stdout
        answers = json.loads(said)
        cls.made, cls.notes = {}, {}
        for name, answer in zip(cls.examples, answers):
            assert not answer["error"], answer["error"]
            cls.notes[name] = answer["made"].pop("NOTES.txt")
            documents = [yaml.safe_load(text) for text in answer["made"].values()]
            cls.made[name] = {each["kind"]: each for each in documents if each}
        cls.failures = [answer["error"] for answer in answers[len(cls.examples):]]

    def pod(self, name):
        kinds = self.made[name]
        return kinds.get("StatefulSet", kinds.get("Deployment"))["spec"]["template"]

    def test_kinds(self):
        always = {"ConfigMap", "NetworkPolicy", "PodDisruptionBudget", "Service", "ServiceAccount"}
        self.assertEqual(set(self.made["trial"]), always | {"StatefulSet"})
        self.assertEqual(set(self.made["redis"]), always | {"Deployment"})
        self.assertEqual(set(self.made["file"]),
                         always | {"StatefulSet", "ServiceMonitor", "PrometheusRule"})
        self.assertEqual(self.made["file"]["StatefulSet"]["spec"]["replicas"], 1)
        self.assertEqual(self.made["redis"]["Deployment"]["spec"]["replicas"], 3)
        for kinds in self.made.values():
            self.assertEqual({each["metadata"]["name"] for each in kinds.values()}, {"shop-tarry"})

    def test_what_chooses_pods_chooses_these(self):
        for name, kinds in self.made.items():
            labels = self.pod(name)["metadata"]["labels"].items()
            chosen = [kinds["Service"]["spec"]["selector"],
                      kinds["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
                      kinds["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"]]
            for each in chosen:
                self.assertTrue(each and each.items() <= labels, (name, each))
            ports = [port["targetPort"] for port in kinds["Service"]["spec"]["ports"]]
            allowed = kinds["NetworkPolicy"]["spec"]["ingress"][0]["ports"]
            container, = self.pod(name)["spec"]["containers"]
            inner = dict(zip(ports, (7733, 9324, 11300)))
            self.assertEqual(ports[1:], ["sqs", "beanstalk"] if name == "file" else [])
            self.assertEqual(container["ports"],
                             [{"name": port, "containerPort": inner[port]} for port in ports])
            self.assertEqual([port["port"] for port in allowed], ports)

    def test_fronts_have_ports_and_settings(self):
        ports = {port["name"]: port["port"]
                 for port in self.made["file"]["Service"]["spec"]["ports"]}
        self.assertEqual(ports, {"https": 7733, "sqs": 9324, "beanstalk": 11301})
        container, = self.pod("file")["spec"]["containers"]
        variables = {each["name"]: each.get("value") for each in container["env"]}
        self.assertEqual((variables["TARRY_SQS"], variables["TARRY_BEANSTALK"],
                          variables["TARRY_SQS_KEYS_FILE"]),
                         ("0.0.0.0:9324", "0.0.0.0:11300", "/run/secrets/tokens/sqs-keys"))

    def test_the_pods_are_locked_down(self):
        for name in self.made:
            spec = self.pod(name)["spec"]
            container, = spec["containers"]
            self.assertIs(spec["automountServiceAccountToken"], False)
            self.assertEqual(spec["securityContext"]["runAsUser"], 65534)
            self.assertEqual(container["securityContext"],
                             {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                              "capabilities": {"drop": ["ALL"]}})
            mounted = {mount["name"] for mount in container["volumeMounts"]}
            there = {volume["name"] for volume in spec["volumes"]}
            if name != "redis":
                there |= {claim["metadata"]["name"] for claim in
                          self.made[name]["StatefulSet"]["spec"]["volumeClaimTemplates"]}
            self.assertEqual(mounted, there)

    def test_the_program_takes_the_settings(self):
        expected = {"trial": ("file:/var/lib/tarry/store", "true", None),
                    "file": ("file:/var/lib/tarry/store", "false", "/run/secrets/tls/tls.crt"),
                    "redis": ("redis://a", "false", "/run/secrets/tls/tls.crt")}
        for name, (store, insecure, certificate) in expected.items():
            container, = self.pod(name)["spec"]["containers"]
            variables = {each["name"]: each.get("value", "redis://a") for each in container["env"]}
            toml = self.directory / "tarry.toml"
            toml.write_text(self.made[name]["ConfigMap"]["data"]["tarry.toml"])
            variables["TARRY_CONFIG"] = str(toml)
            said = self.asked("config", "check", store="", **variables)
            self.assertEqual(said["notes"], [])
            found = {each["name"]: each.get("value") for each in said["settings"]}
            self.assertEqual((found["store.url"], found["server.insecure"], found["tls.cert"]),
                             (store, insecure, certificate))
            self.assertEqual(found["server.listen"], "0.0.0.0:7733,unix:/run/tarry/tarry.sock")
            self.assertIn("shop-tarry.eu.svc", found["server.names"].split(","))
            known = {each["environment"] for each in said["settings"]}
            self.assertEqual({each for each in variables if each.startswith("TARRY_")} - known,
                             {"TARRY_CONFIG"})
            self.assertEqual(len(said["queues"]), 1 if name == "file" else 0)

    def test_probes(self):
        for name, scheme in (("trial", "HTTP"), ("file", "HTTPS")):
            container, = self.pod(name)["spec"]["containers"]
            for probe, path in (("startup", "/readyz"), ("liveness", "/healthz"),
                                ("readiness", "/readyz")):
                self.assertEqual(container[probe + "Probe"]["httpGet"],
                                 {"path": path, "port": scheme.lower(), "scheme": scheme})
        # A server that demands client certificates refuses the kubelet's requests.
        container, = self.pod("redis")["spec"]["containers"]
        self.assertEqual(container["livenessProbe"], {"tcpSocket": {"port": "https"}})
        self.assertEqual(container["readinessProbe"]["exec"]["command"][-1], "health")

    def test_for_prometheus(self):
        endpoint, = self.made["file"]["ServiceMonitor"]["spec"]["endpoints"]
        self.assertEqual(endpoint["scheme"], "https")
        self.assertEqual(endpoint["authorization"]["credentials"],
                         {"name": "tarry-scraper", "key": "token"})
        self.assertEqual(endpoint["tlsConfig"],
                         {"serverName": "shop-tarry.eu.svc",
                          "ca": {"secret": {"name": "tarry-tls", "key": "ca.crt"}}})
        self.assertEqual(self.made["file"]["PrometheusRule"]["spec"],
                         load(SOURCE / "packaging/prometheus/alerts.yaml"))

    def test_values_that_only_together_are_wrong(self):
        for (_, word), said in zip(FAILING, self.failures, strict=True):
            self.assertIn(word, said)

    def test_notes(self):
        self.assertIn("http://shop-tarry.eu.svc:7733", self.notes["trial"])
        self.assertIn("everyone who reaches the service may push", self.notes["trial"])
        self.assertIn("https://shop-tarry.eu.svc:7733", self.notes["file"])
        self.assertNotIn("insecure=true", self.notes["file"])


if __name__ == "__main__":
    unittest.main()
