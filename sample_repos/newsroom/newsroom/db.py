from sqlalchemy import create_engine
from sqlalchemy.orm import DeclarativeBase, scoped_session, sessionmaker

from . import config

engine = create_engine(config.DATABASE_URL)
Session = sessionmaker(engine)
session = scoped_session(Session)


class Base(DeclarativeBase):
    pass


def create_tables():
    from . import models  # noqa: F401

    Base.metadata.create_all(engine)
