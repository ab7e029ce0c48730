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
    agent = Agent(email=invitation.email)
    session.add(agent)
    try:
        await session.commit()
    except IntegrityError:
        raise HTTPException(409, "already on the team") from None
    await send_mail("agent_invited", invitation.email, key=f"invited-{agent.id}")
    return {"invited": invitation.email}
