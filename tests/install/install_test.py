#!/usr/bin/env python3
"""install_test.py tarry|embedded cmake|shared|pkgconfig BUILD_DIR

Installs BUILD_DIR to a temporary prefix, moves that elsewhere where it can be moved, builds the
project in user/ against it, runs it, and looks at what it was linked with.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

USER = Path(__file__).resolve().parent / "user"
CMAKE = os.environ.get("CMAKE", "cmake")
CXX = os.environ.get("CXX", "c++")
SKIPPED = 77


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run([str(word) for word in command], check=True, text=True, **options)


def output(*command, **options):
    return run(*command, stdout=subprocess.PIPE, **options).stdout


def build_with_cmake(component, prefix, work):
    # CMake's files find each other by relative paths, so a prefix that was moved still works.
    moved = work / "moved"
    prefix.rename(moved)
    run(CMAKE, "-G", "Ninja", "-S", USER, "-B", work / "user", f"-DCMAKE_PREFIX_PATH={moved}",
        f"-DCMAKE_CXX_COMPILER={CXX}", f"-DCOMPONENT={component}")
    run(CMAKE, "--build", work / "user")
    return work / "user" / "user"


def install(build_dir, work):
    """Installs into a prefix, with the commands of the README if it has them for what is tested."""
    root = Path(__file__).resolve().parents[2]
    if Path(build_dir) != root / "build" / "release":
        prefix = work / "prefix"
        run(CMAKE, "--install", build_dir, "--prefix", prefix, stdout=subprocess.DEVNULL)
        return prefix
    shown, = re.findall(r"^<!-- install -->\n```sh\n(.*?)^```$", (root / "README.md").read_text(),
                        re.DOTALL | re.MULTILINE)
    run("bash", "-euo", "pipefail", "-c", shown, cwd=root, env={**os.environ, "HOME": str(work)},
        stdout=subprocess.DEVNULL)
    return work / "tarry"


def check_documents(component, prefix, work):
    """Builds the projects that the documents show, with the smallest program."""
    root = Path(__file__).resolve().parents[2]
    page = root / ("docs/guide/cpp.md" if component == "embedded" else "README.md")
    shown, = re.findall(r"^```cmake\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    project = work / "shop"
    project.mkdir()
    shutil.copy(root / "examples" / "claim_and_ack.cpp", project / "main.cpp")
    if "project(" not in shown:  # a part of a project that exists already
        shown = ("cmake_minimum_required(VERSION 3.25)\nproject(shop LANGUAGES CXX)\n"
                 "add_executable(shop main.cpp)\n") + shown
    (project / "CMakeLists.txt").write_text(shown)
    run(CMAKE, "-G", "Ninja", "-S", project, "-B", project / "build",
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={CXX}")
    run(CMAKE, "--build", project / "build")
    said = output(project / "build" / "shop", timeout=60)
    if said != "order:42: a lamp\ndone\n":
        raise AssertionError(f"the program of {page.name} said {said!r}")


def check_examples(prefix, work):
    """Builds one of the examples as a project of its own; it stands for all of them."""
    root = Path(__file__).resolve().parents[2]
    run(CMAKE, "-G", "Ninja", "-S", root / "examples", "-B", work / "examples",
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={CXX}")
    run(CMAKE, "--build", work / "examples", "--target", "example_claim_and_ack")


def check_components(prefix, work):
    """An unknown component is named in the error."""
    project = work / "mistyped"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(mistyped LANGUAGES CXX)\n"
        "find_package(tarry REQUIRED COMPONENTS embeded)\n")
    told = subprocess.run([CMAKE, "-G", "Ninja", "-S", project, "-B", project / "build",
                           f"-DCMAKE_PREFIX_PATH={prefix}"], capture_output=True, text=True)
    if told.returncode == 0 or 'no component "embeded"; there are' not in told.stderr:
        raise AssertionError(f"a mistyped component: {told.returncode} {told.stderr}")


def build_shared(component, prefix, work):
    library, = prefix.rglob(f"libtarry{'_embedded' if component == 'embedded' else ''}.so")
    check_symbols(library, prefix / "include" / "tarry")
    return build_with_cmake(f"{component}_shared", prefix, work)


FREE_FUNCTIONS = ("tarry::open(", "tarry::file_url(", "tarry::detail::no_value(")


def symbols(library, *options):
    """The symbols that a library defines, without the ABI tags that GCC adds to names."""
    listed = output("nm", *options, "--demangle", "--defined-only", library).splitlines()
    rows = [line.split(" ", 2) for line in listed if re.match(r"[0-9a-f]+ \w ", line)]
    # Versions, and symbols that the linker adds, have no type or an absolute one.
    return [re.sub(r"\[abi:\w+\]", "", name) for _, kind, name in rows if kind != "A"]


def check_symbols(library, headers):
    """A shared library exports everything that the headers declare, and nothing else."""
    public = {path.stem: path.read_text() for path in headers.glob("*.h")}
    owners = {"Store": "store", "Queue": "queue", "Delivery": "queue", "Worker": "worker",
              "Server": "server", "Schedules": "schedule", "ScheduleRunner": "schedule",
              "ManualClock": "clock", "Metrics": "metrics"}
    shown = symbols(library, "--dynamic")
    classes = set()
    for symbol in shown:
        if symbol.startswith(FREE_FUNCTIONS):
            continue
        member = re.match(r"tarry::(\w+)::(~?\w+)\(", symbol)
        if not member or member[1] not in owners:
            raise AssertionError(f"{library.name} shows {symbol}")
        if not re.search(rf"(?<!\w){member[2]}\(", public[owners[member[1]]]) \
                and member[2] not in (member[1], "~" + member[1]):
            raise AssertionError(f"{library.name} shows {symbol}, which no header declares")
        classes.add(member[1])
    whole_only = {"Server", "Schedules", "ScheduleRunner"}
    missing = set(owners) - classes - (whole_only if "embedded" in library.name else set())
    if missing:
        raise AssertionError(f"{library.name} does not show {missing}")
    public_names = FREE_FUNCTIONS + tuple(f"tarry::{name}::" for name in classes)
    hidden = {name for name in symbols(library.with_suffix(".a"), "--extern-only")
              if name.startswith(public_names) and "::Impl" not in name} - set(shown)
    if hidden:
        raise AssertionError(f"{library.name} hides {sorted(hidden)}")


PLUGIN = """
#include <tarry/tarry.h>

