"""The OCI image: what is in it, and that it runs. package_test.py runs these tests."""

import gzip
import hashlib
import io
import json
import re
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

from container import Container, blob, possible, read
from released import ROOT, output, released

sys.path += [str(ROOT / "packaging"), str(ROOT / "tests" / "harness")]
import image  # noqa: E402
from authority import Authority  # noqa: E402

LARGEST = 60_000_000
NOBODY = 65534


class ImageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.archive, = released().glob("tarry-*-image-*.tar")
        cls.blobs, cls.manifest, cls.image = read(cls.archive)
        cls.config = cls.image["config"]
        cls.layers = [gzip.decompress(blob(cls.blobs, layer)) for layer in cls.manifest["layers"]]
        cls.entries = {entry.name: entry for layer in cls.layers
                       for entry in tarfile.open(fileobj=io.BytesIO(layer))}

    def extract(self, into):
        for layer in self.layers:
            with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
                tar.extractall(into, numeric_owner=True)
        return into


class Contents(ImageTest):
    def test_digests_and_sizes(self):
        for described in (self.manifest["config"], *self.manifest["layers"]):
            data = blob(self.blobs, described)
            self.assertEqual(len(data), described["size"])
            self.assertEqual("sha256:" + hashlib.sha256(data).hexdigest(), described["digest"])
        self.assertEqual(self.image["rootfs"]["diff_ids"],
                         ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in self.layers])
        self.assertEqual(len(self.image["history"]), len(self.layers))
        for_docker, = json.loads(self.blobs["manifest.json"])
        self.assertEqual([for_docker["Config"], *for_docker["Layers"]],
                         ["blobs/" + described["digest"].replace(":", "/") for described in
                          (self.manifest["config"], *self.manifest["layers"])])
        self.assertLess(self.archive.stat().st_size, LARGEST)

    def test_two_runs_make_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as directory:
            program = Path(directory, "other", "tarry")
            program.parent.mkdir(mode=0o700)
            for layer in self.layers:
                with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
                    if "usr/bin/tarry" in tar.getnames():
                        program.write_bytes(tar.extractfile("usr/bin/tarry").read())
            commit = self.config["Labels"]["org.opencontainers.image.revision"]
            again = image.image(program, Path(directory), commit)
            self.assertEqual(again.name, self.archive.name)
            self.assertTrue(again.read_bytes() == self.archive.read_bytes(), "they differ")

    def test_only_the_volume_is_nobody_s(self):
        theirs = {name for name, entry in self.entries.items() if entry.uid or entry.gid}
        self.assertEqual(theirs, {"var/lib/tarry"})
        volume = self.entries["var/lib/tarry"]
        self.assertEqual((volume.uid, volume.gid, volume.mode), (NOBODY, NOBODY, 0o700))
        self.assertEqual(self.config["User"], f"{NOBODY}:{NOBODY}")
        self.assertEqual(self.config["Volumes"], {"/var/lib/tarry": {}})
        runs = {Path(name).name for name, entry in self.entries.items()
                if entry.isreg() and entry.mode & 0o111}
        self.assertEqual({re.split(r"\W", name)[0] for name in runs}, {"tarry", "ld"})
        self.assertFalse([name for name, entry in self.entries.items() if entry.mode & 0o6000])

    def test_licences_are_inside(self):
        names = set(self.entries)
        self.assertLessEqual({"usr/share/doc/tarry/LICENSE", "usr/share/doc/tarry/licences/boost",
                              "usr/share/common-licenses/LGPL-2.1"}, names)
        listed = {Path(name).name for name in names if name.startswith("var/lib/dpkg/status.d/")}
        # Debian 13's names for some of them end with t64.
        self.assertLessEqual({"libc6", "libcurl4", "libssl3", "ca-certificates"},
                             {package.removesuffix("t64") for package in listed})
        for package in listed:
            self.assertIn(f"usr/share/doc/{package}/copyright", names)

    def test_authorities_are_debian_s_alone(self):
        with tarfile.open(fileobj=io.BytesIO(self.layers[0])) as tar:
            bundle = tar.extractfile("etc/ssl/certs/ca-certificates.crt").read().decode()
        debian = [path.read_text().strip() for path in
                  Path("/usr/share/ca-certificates/mozilla").glob("*.crt")]
        found = re.findall(r"-+BEGIN.*?END CERTIFICATE-+", bundle, re.DOTALL)
        self.assertEqual(sorted(found), sorted(debian))


