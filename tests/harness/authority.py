"""A private authority and certificates of it, for tests of TLS. Needs the program openssl."""

import shutil
import ssl
import subprocess
from pathlib import Path

CONFIG = """
[ca]
default_ca = mine
[mine]
database = {here}/index
serial = {here}/serial
new_certs_dir = {here}
default_md = sha256
policy = any
unique_subject = no
x509_extensions = server
[any]
commonName = supplied
[req]
distinguished_name = none
[none]
[server]
basicConstraints = CA:FALSE
subjectAltName = DNS:localhost,DNS:queue.example,IP:127.0.0.1,IP:::1,IP:192.0.2.1
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
[client]
basicConstraints = CA:FALSE
extendedKeyUsage = clientAuth
"""
EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")


class Authority:
    """Keys and certificates in a directory: NAME.key, NAME.pem (the certificate alone) and
    NAME-chain.pem (with those of its issuers). The root is named `name`."""

    def __init__(self, directory, name="root"):
        self.here = Path(directory)
        self.here.mkdir(parents=True, exist_ok=True)
        self.name = name
        (self.here / "config").write_text(CONFIG.format(here=self.here))
        (self.here / "index").touch()
        (self.here / "serial").write_text("1000\n")
        self._openssl("req", "-x509", *EC, "-noenc", "-days", "30", "-subj", f"/CN={name}",
                      "-extensions", "authority", "-keyout", self.key(name),
                      "-out", self.path(name))
        shutil.copy(self.path(name), self.chain(name))

    def path(self, name):
        return str(self.here / f"{name}.pem")

    def key(self, name):
        return str(self.here / f"{name}.key")

    def chain(self, name):
        return str(self.here / f"{name}-chain.pem")

    def served(self, name="server"):
        """The flags of a server with that certificate."""
        return ("--tls-cert", self.chain(name), "--tls-key", self.key(name))

    def context(self):
        """For a client that trusts this authority alone."""
        return ssl.create_default_context(cafile=self.path(self.name))

    def issue(self, name, kind="server", by=None, start=None, end=None, new_key=EC,
              subject=None):
        """`kind`: server, client or authority. `start`, `end`: 20300131000000Z. `by`: its issuer,
        else the root."""
        by = by or self.name
        request = self.here / f"{name}.csr"
        self._openssl("req", "-new", *new_key, "-noenc", "-subj", f"/CN={subject or name}",
                      "-keyout", self.key(name), "-out", str(request))
        dates = ["-startdate", start or "20200101000000Z", "-enddate", end or "20990101000000Z"]
        self._openssl("ca", "-batch", "-notext", "-in", str(request), "-out", self.path(name),
                      "-cert", self.path(by), "-keyfile", self.key(by), "-extensions", kind,
                      *dates)
        Path(self.chain(name)).write_text(
            Path(self.path(name)).read_text() + Path(self.chain(by)).read_text())

    def encrypt_key(self, name, passphrase):
        """NAME-secret.key"""
        to = str(self.here / f"{name}-secret.key")
        self._openssl("pkey", "-in", self.key(name), "-aes256", "-passout", f"pass:{passphrase}",
                      "-out", to)
        return to

    def _openssl(self, command, *words):
        config = ["-config", str(self.here / "config")] if command in ("req", "ca") else []
        done = subprocess.run(["openssl", command, *config, *words], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"openssl {command} {words}: {done.stderr}")
