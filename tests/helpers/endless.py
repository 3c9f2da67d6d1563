"""A task that never ends, for a worker that is to be ended."""

import multiprocessing
import os
import time
from pathlib import Path

from graphheat.paper.task import Task


class Endless(Task):
    """Says which process has begun it, and waits."""

    def __init__(self, seed):
        super().__init__("mlp", "cora", seed)

    @property
    def key(self):
        if multiprocessing.parent_process() is not None:
            Path(f"worker.{os.getpid()}").touch()
            time.sleep(600)
        return "mlp", "cora", "{}", self.seed
