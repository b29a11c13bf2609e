"""The SBOM (SPDX 2.3, JSON): tarry, and the third-party code that is linked into it."""

import datetime
import hashlib
import json

from parts import PARTS, installed, upstream_version
from tree import SOURCE, epoch, version


def sbom(out, commit):
    """Writes tarry-VERSION.spdx.json; answers its file."""
    when = datetime.datetime.fromtimestamp(epoch(), datetime.timezone.utc)
    packages = [{"SPDXID": "SPDXRef-tarry", "name": "tarry", "versionInfo": version(),
                 "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
                 "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                 "copyrightText": "NOASSERTION", "sourceInfo": f"commit {commit}"}]
    links = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-tarry")]
    for part in PARTS:
        package, debian = installed(part)
        ident = "SPDXRef-" + part.name.replace("+", "p")
        packages.append({
            "SPDXID": ident, "name": part.name, "versionInfo": upstream_version(debian),
            "licenseConcluded": part.license, "licenseDeclared": part.license,
            "downloadLocation": part.home, "filesAnalyzed": False,
            "copyrightText": part.holder,
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{package}@{debian}"}]})
        links.append(("SPDXRef-tarry", "STATIC_LINK", ident))
    # The console's script is in the program; esbuild, which made it, is not.
    web = json.loads((SOURCE / "web/package.json").read_text(encoding="utf-8"))
    preact = web["dependencies"]["preact"]
    packages.append({
        "SPDXID": "SPDXRef-preact", "name": "preact", "versionInfo": preact,
        "licenseConcluded": "MIT", "licenseDeclared": "MIT",
        "downloadLocation": "https://preactjs.com", "filesAnalyzed": False,
        "copyrightText": "2015-present Jason Miller",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:npm/preact@{preact}"}]})
    links.append(("SPDXRef-tarry", "CONTAINS", "SPDXRef-preact"))
    name = f"tarry-{version()}"
    digest = hashlib.sha256(json.dumps(packages).encode()).hexdigest()[:32]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": name, "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{digest}",
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: tarry scripts/release"]},
        "packages": packages,
        "relationships": [{"spdxElementId": a, "relationshipType": kind,
                           "relatedSpdxElement": b} for a, kind, b in links]}
    file = out / f"{name}.spdx.json"
    file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return file
