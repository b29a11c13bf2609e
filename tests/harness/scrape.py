"""/metrics of a server, read and parsed strictly."""

import re
import urllib.request

SAMPLE = re.compile(r'^(?P<name>[a-z_]+)(?:\{(?P<labels>.*)\})? (?P<value>[0-9.e+-]+)$')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')


class Page:
    """One scrape, parsed strictly."""

    def __init__(self, text):
        self.families = {}
        self.samples = {}
        helps = {}
        family = None
        for line in text.splitlines():
            if line.startswith("# HELP "):
                family, helps[family] = line[len("# HELP "):].split(" ", 1)
                continue
            if line.startswith("# TYPE "):
                name, kind = line[len("# TYPE "):].split(" ")
                assert name == family and name not in self.families, line
                self.families[name] = (kind, set(), helps[name])
                continue
            found = SAMPLE.match(line)
            assert found, line
            assert re.sub("_(bucket|sum|count)$", "", found["name"]) == family \
                or found["name"] == family, line
            labels = dict(LABEL.findall(found["labels"] or ""))
            self.families[family][1].update(set(labels) - {"le"})
            key = (found["name"], tuple(sorted(labels.items())))
            assert key not in self.samples, line
            self.samples[key] = float(found["value"])

    def value(self, name, **labels):
        return self.samples[name, tuple(sorted(labels.items()))]


def scrape(server):
    with urllib.request.urlopen(server.url + "/metrics", timeout=30) as answer:
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        return Page(answer.read().decode())