static_assert(TARRY_VERSION_NUMBER >= 100);

extern "C" __attribute__((visibility("default"))) int plugin_push() {
  const auto store = tarry::open("memory:");
  return store && store->queue("q").push({.key = "k"}) ? 0 : 1;
}
"""


def check_plugin(component, prefix, work):
    """A plugin that links the static library exports nothing of it."""
    project = work / "plugin"
    project.mkdir()
    (project / "plugin.cpp").write_text(PLUGIN)
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(plugin LANGUAGES CXX)\n"
        f"find_package(tarry REQUIRED COMPONENTS {component})\n"
        "set(CMAKE_CXX_VISIBILITY_PRESET hidden)\nset(CMAKE_VISIBILITY_INLINES_HIDDEN ON)\n"
        "add_library(plugin MODULE plugin.cpp)\n"
        f"target_link_libraries(plugin PRIVATE tarry::{component})\n")
    run(CMAKE, "-G", "Ninja", "-S", project, "-B", project / "build",
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={CXX}")
    run(CMAKE, "--build", project / "build")
    plugin, = (project / "build").glob("*plugin.so")
    shown = [line for line in output("nm", "--dynamic", "--demangle", "--defined-only",
                                     plugin).splitlines() if "tarry::" in line]
    if shown:
        raise AssertionError(f"a plugin shows {len(shown)} symbols of ours, as {shown[0]}")


def check_paths(build_dir, prefix):
    """The shipped files do not contain the path of the build."""
    root = str(Path(__file__).resolve().parents[2])
    if "CMAKE_BUILD_TYPE:STRING=Release\n" not in (Path(build_dir) / "CMakeCache.txt").read_text():
        return
    for path in [*prefix.rglob("*.a"), *prefix.rglob("*.so"), *(prefix / "bin").glob("*")]:
        if f"{root}/".encode() in path.read_bytes():
            raise AssertionError(f"{path.name} holds the path {root}/")


def check_subproject(work):
    """As a part of another project, it installs nothing of its own."""
    root = Path(__file__).resolve().parents[2]
    project = work / "outer"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(outer LANGUAGES CXX)\n"
        "set(TARRY_EMBEDDED_ONLY ON)\n"
        f"add_subdirectory({root} tarry)\n")
    run(CMAKE, "-G", "Ninja", "-S", project, "-B", project / "build",
        f"-DCMAKE_CXX_COMPILER={CXX}", stdout=subprocess.DEVNULL)
    installs = (project / "build" / "tarry" / "cmake_install.cmake").read_text()
    if "libtarry" in installs or "include/tarry" in installs:
        raise AssertionError("as a subproject tarry would install itself")


def build_with_pkgconfig(component, prefix, work):
    package = "tarry" if component == "tarry" else "tarry-embedded"
    found = next(prefix.rglob(f"{package}.pc")).parent
    flags = output("pkg-config", "--cflags", "--libs", package,
                   env={**os.environ, "PKG_CONFIG_PATH": str(found)}).split()
    program = work / "user"
    run(CXX, "-std=c++20", "-Wall", "-Wextra", "-Werror", USER / "main.cpp", "-o", program, *flags)
    return program


def check_program(prefix):
    """The installed manual and completions are where man(1) and the shells look for them."""
    program = prefix / "bin" / "tarry"
    for place, words in (("man/man1/tarry.1", ("man",)),
                         ("bash-completion/completions/tarry", ("completion", "bash")),
                         ("zsh/site-functions/_tarry", ("completion", "zsh")),
                         ("fish/vendor_completions.d/tarry.fish", ("completion", "fish"))):
        said = output(program, *words, timeout=60)
        if (prefix / "share" / place).read_text() != said or not said:
            raise AssertionError(f"share/{place} is not what tarry {' '.join(words)} says")
    for unit in ("tarry.service", "tarry.socket"):
        if not (prefix / "lib/systemd/system" / unit).is_file():
            raise AssertionError(f"systemd's {unit} is not installed")


def main(component, way, build_dir):
    if way == "pkgconfig" and not shutil.which("pkg-config"):
        print("skipped: no pkg-config here (scripts/setup test)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        prefix = install(build_dir, work)
        if component == "tarry":
            check_program(prefix)
        if way == "cmake":
            check_documents(component, prefix, work)
            check_components(prefix, work)
            check_plugin(component, prefix, work)
            check_paths(build_dir, prefix)
            if component == "tarry":
                check_examples(prefix, work)
            else:
                check_subproject(work)
        build = {"cmake": build_with_cmake, "shared": build_shared,
                 "pkgconfig": build_with_pkgconfig}[way]
        program = build(component, prefix, work)
        if way == "pkgconfig":  # -ltarry takes the shared library if both are there
            os.environ["LD_LIBRARY_PATH"] = str(next(prefix.rglob("libtarry*.so")).parent)
        said = output(program, timeout=60)
        if said != "claimed order:42\n":
            print(f"the program said {said!r}")
            return 1
        linked = output("ldd", program)
        if way == "shared":
            if "libtarry" not in linked:
                print(f"{component}_shared is not linked as a shared library:\n{linked}")
                return 1
        unwanted = [name for name in ("boost", "hiredis", "ssl") if name in linked]
        if component == "embedded" and unwanted:
            print(f"tarry::embedded is linked with {unwanted}:\n{linked}")
            return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
