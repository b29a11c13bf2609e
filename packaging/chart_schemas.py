#!/usr/bin/env python3
"""chart_schemas.py DIRECTORY OUT FILE...: writes schemas for kubeconform into OUT.

DIRECTORY has Kubernetes' schemas, as the Python package kubernetes-validate has them: here each
kind gets a file of its own with all definitions. Each FILE defines a kind of an operator's own.
"""

import json
import sys
from pathlib import Path

import yaml

KINDS = ("configmap-v1", "deployment-apps-v1", "networkpolicy-networking-v1",
         "poddisruptionbudget-policy-v1", "service-v1", "serviceaccount-v1", "statefulset-apps-v1")


def read(path):
    return json.loads(path.read_text().replace('"/api/_definitions.json#', '"#'))


def closed(schema):
    """The same, refusing unknown keys as an API server does that warns of them."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: closed(value) for name, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema:
        made["additionalProperties"] = False
    return made


directory, out, *files = map(Path, sys.argv[1:])
out.mkdir(parents=True, exist_ok=True)
definitions = read(directory / "_definitions.json")["$defs"]
for kind in KINDS:
    whole = {**read(directory / f"{kind}.json"), "$defs": definitions}
    (out / f"{kind}.json").write_text(json.dumps(whole))
for file in files:
    spec = yaml.safe_load(file.read_text())["spec"]
    kind, group = spec["names"]["kind"].lower(), spec["group"].split(".")[0]
    for version in spec["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        schema["properties"]["metadata"] = {"type": "object", "additionalProperties": True}
        (out / f"{kind}-{group}-{version['name']}.json").write_text(json.dumps(closed(schema)))
