"""tarry: a delay queue. This is its client for Python; docs/guide/python.md shows how to use it."""

from .book import Counts
from .client import Client, Queue
from .delivery import Delivery, WorkerOptions
from .errors import (
                     Conflict,
                     InvalidRequest,
                     NoSpace,
                     NotFound,
                     PermissionDenied,
                     ServerFailure,
                     TarryError,
                     Unavailable,
                     UnknownOutcome,
                     Unsupported,
)
from .model import (
                     Action,
                     Bulk,
                     Changed,
                     Claimed,
                     History,
                     HistoryEvent,
                     IfExists,
                     Message,
                     Outcome,
                     Page,
                     Pushed,
                     QueueInfo,
                     Settled,
                     State,
                     Stored,
                     Why,
)
from .schedules import Missed, Occurrence, Schedule
from .tasks import Task, Tasks
from .verdicts import Verdict, ack, bury, release, retry
from .version import __version__
from .worker import Worker, work

__all__ = [
    "Action", "Bulk", "Changed", "Claimed", "Client", "Conflict", "Counts", "Delivery", "History",
    "HistoryEvent", "IfExists", "InvalidRequest", "Message", "Missed", "NoSpace", "NotFound",
    "Occurrence", "Outcome", "Page", "PermissionDenied", "Pushed", "Queue", "QueueInfo", "Schedule",
    "ServerFailure", "Settled", "State", "Stored", "TarryError", "Task", "Tasks",
    "Unavailable", "UnknownOutcome", "Unsupported", "Verdict", "Why", "Worker", "WorkerOptions",
    "__version__", "ack", "bury", "release", "retry", "work",
]
