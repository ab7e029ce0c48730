"""SO301: a form or serializer that makes a row with a unique value has reserved the mail that follows."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import findings

MODELS = """
from django.db import models


class Club(models.Model):
    name = models.CharField(max_length=9)
    email = models.EmailField(unique=True)
"""
HEAD = """
from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.core.mail import send_mail
from django.urls import path
from django.views.generic import CreateView, UpdateView
from rest_framework import generics, serializers
from .models import Club


class ClubForm(forms.ModelForm):
    class Meta:
        model = Club
        fields = ["name", "email"]


class NameForm(forms.ModelForm):
    class Meta:
        model = Club
        fields = ["id", "name"]


class WholeForm(forms.ModelForm):
    class Meta:
        model = Club
        fields = "__all__"


class OwnForm(forms.ModelForm):
    class Meta:
        model = Club
        fields = ("email",)

    def save(self, commit=True):
        club = super().save(commit=False)
        club.name = "x"
        club.save()
        return club


class Join(UserCreationForm):
    class Meta(UserCreationForm.Meta):
        fields = UserCreationForm.Meta.fields + ("email",)


class ClubSerializer(serializers.ModelSerializer):
    class Meta:
        model = Club
        fields = ["name", "email"]


def tell(club):
    send_mail("New", "text", None, [club.email])


"""
VIEW = """
def add(request):
    form = {form}
    if form.is_valid():
        club = {save}
        tell(club)


urlpatterns = [path("add/", add)]
"""
BASED = """
class Add({base}):
    model = Club
    form_class = ClubForm

    def form_valid(self, form):
        {body}


urlpatterns = [path("<int:pk>/", Add.as_view())]
"""
REST = """
class Add(generics.{base}):
    serializer_class = ClubSerializer
    queryset = Club.objects.all()

    def {hook}(self, serializer):
        {body}


urlpatterns = [path("<int:pk>/", Add.as_view())]
"""
CREATES = """
class Adding(serializers.ModelSerializer):
    class Meta:
        model = Club
        fields = {fields}

    def create(self, validated_data):
        club = Club.objects.create(**validated_data)
        tell(club)
        return club


class Add(generics.CreateAPIView):
    serializer_class = Adding
    queryset = Club.objects.all()


urlpatterns = [path("add/", Add.as_view())]
"""


def view(form: str, save: str = "form.save()") -> str:
    return VIEW.format(form=form, save=save)


SAVED = "form.save(commit=False)\n        club.save()"
HANDED_ON = "answer = super().form_valid(form)\n        tell(self.object)\n        return answer"
SILENT = {
    "a form without an instance": view("ClubForm(request.POST)"),
    "no data yet": view("ClubForm(request.POST or None, instance=None)"),
    "all fields": view("WholeForm(request.POST)"),
    "a save of its own": view("OwnForm(request.POST)"),
    "a user, whose name is unique": view("Join(request.POST)"),
    "saved in a second step": view("ClubForm(request.POST)", SAVED),
    "a view that creates": BASED.format(base="CreateView", body=HANDED_ON),
    "a view that creates by itself": BASED.format(base="CreateView", body=f"club = {SAVED}\n        tell(club)"),
    "a serializer": REST.format(base="CreateAPIView", hook="perform_create", body="tell(serializer.save())"),
    "a hook that asks the library": REST.format(
        base="CreateAPIView", hook="perform_create", body="super().perform_create(serializer)\n        tell(self)"
    ),
    "what a serializer is handed": CREATES.format(fields='["name", "email"]'),
}
FAULTY = {
    "no unique field": view("NameForm(request.POST)"),
    "a row that is there": view("ClubForm(request.POST, instance=request.club)"),
    "nothing written": view("ClubForm(request.POST)", "form.save(commit=False)"),
    "a view that changes": BASED.format(base="UpdateView", body=HANDED_ON),
    "a serializer that changes": REST.format(
        base="UpdateAPIView", hook="perform_update", body="tell(serializer.save())"
    ),
    "nothing unique in what a serializer is handed": CREATES.format(fields='["name"]'),
}


def project(text: str) -> dict[str, str]:
    return {"shop/__init__.py": "", "shop/models.py": MODELS, "shop/views.py": HEAD + text.lstrip("\n")}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_silent(text: str, tmp_path: Path) -> None:
    assert findings(project(text), tmp_path, "SO301", "SO302", "SO303") == []


@pytest.mark.parametrize("text", FAULTY.values(), ids=FAULTY)
def test_what_reserves_nothing(text: str, tmp_path: Path) -> None:
    assert [one.code for one in findings(project(text), tmp_path, "SO301", "SO302", "SO303")] == ["SO301"]
