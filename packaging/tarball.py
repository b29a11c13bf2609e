"""The portable tarball: program, manual, completions, unit, sample configuration, licences."""

import gzip
import tarfile

from deb import HERE, socket_unit, unit
from parts import PARTS, license_text
from tree import SOURCE, epoch, move, of_machine, tidy_modes_and_times, version, write

README = """tarry {version}, for Linux with glibc 2.34 or newer and OpenSSL 3

  bin/tarry version          what it can do here, and which libraries are missing for the rest
  sudo cp -r bin share /usr/local/
  sudo install -D -m 644 etc/tarry.toml /etc/tarry/tarry.toml
  sudo install -m 644 lib/systemd/system/tarry.service /etc/systemd/system/
  sudo useradd --system --user-group --home-dir /var/lib/tarry --shell /usr/sbin/nologin tarry
  sudo systemctl daemon-reload && sudo systemctl enable --now tarry

licences/ has the licences of tarry and of the code that is linked into it.
"""


def name():
    return f"tarry-{version()}-linux-{of_machine('GNU_CPU')}"


def tarball(work, tree, out):
    """Makes the tarball from `tree`, of which it takes the program's files; answers its file."""
    root = work / name()
    move(tree / "bin" / "tarry", root / "bin" / "tarry")
    for place in ("man", "bash-completion", "zsh", "fish"):
        move(tree / "share" / place, root / "share" / place)
    text = unit().replace("/usr/bin/tarry", "/usr/local/bin/tarry")
    write(root / "lib" / "systemd" / "system" / "tarry.service", text)
    write(root / "lib" / "systemd" / "system" / "tarry.socket", socket_unit())
    write(root / "etc" / "tarry.toml", (HERE / "config" / "tarry.toml").read_text("utf-8"))
    write(root / "licences" / "tarry", (SOURCE / "LICENSE").read_text("utf-8"))
    for part in PARTS:
        write(root / "licences" / part.name, license_text(part))
    write(root / "README", README.format(version=version()))
    tidy_modes_and_times(root)
    file = out / f"{root.name}.tar.gz"
    with (open(file, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed,
          tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar):
        for path in [root, *sorted(root.rglob("*"))]:
            tar.add(path, path.relative_to(work), recursive=False, filter=of_nobody)
    return file


def of_nobody(entry):
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mtime = epoch()
    return entry
