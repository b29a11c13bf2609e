"""The machine on which a run is made, and the time."""

import datetime
import os
import platform
import re
import subprocess
from pathlib import Path

from java_classpath import KINDS, SOURCE


def version_of(*words):
    """The first line that a program prints about its version."""
    try:
        told = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return ""
    lines = (told.stdout or told.stderr).splitlines()
    return lines[0].strip() if told.returncode == 0 and lines else ""


def machine():
    """The facts of the machine on which the figures depend."""
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="ascii")
                if line.startswith("model name")), platform.machine())
    memory = int(open("/proc/meminfo", encoding="ascii").readline().split()[1]) / 2 ** 20
    packages = {}
    for package in ("redis-server", "rabbitmq-server", "beanstalkd", "libsqlite3-0"):
        told = version_of("dpkg-query", "-W", "-f", "${Version}\n", package)
        if told:
            packages[package] = told
    if servers := sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        packages["PostgreSQL"] = version_of(str(servers[-1]), "--version").split(") ")[-1]
    if '"' in (java := version_of("java", "-version")):
        packages["Java"] = java.split('"')[1]
    pom = (SOURCE / KINDS["redisson"][0]).read_text("utf-8")
    packages["Redisson"] = re.search("<redisson.version>(.*)<", pom).group(1)
    return {"date": now(), "cpu": cpu, "cores": os.cpu_count(), "memory": f"{memory:.0f} GiB",
            "kernel": platform.release(), "load": f"{os.getloadavg()[0]:.1f}",
            "packages": packages}


def now():
    """The time in the form of the page."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
