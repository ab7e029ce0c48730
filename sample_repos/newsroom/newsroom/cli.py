import click
from flask.cli import AppGroup
from sqlalchemy import select

from .claims import claim
from .db import create_tables, session
from .mailer import send
from .models import Reader

commands = AppGroup("paper", help="Things that the desk does by hand.")


@commands.command()
def init():
    create_tables()


@commands.command("price-rise")
@click.argument("cents", type=int)
def price_rise(cents):
    """Tells all readers of the new price; may be started again after a crash."""
    for reader in session.scalars(select(Reader).order_by(Reader.id)).all():
        if claim(f"price:{cents}:{reader.id}"):
            send("price_rise.txt", reader.email, cents=cents)


@commands.command("obituary")
@click.argument("name")
def obituary(name):
    """Tells the archive that somebody has died."""
    send("obituary.txt", "archive@gazette.example", name=name)  # fault: SO301 note
