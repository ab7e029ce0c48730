from sqlalchemy.exc import IntegrityError

from helpdesk.db import Session
from helpdesk.models import Delivery


async def claim(kind, reference):
    """True for the first caller with this kind and reference, False for all later ones."""
    async with Session() as session:
        session.add(Delivery(kind=kind, reference=str(reference)))
        try:
            await session.commit()
        except IntegrityError:
            return False
    return True