@unittest.skipUnless(possible(), "needs root, and namespaces of its own")
class Running(ImageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        directory = tempfile.TemporaryDirectory(prefix="tarry-image-")
        cls.addClassCleanup(directory.cleanup)
        cls.root = cls.extract(cls, Path(directory.name, "root"))

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="tarry-volume-")
        self.addCleanup(directory.cleanup)
        self.volume = Path(directory.name, "volume")
        self.volume.mkdir(mode=0o700)

    def container(self, *flags, variables=None, authorities=""):
        made = Container(self.root, self.config, self.volume, flags, variables, authorities)
        self.addCleanup(made.close)
        return made

    def tarry(self, container, *words):
        code, out, err = container.run("/usr/bin/tarry", *words, "-o", "json")
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def test_serves_drains_and_keeps_the_data(self):
        open_to_all = {"TARRY_INSECURE": "true"}
        container = self.container(variables=open_to_all)
        container.wait_until_healthy()
        status = Path(f"/proc/{container.init()}/status").read_text()
        self.assertRegex(status, rf"\nUid:\t{NOBODY}\t{NOBODY}\t{NOBODY}\t{NOBODY}\n")
        self.tarry(container, "push", "orders", "a lamp", "--key", "now")
        self.tarry(container, "push", "orders", "a chair", "--key", "later", "--in", "1h")
        claimed, = self.tarry(container, "claim", "orders")["messages"]
        self.assertEqual((claimed["key"], claimed["payload"]), ("now", "a lamp"))
        code, _, err = container.run("/usr/bin/tarry", "--store", "file:/var/lib/tarry/store",
                                     "store", "backup", "/var/lib/tarry/backup")
        self.assertEqual(code, 0, err)
        waiting = container.start("/usr/bin/tarry", "claim", "orders", "--wait", "1h", "-o", "json")
        while '"waiting_claims":1' not in container.run(
                "/usr/bin/tarry", "queue", "info", "orders", "-o", "json")[1].replace(" ", ""):
            self.assertIsNone(waiting.poll(), waiting.communicate)
        self.assertEqual(container.stop(), 0, container.log())
        self.assertIn("stopped", container.log())
        waiting.kill()
        waiting.communicate(timeout=60)

        again = self.container(variables=open_to_all)
        again.wait_until_healthy()
        self.tarry(again, "ack", "orders", claimed["receipt"])
        self.assertEqual([message["key"] for message in
                          self.tarry(again, "ls", "orders")["messages"]], ["later"])
        self.assertEqual(again.stop(), 0, again.log())

    def test_does_not_serve_other_machines_by_accident(self):
        container = self.container()
        self.assertEqual(container.process.wait(timeout=60), 2, container.log())
        self.assertIn("server.insecure", container.log())

    def test_trusts_the_bundle_s_authorities(self):
        authority = Authority(self.volume.parent / "authority")
        authority.issue("server")
        for name in ("server-chain.pem", "server.key"):
            copy = self.volume / name
            copy.write_bytes(Path(authority.here, name).read_bytes())
            copy.chmod(0o644)
        tls = {"TARRY_INSECURE": "true", "TARRY_TLS_CERT": "/var/lib/tarry/server-chain.pem",
               "TARRY_TLS_KEY": "/var/lib/tarry/server.key"}
        asked = ("/usr/bin/tarry", "--store", "https://127.0.0.1:7733", "health")
        container = self.container("--store", "memory:", variables=tls,
                                   authorities=authority.path("root"))
        container.wait_until_started()
        self.assertEqual(container.run(*asked)[0], 0, container.run(*asked))
        self.assertEqual(container.stop(), 0)
        container = self.container("--store", "memory:", variables=tls)
        container.wait_until_started()
        code, _, err = container.run(*asked)
        self.assertEqual(code, 2, err)
        self.assertIn("is not one of this system's", err)
