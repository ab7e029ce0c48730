"""Mails that webhooks cause."""

from ..mailer import send


def mail_refund_failed(email, number):
    send("refund_failed.txt", email, number=number)


def mail_print_run(email, copies):
    send("print_run.txt", email, copies=copies)
