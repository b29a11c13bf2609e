"""What tests of the console share: requests by plain HTTP, and a browser's packages."""

import http.client
import json
import shutil

from kept import Kept, run
from program import SOURCE

WEB = SOURCE / "web"


def ask(server, method, path, body=None, **fields):
    """Returns the status, the fields and the body of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
            body = json.dumps(body)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def push(server, queue, messages, **fields):
    """Pushes them in one batch."""
    status, _, answer = ask(server, "POST", f"/v1/queues/{queue}/push", {"messages": messages},
                            **fields)
    if status != 200 or b'"error"' in answer:
        raise AssertionError(answer)


class Browser(Kept):
    """A test that drives a real Chromium."""

    def modules(self):
        """npm's packages, with what the console is checked with."""
        def install(work):
            for name in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copy(WEB / name, work)
            run("npm", "ci", "--silent", "--prefer-offline", "--ignore-scripts", cwd=work)

        return self.made("console-modules", [(WEB / "package-lock.json").read_text()], install)

    def script(self, name):
        """That script of web/test, where it finds its packages."""
        for one in ("browser.mjs", name):
            shutil.copy(WEB / "test" / one, self.directory)
        (self.directory / "node_modules").symlink_to(self.modules() / "node_modules")
        return self.directory / name
