"""What the clock does, in a process of its own (clock.py). Times are those of the newsroom."""

from apscheduler.schedulers.blocking import BlockingScheduler

from .jobs import letters, notices, subscribers


def build_scheduler():
    scheduler = BlockingScheduler(timezone="Europe/Berlin")
    scheduler.add_job(letters.morning_briefing, "cron", hour=6, minute=0)
    scheduler.add_job(letters.weekly_letter, "cron", day_of_week="fri", hour=16)
    scheduler.add_job(letters.answer_letters, "interval", minutes=5)
    scheduler.add_job(letters.desk_summary, "cron", hour=18)
    scheduler.add_job(notices.lift_embargoes, "interval", minutes=1)
    scheduler.add_job(subscribers.monthly_statement, "cron", day=1, hour=8)
    subscribers.schedule(scheduler)
    return scheduler
