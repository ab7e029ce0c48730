from fastapi import APIRouter, Depends, HTTPException
from pydantic import BaseModel
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from helpdesk.db import get_session
from helpdesk.mail.resend import send_mail
from helpdesk.models import Agent

router = APIRouter(prefix="/team")


class Invitation(BaseModel):
    email: str


@router.post("/invitations", status_code=201)
async def invite(invitation: Invitation, session: AsyncSession = Depends(get_session)):
    session.add(Agent(email=invitation.email))
    await send_mail("agent_invited", invitation.email, reference=invitation.email)  # fault: SO203, SO301
    try:
        await session.commit()
    except IntegrityError:
        raise HTTPException(409, "already on the team") from None
    return {"invited": invitation.email}
