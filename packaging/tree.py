"""What the packages and the tarball are made of: an installed build, and facts about it."""

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True, **options)


def output(*command, **options):
    return run(*command, stdout=subprocess.PIPE, **options).stdout


def version():
    header = (SOURCE / "include" / "tarry" / "version.h").read_text(encoding="utf-8")
    return re.search(r'^#define TARRY_VERSION "(.*)"$', header, re.MULTILINE)[1]


def epoch():
    """The time of every file that a release contains: SOURCE_DATE_EPOCH, or the last commit's."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    return int(output("git", "-C", SOURCE, "log", "-1", "--format=%ct"))


# By the number of an ELF header's machine: Debian's name.
MACHINES = {62: "amd64", 183: "arm64"}


def package_for_machine_of(program):
    """Makes Debian's tools work for the machine that this program was compiled for."""
    machine = int.from_bytes(program.read_bytes()[18:20], "little")
    if machine not in MACHINES:
        known = ", ".join(f"{number} ({name})" for number, name in MACHINES.items())
        raise SystemExit(f"release: {program} is for ELF's machine {machine}, not for {known}")
    told = output("dpkg-architecture", f"-a{MACHINES[machine]}", stderr=subprocess.DEVNULL)
    os.environ.update(line.split("=", 1) for line in told.splitlines()
                      if line.startswith("DEB_HOST_"))


def of_machine(fact):
    """What dpkg-architecture says: ARCH (amd64), GNU_CPU (x86_64), GNU_TYPE, MULTIARCH."""
    return output("dpkg-architecture", f"-qDEB_HOST_{fact}", stderr=subprocess.DEVNULL).strip()


def install(build, into):
    """Installs a build as if to /usr, and strips it. `into` gets bin/, lib/, share/ ..."""
    run("cmake", "--install", build, "--prefix", into, stdout=subprocess.DEVNULL)
    strip = f"{of_machine('GNU_TYPE')}-strip"
    for path in sorted(into.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        if path.name == "tarry" and path.parent.name == "bin":
            run(strip, "--remove-section=.comment", "--remove-section=.note", path)
        elif re.search(r"\.so\.[\d.]+$", path.name):
            run(strip, "--strip-unneeded", "--remove-section=.comment", path)
            path.chmod(0o644)
        elif path.suffix == ".a":
            run(strip, "--strip-debug", "--enable-deterministic-archives", path)
    return into


def move(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(str(source), str(target))


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def compress(path):
    """Replaces the file by FILE.gz, the same for the same contents."""
    packed = path.with_name(path.name + ".gz")
    with open(packed, "wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as writer:
        writer.write(path.read_bytes())
    packed.chmod(0o644)
    path.unlink()


def tidy_modes_and_times(root):
    """Modes 755 and 644, and the release's time, whatever the umask and the clock were."""
    when = epoch()
    for path in [root, *root.rglob("*")]:
        if not path.is_symlink():
            runs = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(0o755 if runs else 0o644)
        os.utime(path, (when, when), follow_symlinks=False)
