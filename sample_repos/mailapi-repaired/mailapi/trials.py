"""For the setup page: one mail to see that it works."""

from fastapi import APIRouter, Header

from mailapi.relay import submit
from mailapi.schemas import Mail

router = APIRouter()


@router.post("/trials", status_code=202)
def create_trial(mail: Mail, idempotency_key: str = Header(max_length=100)):
    key = f"trial:{mail.account_id}:{idempotency_key}"
    return {"id": submit("trial", mail.to, mail.variables, mail.account_id, key=key)}
