"""python clock.py: the one process that watches the clock."""

from newsroom.schedule import build_scheduler

if __name__ == "__main__":
    build_scheduler().start()
