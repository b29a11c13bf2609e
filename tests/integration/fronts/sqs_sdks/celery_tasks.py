"""Celery over SQS, unchanged: `celery_tasks.py FILE` sends tasks, one with a delay. The worker
(`celery -A celery_tasks worker`) writes their texts to FILE."""

import os
import sys

from celery import Celery

app = Celery("celery_tasks")
app.conf.broker_url = os.environ["BROKER"]
app.conf.broker_transport_options = {"region": "us-east-1", "is_secure": False,
                                     "polling_interval": 0.1, "wait_time_seconds": 1}
app.conf.task_default_queue = "jobs"
app.conf.task_acks_late = True


@app.task(bind=True, max_retries=2)
def note(self, file, text):
    """Appends the text; "again" fails once."""
    if text == "again" and self.request.retries == 0:
        raise self.retry(countdown=1)
    with open(file, "a", encoding="utf-8") as out:
        out.write(text + "\n")


if __name__ == "__main__":
    for text in ("one", "two", "again"):
        note.delay(sys.argv[1], text)
    note.apply_async((sys.argv[1], "later"), countdown=2)
