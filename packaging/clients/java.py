"""The Java client's jars: a bundle for Maven Central, without signatures."""

import hashlib
import re
import shutil
import subprocess
import zipfile
from datetime import datetime, timezone
from pathlib import Path

import tree

HERE = tree.SOURCE / "clients" / "java"
MODULES = ("tarry-client", "tarry-spring-boot-starter")
GROUP = "io/tarry"


def versions():
    """The versions that the sources name, by file; a release has one."""
    told = {}
    for pom in sorted(HERE.rglob("pom.xml")):
        if "target" not in pom.parts:
            text = pom.read_text(encoding="utf-8")
            told[pom] = re.search(r"<artifactId>tarry-[\w-]+</artifactId>\s*<version>(.*?)<",
                                  text)[1]
    client = HERE / "tarry-client/src/main/java/io/tarry/TarryClient.java"
    told[client] = re.search(r'VERSION = "(.*)"', client.read_text(encoding="utf-8"))[1]
    return told


def maven(folder, *words):
    when = datetime.fromtimestamp(tree.epoch(), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    command = ["mvn", "-q", "-B", "-Prelease", "-DskipTests", "-pl", ",".join(MODULES),
               f"-Dproject.build.outputTimestamp={when}", *words, "package"]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def build(folder):
    """Builds in a copy of the sources, so that nothing else there gets into a jar."""
    shutil.copytree(HERE, folder, ignore=shutil.ignore_patterns("target", "tests"))
    code, said = maven(folder, "-o")
    if code != 0 and "offline" in said:
        code, said = maven(folder)
    if code != 0:
        raise SystemExit(f"mvn: {said}")


def files(folder, version):
    """(name in a repository, file) of what the bundle has."""
    yield f"tarry-parent/{version}/tarry-parent-{version}.pom", folder / "pom.xml"
    for module in MODULES:
        stem = f"{module}/{version}/{module}-{version}"
        yield f"{stem}.pom", folder / module / "pom.xml"
        for kind in ("", "-sources", "-javadoc"):
            yield f"{stem}{kind}.jar", folder / module / f"target/{module}-{version}{kind}.jar"


def make(work, out):
    """Writes the bundle into `out`; the files that it made."""
    version = tree.version()
    for path, told in versions().items():
        if told != version:
            raise SystemExit(f"{path} has version {told}; include/tarry/version.h has {version}")
    folder = Path(work) / "java"
    build(folder)
    bundle = Path(out) / f"tarry-{version}-maven.zip"
    stamp = datetime.fromtimestamp(tree.epoch(), timezone.utc).timetuple()[:6]
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(files(folder, version)):
            data = path.read_bytes()
            for end, content in (("", data), (".md5", hashlib.md5(data).hexdigest().encode()),
                                 (".sha1", hashlib.sha1(data).hexdigest().encode())):
                entry = zipfile.ZipInfo(f"{GROUP}/{name}{end}", stamp)
                entry.external_attr = 0o100644 << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, content)
    return [bundle]
