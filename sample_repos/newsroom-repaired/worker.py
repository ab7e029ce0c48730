"""python worker.py: runs the jobs of the mail queue."""

from rq import Worker

from newsroom.db import session
from newsroom.queue import queue


class NewsroomWorker(Worker):
    def perform_job(self, job, queue):
        try:
            return super().perform_job(job, queue)
        finally:
            session.remove()


if __name__ == "__main__":
    NewsroomWorker([queue], connection=queue.connection).work(with_scheduler=True)
