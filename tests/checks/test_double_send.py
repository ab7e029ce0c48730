"""SO102: one run of one trigger that sends the same mail twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import findings, line_of, lines

FORMS = {
    "hut/__init__.py": "",
    "hut/settings.py": 'AUTH_USER_MODEL = "hut.Guest"\n',
    "hut/models.py": """
        from django.contrib.auth.models import AbstractUser
        from django.db import models
        from .managers import StayManager


        class Guest(AbstractUser):
            pass


        class Stay(models.Model):
            email = models.EmailField()
            paid = models.BooleanField(default=False)
            objects = StayManager()
    """,
    "hut/managers.py": """
        from django.db import models


        class StayManager(models.Manager):
            def book(self, email):
                found = self.model(email=email)
                found.save()
                return found
    """,
    "hut/forms.py": """
        from django import forms
        from .models import Stay


        class StayForm(forms.ModelForm):
            class Meta:
                model = Stay
                fields = ["email"]
    """,
    "hut/serializers.py": """
        from rest_framework import serializers
        from .models import Stay


        class StaySerializer(serializers.ModelSerializer):
            class Meta:
                model = Stay
                fields = ["email"]
    """,
    "hut/mail.py": """
        from django.core.mail import send_mail


        def confirm(stay):
            send_mail("Your stay", "x", None, [stay.email])


        def greet(guest):
            send_mail("Hello", "x", None, [guest.email])
    """,
    "hut/receivers.py": """
        from django.conf import settings
        from django.db.models.signals import post_save
        from django.dispatch import receiver
        from .mail import confirm, greet
        from .models import Stay


        @receiver(post_save, sender=Stay)
        def stayed(sender, instance, **kwargs):
            if kwargs["created"]:
                confirm(instance)


        @receiver(post_save, sender=settings.AUTH_USER_MODEL)
        def joined(sender, instance, created, **kwargs):
            if created:
                greet(instance)
    """,
}
HEAD = """
from celery import shared_task
from django.contrib.auth import get_user_model
from django.core.mail import send_mail
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.views.generic import CreateView, UpdateView
from rest_framework import generics, viewsets
from .forms import StayForm
from .mail import confirm, greet
from .models import Guest, Stay
from .serializers import StaySerializer

"""
SILENT = {
    "a form of a loaded row": """
def stay(request, pk):
    form = StayForm(request.POST, instance=get_object_or_404(Stay, pk=pk))
    confirm(form.save())
""",
    "a form that is not committed": """
def stay(request):
    found = StayForm(request.POST).save(commit=False)
    confirm(found)
""",
    "an update view": """
class stay(UpdateView):
    form_class = StayForm

    def form_valid(self, form):
        confirm(form.save())
""",
    "an update view that goes on to the library": """
class stay(UpdateView):
    model = Stay
    fields = ["email"]

    def form_valid(self, form):
        answer = super().form_valid(form)
        confirm(self.object)
        return answer
""",
    "a serializer of a loaded row": """
class stay(generics.UpdateAPIView):
    queryset = Stay.objects.all()
    serializer_class = StaySerializer

    def perform_update(self, serializer):
        confirm(serializer.save())
""",
    "a new row saved again": """
def stay(request):
    found = Stay(email=request.POST["email"])
    found.save()
    found.paid = True
    found.save()
""",
    "two rows": """
def swap(one, other):
    confirm(one)
    confirm(other)


def stay(request):
    swap(Stay.objects.get(pk=1), Stay.objects.get(pk=2))
""",
    "one row and the items of a list": """
def stay(request):
    first = Stay.objects.order_by("pk").first()
    for one in Stay.objects.filter(paid=True):
        confirm(one)
    confirm(first)
""",
}
SILENT |= {
    "a second way for those whom the first did not mail": """
def attempt(stay):
    if not stay.paid:
        return False
    confirm(stay)
    return True


def stay(request):
    found = get_object_or_404(Stay, pk=1)
    if not attempt(found):
        confirm(found)
""",
    "an answer that ends the request": """
def checked(found):
    if found.paid:
        confirm(found)
        return render("paid")
    return None


def stay(request):
    found = get_object_or_404(Stay, pk=1)
    answer = checked(found)
    if answer is not None:
        return answer
    confirm(found)
""",
    "two kinds of one text, in sequence": """
def stay(request, kind):
    found = get_object_or_404(Stay, pk=1)
    found.kind = kind
    if kind == "a":
        confirm(found)
    if kind == "b":
        confirm(found)
""",
    "one layout around two texts": """
def wrapped(subject, found):
    send_mail(subject, render_to_string("layout.html", {"text": subject}), None, [found.email])


def stay(request):
    found = get_object_or_404(Stay, pk=1)
    wrapped("Your stay is booked", found)
    wrapped("Please pay for your stay", found)
""",
    "a job that puts itself back": """
@shared_task
def chase(pk):
    confirm(Stay.objects.get(pk=pk))
    chase.apply_async((pk,), countdown=60)


