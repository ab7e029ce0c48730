"""SO307: a claim that an open transaction can take back when the mail has gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import reservation_can_roll_back

HEAD = """
import requests
from django.core.mail import send_mail
from django.db import models, transaction
from redis import Redis

class Parcel(models.Model):
    email = models.EmailField()
    told = models.BooleanField(default=False)
    state = models.CharField(max_length=9)

class Stop(models.Model):
    parcel = models.ForeignKey(Parcel, on_delete=models.CASCADE)

class Notice(models.Model):
    parcel = models.OneToOneField(Parcel, on_delete=models.CASCADE)
    done = models.BooleanField(default=False)

def mail(parcel):
    send_mail("Near", "x", None, [parcel.email])

def tell(parcel):
    if Parcel.objects.filter(pk=parcel.pk, told=False).update(told=True):  # in a helper
        mail(parcel)

def book(parcel):
    requests.post("https://depot.example/book", json={"parcel": parcel.pk}, timeout=9).raise_for_status()

def check(parcel):
    if not parcel.state:
        raise ValueError(parcel)

"""
SILENT = {
    "committed first": """
def arrive(parcel):
    with transaction.atomic():
        Stop.objects.create(parcel=parcel)
    tell(parcel)
""",
    "claimed last": """
@transaction.atomic
def arrive(parcel):
    Stop.objects.create(parcel=parcel)
    tell(parcel)
""",
    "another service is asked, and may fail": """
@transaction.atomic
def arrive(parcel):
    _, new = Notice.objects.get_or_create(parcel=parcel)
    if new:
        mail(parcel)
    try:
        book(parcel)
    except requests.RequestException:
        print("later")
""",
    "sent on commit": """
def arrive(parcel):
    with transaction.atomic():
        _, new = Notice.objects.get_or_create(parcel=parcel)
        if new:
            transaction.on_commit(lambda: mail(parcel))
        Stop.objects.create(parcel=parcel)
""",
    "only the claim's own mark follows": """
def arrive(parcel):
    with transaction.atomic():
        notice, new = Notice.objects.get_or_create(parcel=parcel)
        if new:
            mail(parcel)
            notice.done = True
            notice.save()
""",
    "the claim is kept elsewhere": """
def arrive(parcel):
    with transaction.atomic():
        if Redis().set(f"near:{parcel.pk}", 1, nx=True):
            mail(parcel)
        Stop.objects.create(parcel=parcel)
""",
    "the claim was committed before": """
def arrive(parcel):
    _, new = Notice.objects.get_or_create(parcel=parcel)
    with transaction.atomic():
        if new:
            mail(parcel)
        Stop.objects.create(parcel=parcel)
""",
    "work on another branch": """
def arrive(parcel):
    with transaction.atomic():
        _, new = Notice.objects.get_or_create(parcel=parcel)
        if new:
            mail(parcel)
        else:
            Stop.objects.create(parcel=parcel)
""",
}
FAULTY = {
    "a row is made": """
def arrive(parcel):
    with transaction.atomic():
        _, new = Notice.objects.get_or_create(parcel=parcel)  # claim
        if new:
            mail(parcel)
        Stop.objects.create(parcel=parcel)  # work
""",
    "a row is saved": """
@transaction.atomic
def arrive(parcel):
    _, new = Notice.objects.get_or_create(parcel=parcel)  # claim
    if new:
        mail(parcel)
    parcel.state = "here"
    parcel.save()  # work
""",
    "an error may be raised": """
@transaction.atomic
def arrive(parcel):
    _, new = Notice.objects.get_or_create(parcel=parcel)  # claim
    if new:
        mail(parcel)
    check(parcel)  # work
""",
}
FAULTY["another service is asked"] = """
@transaction.atomic
def arrive(parcel):
    _, new = Notice.objects.get_or_create(parcel=parcel)  # claim
    if new:
        mail(parcel)
    book(parcel)  # work
"""
IN_A_HELPER = """
@transaction.atomic
def arrive(parcel):
    tell(parcel)
    Stop.objects.create(parcel=parcel)  # work
"""


def project(body: str) -> dict[str, str]:
    return {"s/__init__.py": "", "s/flow.py": HEAD + body.lstrip("\n")}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(project(body), tmp_path, "SO307", "SO301") == []


@pytest.mark.parametrize("body", [*FAULTY.values(), IN_A_HELPER], ids=[*FAULTY, "in a helper"])
def test_stands_at_the_claim(body: str, tmp_path: Path) -> None:
    files = project(body)
    (found,) = findings(files, tmp_path, "SO307", "SO301")
    mark = "# in a helper" if body is IN_A_HELPER else "# claim"
    assert (found.code, found.place.line) == ("SO307", line_of(files["s/flow.py"], mark))
    assert ("s/flow.py", line_of(files["s/flow.py"], "# work")) in lines(found)


def test_a_whole_request_is_a_transaction(tmp_path: Path) -> None:
    view = (
        "\nfrom django.http import HttpResponse\n\ndef arrived(request, pk):\n    parcel = Parcel.objects.get(pk=pk)\n"
    )
    view += "    tell(parcel)\n    Stop.objects.create(parcel=parcel)\n    return HttpResponse()\n"
    urls = 'from django.urls import path\nfrom . import flow\nurlpatterns = [path("<int:pk>", flow.arrived)]\n'
    for atomic, wanted in (("True", ["SO307"]), ("False", [])):
        settings = f'DATABASES = {{"default": {{"ENGINE": "x", "ATOMIC_REQUESTS": {atomic}}}}}\n'
        files = {**project(view), "s/urls.py": urls, "s/settings.py": settings}
        assert [one.code for one in findings(files, tmp_path / atomic, "SO307")] == wanted


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    head = HEAD + "\nclass Order(models.Model):\n    email = models.EmailField()\n\nclass OrderMail(models.Model):\n"
    head += (
        "    order = models.ForeignKey(Order, on_delete=models.CASCADE)\n    kind = models.CharField(max_length=9)\n"
    )
    head += '\n    class Meta:\n        unique_together = ("order", "kind")\n\ndef text(order):\n    return "x"\n\n'
    head += "def give_back(order):\n    Stop.objects.create(parcel=order)\n\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        code = examples(reservation_can_roll_back.RULE.doc)[name]
        found = findings({"s/__init__.py": "", "s/flow.py": head + code}, tmp_path / name, "SO307")
        assert len(found) == wanted, name
