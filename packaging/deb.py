"""Debian packages of an installed build: tarry, libtarry, libtarry-dev, tarry-relay-modules."""

import email.utils
import os
import shutil
import subprocess
from pathlib import Path

from parts import PARTS
from tree import (SOURCE, compress, epoch, move, of_machine, output, run, tidy_modes_and_times,
                  version, write)

HERE = Path(__file__).resolve().parent
# As Debian's own tools have it.
MAINTAINER = (f"{os.environ.get('DEBFULLNAME', 'tarry maintainers')} "
              f"<{os.environ.get('DEBEMAIL', 'tarry@example.org')}>")
MODULES = ("libcurl4", "librabbitmq4", "librdkafka1", "libzookeeper-mt2")
# What find_package(tarry) looks for if the build was not portable, because of the archive.
DEVELOPMENT = ("libboost-json1.81-dev | libboost-json-dev", "libhiredis-dev", "librabbitmq-dev",
               "libssl-dev")

BEST, FASTEST = 6, 0  # of xz

ABOUT = """\
 tarry hands a message back when its time has come: never early, never lost
 once accepted; until then it can be cancelled or moved.
"""


class Package:
    """One package: a directory that becomes a .deb."""

    def __init__(self, work, name, summary, about, **fields):
        self.name = name
        self.root = work / name
        self.fields = {"Architecture": of_machine("ARCH"), "Section": "net", **fields}
        self.description = f"{summary}\n{ABOUT} .\n {about}\n"
        self.conffiles = []
        doc = self.root / "usr" / "share" / "doc" / name
        write(doc / "copyright", copyright_text())
        write(doc / "changelog.Debian", changelog())
        compress(doc / "changelog.Debian")

    def configuration(self, source, place):
        write(self.root / place.lstrip("/"), source.read_text(encoding="utf-8"))
        self.conffiles.append(place)

    def script(self, which):
        text = (HERE / "debian" / f"{self.name}.{which}").read_text(encoding="utf-8")
        write(self.root / "DEBIAN" / which, text, 0o755)

    def overrides(self, *lines):
        write(self.root / "usr" / "share" / "lintian" / "overrides" / self.name,
              "".join(f"{self.name}: {line}\n" for line in lines))

    def depends_on_libraries(self, work):
        """Adds what dpkg-shlibdeps says the binaries need."""
        binaries = [path for path in self.root.rglob("*") if path.is_file()
                    and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF"]
        write(work / "debian" / "control", "Source: tarry\n\nPackage: tarry\nArchitecture: any\n")
        said = output("dpkg-shlibdeps", "-O", *[f"-e{path}" for path in binaries], cwd=work)
        needed = said.strip().removeprefix("shlibs:Depends=")
        others = self.fields.get("Depends")
        self.fields["Depends"] = f"{others}, {needed}" if others else needed

    def build(self, out, level):
        size = sum(path.lstat().st_size for path in self.root.rglob("*") if path.is_file())
        fields = {"Package": self.name, "Source": "tarry", "Version": debian_version(),
                  "Maintainer": MAINTAINER, "Priority": "optional",
                  "Installed-Size": str(-(-size // 1024)), **self.fields}
        text = "".join(f"{name}: {value}\n" for name, value in fields.items() if value)
        write(self.root / "DEBIAN" / "control", text + f"Description: {self.description}")
        if self.conffiles:
            write(self.root / "DEBIAN" / "conffiles", "\n".join(self.conffiles) + "\n")
        sums = output("find", "usr", *(["etc"] if self.conffiles else []), "-type", "f", "-exec",
                      "md5sum", "{}", "+", cwd=self.root)
        write(self.root / "DEBIAN" / "md5sums",
              "".join(line + "\n" for line in sorted(sums.splitlines(), key=lambda s: s[34:])))
        tidy_modes_and_times(self.root)
        file = out / f"{self.name}_{debian_version()}_{self.fields['Architecture']}.deb"
        run("dpkg-deb", "--root-owner-group", "-Zxz", f"-z{level}", "--build", self.root, file,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch())}, stdout=subprocess.DEVNULL)
        return file


def debian_version():
    return version() + "-1"


def changelog():
    when = email.utils.formatdate(epoch())
    return (f"tarry ({debian_version()}) stable; urgency=medium\n\n"
            f"  * Version {version()}; CHANGELOG.md says what is new.\n\n"
            f" -- {MAINTAINER}  {when}\n")


def copyright_text():
    text = (HERE / "debian" / "copyright").read_text(encoding="utf-8")
    for part in PARTS:
        text += (f"\nFiles: third-party/{part.name}/*\nCopyright: {part.holder}\n"
                 f"License: {part.license.replace(' WITH ', ' with ')}\n"
                 f"Comment: parts of it are in the binaries; {part.home}\n")
    return text


def unit():
    """The unit of packaging/systemd, with the packages' places."""
    text = (HERE / "systemd" / "tarry.service").read_text(encoding="utf-8")
    old, new = "/etc/tarry.toml", "/etc/tarry/tarry.toml"
    assert text.count(old) == 2 and text.count("ExecStart=tarry ") == 1
    return text.replace(old, new).replace("ExecStart=tarry ", "ExecStart=/usr/bin/tarry ").replace(
        "ExecReload=kill ", "ExecReload=/bin/kill ").replace(
        "# tarry serve as a service: docs/guide/operating.md says how to install it.",
        "# tarry serve as a service.")


def socket_unit():
    return (HERE / "systemd" / "tarry.socket").read_text(encoding="utf-8")


def program(work, tree):
    made = Package(work, "tarry", "delay queue: server and command line",
                   "This package has the server, its service and the command line.",
                   Depends="adduser, init-system-helpers (>= 1.54)",
                   Recommends="ca-certificates, logrotate, tzdata", Suggests="tarry-relay-modules")
    usr = made.root / "usr"
    move(tree / "bin" / "tarry", usr / "bin" / "tarry")
    for place in ("man", "bash-completion", "zsh", "fish"):
        move(tree / "share" / place, usr / "share" / place)
    move(usr / "share" / "zsh" / "site-functions", usr / "share" / "zsh" / "vendor-completions")
    compress(usr / "share" / "man" / "man1" / "tarry.1")
    write(usr / "lib" / "systemd" / "system" / "tarry.service", unit())
    write(usr / "lib" / "systemd" / "system" / "tarry.socket", socket_unit())
    shutil.rmtree(tree / "lib" / "systemd")
    made.configuration(HERE / "config" / "tarry.toml", "/etc/tarry/tarry.toml")
    made.configuration(HERE / "config" / "logrotate", "/etc/logrotate.d/tarry")
    for which in ("postinst", "prerm", "postrm"):
        made.script(which)
    made.depends_on_libraries(work)
    return made


def libraries(work, tree):
    """The shared library under its soname's version, and what compiling against it needs."""
    abi = ".".join(version().split(".")[:2])
    folder = next(path.parent for path in (tree / "lib").rglob("libtarry.so"))
    place = Path("usr/lib") / folder.relative_to(tree / "lib")
    run_time = Package(work, f"libtarry{abi}", "delay queue: shared library",
                       "This package has the library that C++ programs link.",
                       Section="libs", Provides="libtarry0")
    for path in sorted(folder.glob("libtarry*.so.*")):
        move(path, run_time.root / place / path.name)
    names = sorted(path.name.split(".")[0] for path in (run_time.root / place).glob(f"*.so.{abi}"))
    write(run_time.root / "DEBIAN" / "shlibs",
          "".join(f"{name} {abi} {run_time.name} (>= {version()})\n" for name in names))
    write(run_time.root / "DEBIAN" / "triggers", "activate-noawait ldconfig\n")
    run_time.depends_on_libraries(work)

    needs = [f"{run_time.name} (= {debian_version()})"]
    if (folder / "libtarry.a").exists():
        needs += DEVELOPMENT
    headers = Package(work, "libtarry-dev", "delay queue: headers",
                      "This package has what compiling a C++ program with tarry needs.",
                      Section="libdevel", Depends=", ".join(needs))
    move(tree / "include", headers.root / "usr" / "include")
    for path in sorted(folder.iterdir()):
        move(path, headers.root / place / path.name)
    return [run_time, headers]


def modules(work):
    return Package(work, "tarry-relay-modules", "delay queue: libraries that its relays load",
                   "This package installs the libraries for RabbitMQ, Kafka, ZooKeeper and\n"
                   " webhooks, which the program loads when a URL first needs them.",
                   Architecture="all", Depends=", ".join(MODULES), Enhances="tarry")


def debs(work, tree, out, level=BEST):
    """Makes the packages from `tree`, which it uses up; answers their files. `level`: of xz."""
    made = [program(work, tree), *libraries(work, tree), modules(work)]
    return [package.build(out, level) for package in made]

