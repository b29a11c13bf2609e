"""The OCI image: an archive that podman, docker and skopeo load. Needs neither root nor a daemon.

It is an OCI layout with a manifest.json, which older versions of docker read.
"""

import datetime
import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path

import image_root
from tree import epoch, of_machine, version

NAME = "localhost/tarry"  # never looked for in a public registry
PORT = 7733
SECOND = 10 ** 9
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


def settings():
    """What a container of the image gets."""
    return {
        "User": f"{image_root.NOBODY}:{image_root.NOBODY}",
        "ExposedPorts": {f"{PORT}/tcp": {}},
        "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "TARRY_CONFIG=/etc/tarry/tarry.toml"],
        "Entrypoint": ["/usr/bin/tarry"],
        "Cmd": ["serve"],
        "Volumes": {"/var/lib/tarry": {}},
        "WorkingDir": "/",
        "StopSignal": "SIGTERM",
        # Not TARRY_STORE's: that may be the store that the server itself opens.
        "Healthcheck": {"Test": ["CMD", "/usr/bin/tarry", "--store", f"http://127.0.0.1:{PORT}",
                                 "health"],
                        "Interval": 10 * SECOND, "Timeout": 5 * SECOND,
                        "StartPeriod": 60 * SECOND, "Retries": 3}}


def packed(files):
    """A layer: its bytes, compressed, and the digest of what they are decompressed."""
    plain = io.BytesIO()
    write_tar(files, plain)
    small = io.BytesIO()
    with gzip.GzipFile("", "wb", 6, small, mtime=0) as writer:
        writer.write(plain.getvalue())
    return small.getvalue(), digest(plain.getvalue())


def write_tar(files, into):
    when = epoch()
    with tarfile.open(fileobj=into, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, (mode, owner, contents) in sorted(files.entries.items()):
            entry = tarfile.TarInfo(path)
            entry.mode, entry.uid, entry.gid, entry.mtime = mode, owner, owner, when
            if contents is None:
                entry.type = tarfile.DIRTYPE
            elif isinstance(contents, Path):
                entry.type, entry.linkname = tarfile.SYMTYPE, str(contents)
            else:
                entry.size = len(contents)
            tar.addfile(entry, io.BytesIO(contents) if entry.isreg() else None)


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def as_json(value):
    return json.dumps(value, separators=(",", ":")).encode()


def image(program, out, commit):
    """Makes the image of this program; answers its file."""
    machine = of_machine("ARCH")
    made = datetime.datetime.fromtimestamp(epoch(), datetime.timezone.utc)
    when = made.strftime("%Y-%m-%dT%H:%M:%SZ")
    name = f"{NAME}:{version()}"
    labels = {"org.opencontainers.image.title": "tarry",
              "org.opencontainers.image.description": "delay queue: server and command line",
              "org.opencontainers.image.version": version(),
              "org.opencontainers.image.revision": commit,
              "org.opencontainers.image.created": when,
              "org.opencontainers.image.licenses": "Apache-2.0"}
    blobs = {}

    def described(kind, data):
        blobs[digest(data)] = data
        return {"mediaType": kind, "digest": digest(data), "size": len(data)}

    layers = [packed(files) for files in image_root.layers(program)]
    config = described(CONFIG, as_json({
        "created": when, "architecture": machine, "os": "linux",
        "config": {**settings(), "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [plain for _, plain in layers]},
        "history": [{"created": when, "created_by": "scripts/release", "comment": comment}
                    for comment in ("libraries and authorities of Debian", "tarry")]}))
    manifest = described(MANIFEST, as_json({
        "schemaVersion": 2, "mediaType": MANIFEST, "config": config,
        "layers": [described(LAYER, data) for data, _ in layers], "annotations": labels}))
    manifest["annotations"] = {"org.opencontainers.image.ref.name": name,
                               "io.containerd.image.name": name}
    manifest["platform"] = {"architecture": machine, "os": "linux"}

    def blob(ident):
        return "blobs/" + ident.replace(":", "/")

    files = image_root.Files()
    files.file("/oci-layout", as_json({"imageLayoutVersion": "1.0.0"}))
    files.file("/index.json", as_json({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [manifest]}))
    files.file("/manifest.json", as_json([
        {"Config": blob(config["digest"]), "RepoTags": [name],
         "Layers": [blob(digest(data)) for data, _ in layers]}]))
    for ident, data in blobs.items():
        files.file("/" + blob(ident), data)
    file = out / f"tarry-{version()}-image-{machine}.tar"
    with open(file, "wb") as raw:
        write_tar(files, raw)
    return file
