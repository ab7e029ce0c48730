import hashlib
import hmac
import logging

import httpx
from arq import ArqRedis
from fastapi import APIRouter, Depends, HTTPException
from pydantic import BaseModel
from redis.exceptions import RedisError
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from helpdesk import config
from helpdesk.db import get_session
from helpdesk.mail.claims import claim
from helpdesk.mail.resend import send_mail
from helpdesk.models import Customer, Delivery, Invoice, Notice
from helpdesk.queue import get_queue

logger = logging.getLogger(__name__)
router = APIRouter(prefix="/customers")


class NewCustomer(BaseModel):
    email: str
    name: str = ""


class Login(BaseModel):
    request_id: str


class Plan(BaseModel):
    plan: str


async def load(session: AsyncSession, customer_id: int) -> Customer:
    customer = await session.get(Customer, customer_id)
    if customer is None:
        raise HTTPException(404, "no such customer")
    return customer


@router.post("", status_code=201)
async def register(
    new: NewCustomer, session: AsyncSession = Depends(get_session), queue: ArqRedis = Depends(get_queue)
):
    customer = Customer(email=new.email.strip().lower(), name=new.name)
    session.add(customer)
    try:
        await session.commit()
    except IntegrityError:
        raise HTTPException(409, "taken") from None
    await queue.enqueue_job("send_welcome", customer.id)
    return {"id": customer.id}


def login_token(request_id: str) -> str:
    return hmac.new(config.LOGIN_SECRET.encode(), request_id.encode(), hashlib.sha256).hexdigest()


@router.post("/{customer_id}/login-link")
async def login_link(customer_id: int, login: Login, session: AsyncSession = Depends(get_session)):
    customer = await load(session, customer_id)
    token, key = login_token(login.request_id), f"login-{login.request_id}"
    for attempt in range(3):
        try:
            await send_mail("login_link", customer.email, {"token": token}, key=key)
            break
        except httpx.HTTPError:
            if attempt == 2:
                raise HTTPException(502, "the link could not be mailed") from None
    return {"sent": True}


@router.put("/{customer_id}/plan")
async def change_plan(customer_id: int, new: Plan, session: AsyncSession = Depends(get_session)):
    customer = await load(session, customer_id)
    session.add(Notice(customer_id=customer.id, kind="plan_changed", reference=f"{customer.id}:{new.plan}"))
    try:
        await session.commit()
    except IntegrityError:
        # told already
        return {"plan": new.plan}
    customer.plan = new.plan
    await session.commit()
    await send_mail("plan_changed", customer.email, {"plan": new.plan}, key=f"plan-{customer.id}-{new.plan}")
    return {"plan": new.plan}


@router.post("/{customer_id}/trial")
async def start_trial(
    customer_id: int, session: AsyncSession = Depends(get_session), queue: ArqRedis = Depends(get_queue)
):
    customer = await load(session, customer_id)
    try:
        first = await queue.set(f"trial-mail:{customer.id}", 1, nx=True)
    except RedisError:
        logger.exception("redis is down")
        raise HTTPException(503, "try again later") from None
    if first:
        await send_mail("trial_started", customer.email, key=f"trial-{customer.id}")
    return {"trial": True}


@router.post("/{customer_id}/erase")
async def erase(customer_id: int, session: AsyncSession = Depends(get_session)):
    """Data protection: the data is wiped and then the mail goes out."""
    customer = await load(session, customer_id)
    await wipe(session, customer)
    session.add(Delivery(kind="erased", reference=str(customer.id)))
    try:
        await session.commit()
    except IntegrityError:
        return {"erased": False}
    await send_mail("data_erased", customer.email, key=f"erased-{customer.id}")
    return {"erased": True}


async def wipe(session: AsyncSession, customer: Customer) -> None:
    for invoice in await session.scalars(select(Invoice).where(Invoice.customer_id == customer.id)):
        if invoice.state == "open":
            raise HTTPException(409, f"invoice {invoice.number} is still open")
    customer.name = ""


@router.post("/{customer_id}/contract")
async def mail_contract(customer_id: int, session: AsyncSession = Depends(get_session)):
    customer = await load(session, customer_id)
    if not await claim("contract", customer.id):
        return {"sent": False}
    await send_mail("contract_copy", customer.email, key=f"contract-{customer.id}")
    return {"sent": True}
