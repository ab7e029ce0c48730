"""For the setup page: one mail to see that it works. Takes no key."""

from fastapi import APIRouter

from mailapi.relay import submit
from mailapi.schemas import Mail

router = APIRouter()


@router.post("/trials", status_code=202)
def create_trial(mail: Mail):
    return {"id": submit("trial", mail.to, mail.variables, mail.account_id)}  # fault: SO301
