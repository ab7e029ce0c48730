from arq import cron

from helpdesk.queue import redis_settings
from helpdesk.worker import jobs
from helpdesk.worker.cron import (
    close_silent_tickets,
    send_morning_report,
    send_surveys,
    send_weekly_summary,
    warn_of_due_tickets,
)


class WorkerSettings:
    redis_settings = redis_settings()
    functions = [
        jobs.send_ticket_opened,
        jobs.send_comment_added,
        jobs.send_ticket_assigned,
        jobs.send_welcome,
        jobs.send_invoice,
        jobs.send_payment_failed,
        jobs.send_outage_notices,
        jobs.send_outage_over,
        jobs.send_ticket_taken,
        jobs.send_payment_received,
        jobs.send_auto_reply,
        jobs.send_bounce_alert,
        jobs.send_complaint_alert,
    ]
    cron_jobs = [
        cron(send_surveys, minute={0, 15, 30, 45}),
        cron(warn_of_due_tickets, minute=5),
        cron(send_morning_report, hour=7, minute=0, run_at_startup=True),
        cron(close_silent_tickets, hour=3, minute=0),
        cron(send_weekly_summary, weekday="mon", hour=8, minute=0),
    ]
