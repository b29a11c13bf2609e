"""The kinds of rounds, by the names under which `scripts/crash` knows them."""

from clock import run_clock
from full_disk import FullDiskLife
from rounds import run_plan
from stop import StopLife, run_workers

WORKERS_A_ROUND = 10  # a round with workers takes seconds; one for so many of the server's


def run_kill(plan, figures):
    run_plan(plan, figures)


def run_full_disk(plan, figures):
    """Raises disk.NoDisk where none can be mounted."""
    run_plan(plan, figures, FullDiskLife)


def run_stop(plan, figures):
    run_plan(plan, figures, StopLife)
    run_workers(plan, figures, max(1, plan.rounds // WORKERS_A_ROUND))


KINDS = {"kill": run_kill, "full-disk": run_full_disk, "stop": run_stop, "clock": run_clock}
