from fastapi import FastAPI

from mailapi import notifications, receipts, reminders, statements, trials

app = FastAPI(title="Mail API")
app.include_router(notifications.router)
app.include_router(receipts.router)
app.include_router(reminders.router)
app.include_router(statements.router)
app.include_router(trials.router)
