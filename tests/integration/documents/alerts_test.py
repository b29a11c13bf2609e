#!/usr/bin/env python3
"""The alerts: each fires when it should and only then (promtool), and asks for metrics that exist.
The settings of Prometheus in the compose file can be loaded.
"""

import re
import shutil
import subprocess
import unittest

import yaml

from program import SOURCE

HERE = SOURCE / "packaging" / "prometheus"
OTHERS = {"kubelet_volume_stats_available_bytes", "kubelet_volume_stats_capacity_bytes",
          "node_filesystem_avail_bytes", "node_filesystem_size_bytes", "up"}


def promtool(*words):
    return subprocess.run(["promtool", *map(str, words)], capture_output=True, text=True,
                          timeout=100, check=False)


class Alerts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        groups = yaml.safe_load((HERE / "alerts.yaml").read_text())["groups"]
        cls.rules = [rule for group in groups for rule in group["rules"]]

    @unittest.skipUnless(shutil.which("promtool"), "no promtool here (scripts/setup test)")
    def test_each_fires_when_it_should(self):
        said = promtool("test", "rules", HERE / "alerts_test.yaml")
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        said = promtool("check", "rules", HERE / "alerts.yaml")
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)

    def test_each_has_a_test(self):
        tests = yaml.safe_load((HERE / "alerts_test.yaml").read_text())["tests"]
        for rule in self.rules:
            checks = [check for test in tests for check in test["alert_rule_test"]
                      if check["alertname"] == rule["alert"]]
            self.assertIn([], [check.get("exp_alerts", []) for check in checks], rule["alert"])
            self.assertTrue(any(check.get("exp_alerts") for check in checks), rule["alert"])

    def test_metrics_and_labels_exist(self):
        rows = re.findall(r"^\| `(tarry_\w+)` \| \w+ \|([\w, ]*)\|",
                          (SOURCE / "docs/reference/metrics.md").read_text(), re.MULTILINE)
        known = {name: set(labels.replace(" ", "").split(",")) for name, labels in rows}
        for rule in self.rules:
            names = re.findall(r"\b((?:tarry|kubelet|node)_\w+|up)(?=[{)\[ ]|$)", rule["expr"])
            self.assertTrue(names, rule["alert"])
            names = [re.sub("_bucket$", "", name) for name in names]
            self.assertLessEqual(set(names) - OTHERS, set(known), rule["alert"])
            for labels in re.findall(r"by \(([^)]*)\)", rule["expr"]):
                self.assertLessEqual(set(labels.split(", ")) - {"job", "instance", "le"},
                                     known[names[0]], rule["alert"])

    @unittest.skipUnless(shutil.which("promtool"), "no promtool here (scripts/setup test)")
    def test_prometheus_of_the_compose_file(self):
        file = SOURCE / "packaging" / "compose" / "prometheus.yml"
        said = promtool("check", "config", "--syntax-only", file)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        rules, = yaml.safe_load(file.read_text())["rule_files"]
        compose = yaml.safe_load((file.parent / "compose.yaml").read_text())
        mounts = compose["services"]["prometheus"]["volumes"]
        self.assertIn(f"../prometheus/alerts.yaml:{rules}:ro", mounts)


if __name__ == "__main__":
    unittest.main()
