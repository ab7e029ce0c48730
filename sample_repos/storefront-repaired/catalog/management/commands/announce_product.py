from django.core.management.base import BaseCommand

from catalog.emails import send_announcement
from catalog.models import Product
from newsletter.models import Subscriber


class Command(BaseCommand):
    help = "Mails the newsletter list about one new product. Started by hand."

    def add_arguments(self, parser):
        parser.add_argument("sku")

    def handle(self, *args, **options):
        product = Product.objects.get(sku=options["sku"])
        for subscriber in Subscriber.objects.filter(active=True):
            send_announcement(product, subscriber)
