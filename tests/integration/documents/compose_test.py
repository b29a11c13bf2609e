#!/usr/bin/env python3
"""The compose file fits the image's settings, the program's, and the files that it mounts."""

import json
import re
import unittest

import yaml

from program import SOURCE, ProgramTest

HERE = SOURCE / "packaging" / "compose"
VERSION = re.search(r'VERSION "(.*)"', (SOURCE / "include/tarry/version.h").read_text())[1]


class Compose(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.file = yaml.safe_load((HERE / "compose.yaml").read_text())
        cls.services = cls.file["services"]
        cls.servers = {name: service for name, service in cls.services.items()
                       if "tarry" in service["image"]}

    def test_services(self):
        self.assertEqual(set(self.services),
                         {"tarry", "tarry-redis", "redis", "prometheus", "grafana"})
        for name, service in self.services.items():
            self.assertRegex(service["image"], r":[v\d][\w.-]*\}?$", name)
            self.assertEqual(service.get("profiles"), ["redis"] if "redis" in name else None)
            for port in service.get("ports", []):
                self.assertTrue(port.startswith("127.0.0.1:"), port)
            for volume in service.get("volumes", []):
                source, target, *mode = volume.split(":")
                self.assertTrue(target.startswith("/"), volume)
                if source.startswith("."):
                    self.assertTrue((HERE / source).is_file(), volume)
                    self.assertEqual(mode, ["ro"])
                else:
                    self.assertIn(source, self.file["volumes"])
        for service in self.servers.values():
            self.assertEqual(service["image"], f"${{TARRY_IMAGE:-localhost/tarry:{VERSION}}}")
            self.assertTrue(service["read_only"])
            # As long as server.drain_timeout, and more.
            self.assertGreater(int(service["stop_grace_period"].rstrip("s")), 30)

    def test_the_program_knows_the_settings(self):
        config = SOURCE / "packaging" / "config" / "image.toml"
        for name, service in self.servers.items():
            variables = service["environment"]
            said = self.asked("config", "check", "--config", str(config), store="", **variables)
            self.assertEqual(said["notes"], [])
            found = {setting["name"]: setting for setting in said["settings"]}
            self.assertEqual(found["server.listen"]["value"], "0.0.0.0:7733")
            self.assertEqual(found["server.names"]["value"], name)
            by_variables = {setting["environment"] for setting in said["settings"]
                            if setting.get("from", "").startswith("environment")}
            self.assertEqual(by_variables, set(variables))

    def test_prometheus_finds_them_and_grafana_the_dashboard(self):
        jobs = yaml.safe_load((HERE / "prometheus.yml").read_text())["scrape_configs"]
        targets, = jobs[0]["dns_sd_configs"]
        self.assertEqual((set(targets["names"]), targets["port"]), (set(self.servers), 7733))
        source, = yaml.safe_load((HERE / "grafana/source.yaml").read_text())["datasources"]
        self.assertEqual(source["url"], "http://prometheus:9090")
        provider, = yaml.safe_load((HERE / "grafana/dashboards.yaml").read_text())["providers"]
        mounted = [volume.split(":")[1] for volume in self.services["grafana"]["volumes"]
                   if volume.startswith("../grafana/")]
        self.assertEqual(mounted, [provider["options"]["path"] + "/tarry.json"])
        json.loads((SOURCE / "packaging/grafana/tarry.json").read_text())


if __name__ == "__main__":
    unittest.main()
