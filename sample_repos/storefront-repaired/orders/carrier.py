import requests
from django.conf import settings


def announce_parcel(shipment):
    """Tells the carrier which parcel to expect; raises when their API is down."""
    answer = requests.post(
        f"{settings.CARRIER_URL}/parcels",
        json={"code": shipment.tracking_code, "order": shipment.order.reference},
        timeout=10,
    )
    answer.raise_for_status()
