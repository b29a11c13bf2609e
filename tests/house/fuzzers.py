"""Every fuzzer is built and has a corpus, every corpus has a fuzzer, and the corpora stay small."""

import re
from pathlib import Path

from source import Finding

MOST_BYTES = 300 * 1024
LISTED = re.compile(r"^tarry_fuzzer\((\w+)", re.MULTILINE)


def check(root):
    folder = Path(root) / "fuzz"
    rules = folder / "CMakeLists.txt"
    listed = set(LISTED.findall(rules.read_text())) if rules.exists() else set()
    sources = {path.name.removesuffix("_fuzz.cpp") for path in folder.glob("*_fuzz.cpp")}
    corpora = {path.name for path in (folder / "corpus").glob("*")}

    for name in sorted(sources - listed):
        yield Finding(f"fuzz/{name}_fuzz.cpp", 0, "fuzzer", "fuzz/CMakeLists.txt does not list it")
    for name in sorted(sources):
        if not any((folder / "corpus" / name).glob("*")):
            yield Finding(f"fuzz/{name}_fuzz.cpp", 0, "fuzzer", f"fuzz/corpus/{name} has nothing")
    for name in sorted(corpora - sources):
        yield Finding(f"fuzz/corpus/{name}", 0, "fuzzer", f"there is no fuzz/{name}_fuzz.cpp")
    for path in sorted(folder.glob("*.dict")):
        if path.stem not in sources:
            yield Finding(f"fuzz/{path.name}", 0, "fuzzer", "no fuzzer has its name")
    size = sum(path.stat().st_size for path in (folder / "corpus").glob("*/*"))
    if size > MOST_BYTES:
        yield Finding("fuzz/corpus", 0, "fuzzer", f"{size} bytes of {MOST_BYTES}: minimise it")