def stay(request):
    chase.delay(1)
""",
}
FAULTY = {
    "a first way that failed may have mailed": """
def attempt(found):
    try:
        confirm(found)
        return True
    except OSError:
        return False


def stay(request):
    found = get_object_or_404(Stay, pk=1)
    if not attempt(found):  # first
        confirm(found)  # second
""",
    "a form": """
def stay(request):
    found = StayForm(request.POST).save()  # first
    confirm(found)  # second
""",
    "a create view": """
class stay(CreateView):
    form_class = StayForm

    def form_valid(self, form):
        self.object = form.save()  # first
        confirm(self.object)  # second
""",
    "a create view that makes its form itself": """
class stay(CreateView):
    model = Stay
    fields = ["email"]

    def form_valid(self, form):
        answer = super().form_valid(form)  # first
        confirm(self.object)  # second
        return answer
""",
    "a serializer in a view": """
class stay(generics.CreateAPIView):
    serializer_class = StaySerializer

    def perform_create(self, serializer):
        found = serializer.save()  # first
        confirm(found)  # second
""",
    "the library's own way to create": """
class stay(viewsets.ModelViewSet):
    queryset = Stay.objects.all()
    serializer_class = StaySerializer

    def perform_create(self, serializer):
        super().perform_create(serializer)  # first
        confirm(serializer.instance)  # second
""",
    "a serializer in a function": """
def stay(request):
    serializer = StaySerializer(data=request.POST)
    serializer.is_valid(raise_exception=True)
    confirm(serializer.save())  # first, second
""",
    "a manager's method in another file": """
def stay(request):
    found = Stay.objects.book(request.POST["email"])  # first
    confirm(found)  # second
""",
    "a new account": """
def stay(request):
    guest = get_user_model().objects.create_user("a", request.POST["email"])  # first
    greet(guest)  # second
""",
    "an account of a class": """
def stay(request):
    guest = Guest.objects.create_user(username="a", email=request.POST["email"])  # first
    greet(guest)  # second
""",
    "one helper twice": """
def stay(request):
    found = get_object_or_404(Stay, pk=1)
    confirm(found)  # first
    found.paid = True
    confirm(found)  # second
""",
    "one list twice, its owner changed in between": """
def all_of(owner):
    for one in owner.stays.all():
        confirm(one)


def stay(request):
    owner = get_object_or_404(Guest, pk=1)
    all_of(owner)  # first
    owner.notes = "x"
    all_of(owner)  # second
""",
    "read again by its key": """
def again(key):
    confirm(Stay.objects.get(pk=key))


def stay(request):
    found = get_object_or_404(Stay, email=request.POST["email"])
    confirm(found)  # first
    again(found.pk)  # second
""",
}


def project(views: str) -> dict[str, str]:
    view = "stay.as_view()" if "class stay" in views else "stay"
    urls = f"from django.urls import path\nfrom .views import stay\n\nurlpatterns = [path('stay', {view})]\n"
    return {**FORMS, "hut/urls.py": urls, "hut/views.py": HEAD + views}


@pytest.mark.parametrize("views", SILENT.values(), ids=SILENT)
def test_silent(views: str, tmp_path: Path) -> None:
    assert findings(project(views), tmp_path, "SO102") == []


@pytest.mark.parametrize("views", FAULTY.values(), ids=FAULTY)
def test_found(views: str, tmp_path: Path) -> None:
    text = HEAD + views
    (found,) = findings(project(views), tmp_path, "SO102")
    assert (found.severity, found.place.line) == ("error", line_of(text, "second"))
    assert ("hut/views.py", line_of(text, "first")) in lines(found)


def test_a_row_that_may_be_another_is_a_note(tmp_path: Path) -> None:
    views = """
def stay(request, pk):
    StayForm(request.POST).save()
    confirm(get_object_or_404(Stay, pk=pk))
"""
    assert [one.severity for one in findings(project(views), tmp_path, "SO102")] == ["note"]


KEYED = {
    "app.py": """
        import httpx
        from flask import Flask

        app = Flask(__name__)


        def send(template, to, key=None):
            headers = {"Idempotency-Key": key} if key else {}
            mail = {"from": "a@x.example", "to": [to], "template": {"id": template}}
            httpx.post("https://api.resend.com/emails", json=mail, headers=headers)


        def told(guest):
            send("told", guest.email{0})


        @app.post("/<guest>")
        def tell(guest):
            send("told", guest.email{0})
            told(guest)
    """
}


@pytest.mark.parametrize(("key", "wanted"), [(", key=f'told-{guest.id}'", 0), ("", 1)])
def test_a_key_that_a_helper_may_be_given_counts_where_it_is_given(key: str, wanted: int, tmp_path: Path) -> None:
    files = {name: text.replace("{0}", key) for name, text in KEYED.items()}
    assert len(findings(files, tmp_path, "SO102")) == wanted
