"""The same client for asyncio: Client, Queue and Worker, with the same names."""

from .client import Client, Queue
from .worker import Delivery, Worker

__all__ = ["Client", "Delivery", "Queue", "Worker"]
