from contextlib import asynccontextmanager

from fastapi import FastAPI

from helpdesk import queue
from helpdesk.api import announcements, assistant, customers, invoices, team, tickets
from helpdesk.db import engine
from helpdesk.models import Base
from helpdesk.webhooks import billing, inbound


@asynccontextmanager
async def lifespan(app: FastAPI):
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    app.state.queue = await queue.connect()
    yield
    await app.state.queue.aclose()


app = FastAPI(title="Helpdesk", lifespan=lifespan)
app.include_router(tickets.router)
app.include_router(team.router)
app.include_router(customers.router)
app.include_router(invoices.router)
app.include_router(announcements.router)
app.include_router(assistant.router)
app.include_router(inbound.router)
app.include_router(billing.router)
