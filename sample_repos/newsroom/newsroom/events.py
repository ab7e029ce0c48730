"""Things that happen by themselves when rows change."""

from sqlalchemy import event

from .jobs.notices import mail_author
from .models import Article
from .queue import queue


@event.listens_for(Article, "after_update")
def article_changed(mapper, connection, article):
    if article.status == "published":
        queue.enqueue(mail_author, article.author_email, article.title)  # fault: SO105, SO201
