"""SO105: save callbacks that mail at every save."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import sends_on_every_save

MODELS = """
from django.db import models
from model_utils import FieldTracker
from .mail import tell


class Berth(models.Model):
    email = models.EmailField()
    length = models.IntegerField()
    free = models.BooleanField(default=True)
    told = models.BooleanField(default=False)
    tracker = FieldTracker()
{save}
"""
MAIL = """
from django.core.mail import send_mail


def tell(berth):
    send_mail("Your berth", "x", None, [berth.email])


def tell_new(berth, new):
    if new:
        tell(berth)
"""
HEAD = """
from functools import wraps
from django.db.models.signals import post_delete, post_save, pre_save
from django.dispatch import receiver
from .mail import tell, tell_new
from .models import Berth


def of_new_rows(handler):
    @wraps(handler)
    def wrapper(sender, instance, created, **kwargs):
        if created:
            handler(sender, instance, created, **kwargs)

    return wrapper


def is_longer(berth):
    old = Berth.objects.get(pk=berth.pk)
    return old.length < berth.length

"""
SILENT = {
    "created": """
@receiver(post_save, sender=Berth)
def saved(sender, instance, created, **kwargs):
    if created and instance.free:
        tell(instance)
""",
    "created handed on to a helper": """
@receiver(post_save, sender=Berth)
def saved(sender, instance, created, **kwargs):
    tell_new(instance, created)
""",
    "a decorator that asks": """
@receiver(post_save, sender=Berth)
@of_new_rows
def saved(sender, instance, created, **kwargs):
    tell(instance)
""",
    "one of two signs": """
@receiver(post_save, sender=Berth)
def saved(sender, instance, created, **kwargs):
    if created or instance.tracker.has_changed("length"):
        tell(instance)
""",
    "a comparison with the stored row": """
@receiver(pre_save, sender=Berth)
def saving(sender, instance, **kwargs):
    old = sender.objects.filter(pk=instance.pk).first()
    if old is not None and old.length != instance.length:
        tell(instance)
""",
    "a comparison in a helper": """
@receiver(pre_save, sender=Berth)
def saving(sender, instance, **kwargs):
    if is_longer(instance):
        tell(instance)
""",
    "no such row yet": """
@receiver(pre_save, sender=Berth)
def saving(sender, instance, **kwargs):
    if not Berth.objects.filter(pk=instance.pk).exists():
        tell(instance)
""",
    "a value that another hook keeps": """
@receiver(pre_save, sender=Berth)
def saving(sender, instance, **kwargs):
    instance.grew = instance.length > Berth.objects.get(pk=instance.pk).length


@receiver(post_save, sender=Berth)
def saved(sender, instance, **kwargs):
    if instance.grew:
        tell(instance)
""",
    "the fields that are saved": """
@receiver(post_save, sender=Berth)
def saved(sender, instance, update_fields=None, **kwargs):
    if update_fields and "length" in update_fields:
        tell(instance)
""",
    "a mark that the callback writes": """
@receiver(post_save, sender=Berth)
def saved(sender, instance, **kwargs):
    if not instance.told:
        tell(instance)
        instance.told = True
        instance.save()
""",
    "a deletion": """
@receiver(post_delete, sender=Berth)
def gone(sender, instance, **kwargs):
    tell(instance)
""",
    "a claim": """
@receiver(post_save, sender=Berth)
def saved(sender, instance, **kwargs):
    if Berth.objects.filter(pk=instance.pk, told=False).update(told=True):
        tell(instance)
""",
}
FAULTY = {
    "created is never read": """
@receiver(post_save, sender=Berth)
def saved(sender, instance, created, **kwargs):
    tell(instance)  # here
""",
    "a state that lasts": """
@receiver(post_save, sender=Berth)
def saved(sender, instance, created, **kwargs):
    if instance.free:
        tell(instance)  # here
""",
    "only rows that are not new": """
@receiver(post_save, sender=Berth)
def saved(sender, instance, created, **kwargs):
    if created:
        return
    tell(instance)  # here
""",
    "one of two tests lasts": """
@receiver(post_save, sender=Berth)
def saved(sender, instance, created, **kwargs):
    if created or instance.free:
        tell(instance)  # here
