"""The files of the image: the program, the libraries that it needs or loads, and authorities."""

import re
from pathlib import Path

from parts import PARTS, license_text
from tree import SOURCE, of_machine, output

HERE = Path(__file__).resolve().parent
NOBODY = 65534
# Loaded when a URL first names them: cmake/TarryLoaded.cmake.
LOADED = ("libcurl.so.4", "librabbitmq.so.4", "librdkafka.so.1", "libzookeeper_mt.so.2")
# Debian's own. /etc/ssl/certs of this machine may have authorities that its owner added.
AUTHORITIES = Path("/usr/share/ca-certificates/mozilla")
ZONES = Path("/usr/share/zoneinfo")
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"

PASSWD = f"""root:x:0:0:root:/:/sbin/nologin
nobody:x:{NOBODY}:{NOBODY}:nobody:/var/lib/tarry:/sbin/nologin
"""
GROUP = f"root:x:0:\nnogroup:x:{NOBODY}:\n"


class Files:
    """Files, links and directories by their paths, with modes and owners; on no disk."""

    def __init__(self):
        self.entries = {}  # path without the first slash: (mode, owner, contents or Path or None)

    def folder(self, path, mode=0o755, owner=0):
        self._add(path, (mode, owner, None))

    def file(self, path, contents, mode=0o644):
        data = contents.encode() if isinstance(contents, str) else contents
        self._add(path, (mode, 0, data))

    def link(self, path, target):
        self._add(path, (0o777, 0, Path(target)))

    def _add(self, path, entry):
        place = Path(path).relative_to("/")
        for parent in list(place.parents)[-2::-1]:
            self.entries.setdefault(str(parent), (0o755, 0, None))
        self.entries[str(place)] = entry


# Where Debian has libraries, by the kind of machine.
def library_folders():
    machine = of_machine("MULTIARCH")
    return [Path("/usr/lib", machine), Path("/lib", machine), Path("/usr/lib")]


def libraries(program):
    """{soname: file} of what the program needs and loads, and of what these need."""
    folders = library_folders()
    found = {}
    names = [*LOADED, *needed(program)]
    while names:
        name = names.pop()
        if name in found:
            continue
        places = [folder / name for folder in folders if (folder / name).is_file()]
        if not places:
            raise SystemExit(f"release: the image needs {name}, which is not in {folders[0]}")
        found[name] = places[0].resolve()
        names += needed(places[0])
    return found


def needed(binary):
    said = output(f"{of_machine('GNU_TYPE')}-objdump", "-p", binary)
    return re.findall(r"^ +NEEDED +(\S+)", said, re.MULTILINE)


def owners(files):
    """The Debian packages that have these files."""
    # dpkg knows some files by their paths from before /lib became a link.
    asked = [path for file in files for path in (str(file), str(file).removeprefix("/usr"))]
    said = output("sh", "-c", 'dpkg-query -S "$@" 2>/dev/null || true', "sh", *asked)
    by_path = {path: name for name, path in re.findall(r"^([^, ]+): (.*)$", said, re.M)}
    packages = set()
    for file in files:
        name = by_path.get(str(file)) or by_path.get(str(file).removeprefix("/usr"))
        if not name:
            raise SystemExit(f"release: no Debian package has {file}: its licence is not known")
        packages.add(name)
    return sorted(packages)


def system():
    """What does not change with each version of tarry."""
    files = Files()
    for path in ("/dev", "/proc", "/run", "/sys"):
        files.folder(path)
    files.folder("/tmp", 0o1777)
    files.file("/etc/passwd", PASSWD)
    files.file("/etc/group", GROUP)
    files.file("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n")
    for path in sorted(Path("/usr/share/common-licenses").iterdir()):
        if path.is_symlink():
            files.link(path, path.readlink())
        else:
            files.file(path, path.read_bytes())
    files.file("/usr/lib/os-release", Path("/usr/lib/os-release").read_bytes())
    files.link("/etc/os-release", "../usr/lib/os-release")
    certificates = sorted(AUTHORITIES.glob("*.crt"))
    if not certificates:
        raise SystemExit(f"release: {AUTHORITIES} has no certificates: install ca-certificates")
    files.file(BUNDLE, b"".join(path.read_bytes().rstrip() + b"\n" for path in certificates))
    files.link("/usr/lib/ssl/cert.pem", BUNDLE)  # OpenSSL's name for it; libcurl has the other
    add_zones(files)
    return files


def add_zones(files):
    """The time zones, for schedules. The other two sets of the same zones are left out."""
    for path in sorted(ZONES.rglob("*")):
        if path.relative_to(ZONES).parts[0] in ("posix", "right", "localtime"):
            continue
        if path.is_symlink():
            files.link(path, path.readlink())
        elif path.is_file():
            files.file(path, path.read_bytes())


def add_libraries(files, program):
    files.link("/lib", "usr/lib")
    files.link("/lib64", "usr/lib64")
    found = libraries(program)
    folder = library_folders()[0]
    for name, file in found.items():
        files.file(folder / name, file.read_bytes())
    start, = re.findall(r"program interpreter: (\S+)\]", output("readelf", "-lW", program))
    loader = Path("/usr" + start)
    found.setdefault(loader.name, loader.resolve())
    files.file(folder / loader.name, found[loader.name].read_bytes(), 0o755)
    if loader.parent != folder:
        files.link(loader, folder / loader.name)
    packages = owners([*found.values(), next(AUTHORITIES.glob("*.crt")), ZONES / "tzdata.zi"])
    facts = output("dpkg-query", "-s", *packages).strip().split("\n\n")
    for name, text in zip(packages, facts, strict=True):
        package = name.partition(":")[0]  # without the architecture
        files.file(f"/usr/share/doc/{package}/copyright",
                   Path(f"/usr/share/doc/{package}/copyright").read_bytes())
        # Where scanners for known vulnerabilities look in an image without dpkg.
        files.file(f"/var/lib/dpkg/status.d/{package}", text + "\n")


def of_tarry(program):
    """What changes with each version of tarry."""
    files = Files()
    files.file("/usr/bin/tarry", Path(program).read_bytes(), 0o755)
    files.file("/etc/tarry/tarry.toml", (HERE / "config" / "image.toml").read_bytes())
    files.folder("/var/lib/tarry", 0o700, NOBODY)
    files.file("/usr/share/doc/tarry/LICENSE", (SOURCE / "LICENSE").read_bytes())
    for part in PARTS:
        files.file(f"/usr/share/doc/tarry/licences/{part.name}", license_text(part))
    return files


def layers(program):
    """The image's layers, each as Files, from the lowest."""
    below = system()
    add_libraries(below, program)
    return [below, of_tarry(program)]
