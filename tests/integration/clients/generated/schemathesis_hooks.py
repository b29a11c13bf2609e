"""Values for Schemathesis that the document cannot describe: texts of durations, and times that a
store accepts. Waits are short, so that the run is not slow.
"""

import re

import schemathesis
from hypothesis import strategies as st

schemathesis.openapi.format(
    "tarry-duration", st.integers(1, 50).map(lambda milliseconds: f"{milliseconds}ms"))
schemathesis.openapi.format(
    "tarry-rate", st.builds("{}/{}ms burst {}".format, st.integers(1, 1_000_000),
                            st.integers(1, 604_800_000), st.integers(1, 1_000_000)))
schemathesis.openapi.format(
    "tarry-group", st.sampled_from(["none", "key", "header:tenant"]))
schemathesis.openapi.format(
    "tarry-objective", st.builds("{}% within {}ms".format, st.integers(1, 99),
                                 st.integers(1, 5_000)))
schemathesis.openapi.format(
    "date-time", st.integers(2000, 2199).map(lambda year: f"{year}-01-31T09:00:00+01:00"))


@schemathesis.hook
def before_call(context, case, kwargs):
    """Limits a wait to a tenth of a second, wherever it comes from: generated, or the example of
    the document."""
    body = case.body
    if isinstance(body, dict):
        if isinstance(body.get("wait_ms"), (int, float)):
            body["wait_ms"] = min(body["wait_ms"], 100)
        if re.fullmatch(r"\d+[smhd]", str(body.get("wait"))):
            body["wait"] = "100ms"