""",
}


def project(receivers: str, save: str = "") -> dict[str, str]:
    head = {"port/__init__.py": "", "port/models.py": MODELS.replace("{save}", save), "port/mail.py": MAIL}
    return {**head, "port/receivers.py": HEAD + receivers}


@pytest.mark.parametrize("receivers", SILENT.values(), ids=SILENT)
def test_silent(receivers: str, tmp_path: Path) -> None:
    assert findings(project(receivers), tmp_path, "SO105") == []


@pytest.mark.parametrize("receivers", FAULTY.values(), ids=FAULTY)
def test_found(receivers: str, tmp_path: Path) -> None:
    (found,) = findings(project(receivers), tmp_path, "SO105")
    assert (found.severity, found.place.line) == ("error", line_of(HEAD + receivers, "# here"))
    assert ("port/receivers.py", line_of(HEAD + receivers, "@receiver(post_save")) in lines(found)


SAVES = {
    "an absent key": ("new = not self.pk", "new", 0),
    "the state of the row": ("new = self._state.adding", "new", 0),
    "an old value that the constructor kept": ("grew = self.length > self._length", "grew", 0),
    "a state that lasts": ("free = self.free", "free", 1),
    "a row that was there": ("old = self.pk is not None", "old", 1),
}


@pytest.mark.parametrize(("before", "test", "wanted"), SAVES.values(), ids=SAVES)
def test_a_save_that_is_overridden(before: str, test: str, wanted: int, tmp_path: Path) -> None:
    save = f"""
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._length = self.length

    def save(self, *args, **kwargs):
        {before}
        super().save(*args, **kwargs)
        if {test}:
            tell(self)  # here
"""
    found = findings(project("", save), tmp_path, "SO105")
    assert [one.place.line for one in found] == [line_of(MODELS.replace("{save}", save), "# here")] * wanted


def test_the_ways_through_the_callback_are_told_of_once(tmp_path: Path) -> None:
    save = "\n    def save(self, *args, **kwargs):\n        super().save(*args, **kwargs)\n        tell(self)  # here\n"
    views = """
from django.urls import path
from .models import Berth


def add(request):
    Berth.objects.create(email=request.POST["email"], length=3)


def move(request, pk):
    berth = Berth.objects.get(pk=pk)
    berth.free = False
    berth.save()


urlpatterns = [path("add/", add), path("<int:pk>/move/", move)]
"""
    found = findings({**project("", save), "port/views.py": views}, tmp_path, "SO105", "SO301")
    loud = [(one.code, one.place.line) for one in found if one.severity != "note"]
    assert loud == [("SO105", line_of(MODELS.replace("{save}", save), "# here"))]


def test_an_event_of_sqlalchemy(tmp_path: Path) -> None:
    hooks = """
from sqlalchemy import event, inspect
from sqlalchemy.orm import DeclarativeBase, Mapped
from .mail import tell


class Base(DeclarativeBase):
    pass


class Berth(Base):
    __tablename__ = "berth"
    email: Mapped[str]
    length: Mapped[int]


@event.listens_for(Berth, "after_update")
def updated(mapper, connection, berth):
    if inspect(berth).attrs.length.history.has_changes():
        tell(berth)


@event.listens_for(Berth, "before_update")
def updating(mapper, connection, berth):
    tell(berth)  # here


@event.listens_for(Berth, "after_insert")
def inserted(mapper, connection, berth):
    tell(berth)
"""
    files = {"port/__init__.py": "", "port/mail.py": MAIL, "port/hooks.py": hooks}
    assert [one.place.line for one in findings(files, tmp_path, "SO105")] == [line_of(hooks, "# here")]


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(sends_on_every_save.RULE.doc)
    models = "from django.db import models\n\nclass Order(models.Model):\n    email = models.EmailField()\n"
    models += "    paid = models.BooleanField()\n"
    head = "from django.core.mail import send_mail\nfrom django.db.models.signals import post_save\n"
    head += "from django.dispatch import receiver\nfrom .models import Order\n\n"
    head += "def send_receipt(order):\n    send_mail('Receipt', 'x', None, [order.email])\n\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/receivers.py": head + given[name]}
        assert len(findings(files, tmp_path / name, "SO105")) == wanted, name
