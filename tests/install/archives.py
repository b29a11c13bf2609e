"""Static archives (the format of ar)."""

import subprocess

MAGIC = b"!<arch>\n"
HEADER = 60


def keep_smallest(path, count):
    """Removes all members but the `count` smallest ones."""
    data = path.read_bytes()
    assert data.startswith(MAGIC), path
    names, members, at = b"", [], len(MAGIC)
    while at < len(data):
        size = int(data[at + 48:at + 58])
        member = data[at:at + HEADER + size + size % 2]
        at += len(member)
        if member.startswith(b"// "):  # the long names of members
            names = member
        elif not member.startswith(b"/ "):  # the symbols: ranlib makes them again
            members.append(member)
    assert len(members) > count, path
    path.write_bytes(MAGIC + names + b"".join(sorted(members, key=len)[:count]))
    subprocess.run(["ranlib", "-D", path], check=True)
