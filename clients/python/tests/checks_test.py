"""Types, style, spans, the wheel in a clean environment, pytest's fixtures there, and Django."""

import os
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE.parents[1] / "tests/harness"))
from kept import Kept, run  # noqa: E402

MYPY, RUFF, PYTEST, DJANGO = "mypy==2.4.1", "ruff==0.17.6", "pytest==9.2.0", "django==5.2.19"
SETUPTOOLS, OPENTELEMETRY = "setuptools==80.9.0", "opentelemetry-sdk==1.45.2"

PYTEST_FILE = """
def test_a_month(tarry_server, tarry_client):
    queue = tarry_client.queue("trials")
    queue.push("over", key="ann", delay="31d")
    assert not queue.claim()
    tarry_server.advance("31d")
    assert [one.text for one in queue.claim()] == ["over"]
"""
DJANGO_TASKS = """
from tarry.django import task

@task("orders")
def close_order(number):
    open(f"closed-{number}", "w").close()
"""
DJANGO_RUN = """
import os, sys, django, threading, time
from pathlib import Path
from django.conf import settings
settings.configure(INSTALLED_APPS=["tarry.django", "shop"], TARRY={"URL": sys.argv[1]},
                   DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3",
                                          "NAME": ":memory:"}}, USE_TZ=True)
django.setup()
from django.core import management
from shop.tasks import close_order
management.call_command("check", "--tag", "tarry", "--deploy")
close_order.now(42)
def stop():
    while not Path("closed-42").exists():
        time.sleep(0.01)
    os.kill(os.getpid(), 15)
threading.Thread(target=stop, daemon=True).start()
management.call_command("tarry_worker", concurrency=1)
settings.TARRY = {"URL": "redis://a", "COLOUR": 1}
try:
    management.call_command("check", "--tag", "tarry")
except management.base.SystemCheckError as error:
    assert "COLOUR" in str(error) and "redis://a" in str(error), error
    print("checked")
"""


class Checks(Kept):
    def sources(self):
        return [path.read_text() for path in sorted(HERE.rglob("*.py"))] + [
            (HERE / "pyproject.toml").read_text()]

    def tools(self):
        """One Python environment for all tools: to make one takes seconds."""
        return self.environment(MYPY, RUFF, PYTEST, SETUPTOOLS, OPENTELEMETRY)

    def clean(self, *requirements):
        """An environment that has only these and the client's wheel."""
        def make(folder):
            self.install(folder, *requirements, self.wheel())

        texts = [*requirements, sys.version, *self.sources()]
        return self.made("client-wheel-used", texts, make) / "bin/python"

    def wheel(self):
        """Built from a copy, because a build writes beside its sources."""
        def make(folder):
            copy = folder / "copy"
            run("cp", "-r", HERE, copy)
            self.pip(self.tools(), "wheel", "--no-deps", "--no-build-isolation", "-w", folder,
                     copy)

        folder = self.made("client-wheel", [*self.sources(), sys.version], make)
        wheel, = folder.glob("tarry-*-py3-none-any.whl")
        return wheel

    def test_types(self):
        run(self.tools(), "-m", "mypy", "--cache-dir", self.directory, cwd=HERE)

    def test_style(self):
        run(self.tools(), "-m", "ruff", "check", "--no-cache", "src", cwd=HERE)

    def test_spans(self):
        said = run(self.tools(), "-B", HERE / "tests/spans.py", PYTHONPATH=str(HERE / "src"))
        self.assertEqual(said, "spans done\n")

    def test_the_wheel_in_a_clean_environment(self):
        python = self.clean(PYTEST, DJANGO)
        typed = run(python, "-c", "import tarry, pathlib; "
                    "print((pathlib.Path(tarry.__file__).parent / 'py.typed').exists())")
        self.assertEqual(typed, "True\n")
        (self.directory / "trial_test.py").write_text(PYTEST_FILE)
        said = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "trial_test.py",
                   cwd=self.directory)
        self.assertIn("1 passed", said)
        shop = self.directory / "shop"
        shop.mkdir()
        (shop / "__init__.py").write_text("")
        (shop / "tasks.py").write_text(DJANGO_TASKS)
        (self.directory / "manage.py").write_text(DJANGO_RUN)
        from program import Server
        with Server("memory:") as server:
            said = run(python, "-B", "manage.py", server.url, cwd=self.directory)
        self.assertIn("working on orders", said)
        self.assertIn("acked=1", said)
        self.assertIn("checked", said)


if __name__ == "__main__":
    assert os.environ.get("TARRY_PROGRAM"), "TARRY_PROGRAM is not set"
    unittest.main()
