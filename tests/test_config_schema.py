"""The published JSON Schema of the configuration says what the reader says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jsonschema
import pytest

from sendonce.config import load_config
from sendonce.config.keys import KEYS, schema
from sendonce.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PUBLISHED = Path(__file__).resolve().parents[1] / "docs" / "schemas" / "configuration.json"

VALID = [
    "",
    "select = ['SO2', 'no-reservation']\nignore = ['SO202']\nextend-select = []\n",
    "exclude = ['legacy/']\nextend_exclude = ['x']\nrules = ['packs']\nbaseline = 'known.json'\n",
    "fail-on = 'note'\nmin-confidence = 'low'\npedantic = true\n",
    "per-file-ignores.'a/*.py' = ['SO1']\n",
    "templates.'digest/*' = {repeatable = true, reason = 'r'}\ntemplates.x = {ignore = ['SO1'], reason = 'r'}\n",
    "helpers.send = ['a.b', {calls = ['a.c'], template = ['name|0'], internal = true}]\n",
    "helpers.defer = ['a.b']\nhelpers.reserve = ['a.B().take', {calls = ['a.c'], win = 'rows', expires = 60}]\n",
    "assume = {workers = 1, atomic_requests = true, redelivery = false}\n",
]
INVALID = [
    "selct = []\n",
    "select = 'SO2'\n",
    "select = ['']\n",
    "fail-on = 'fatal'\n",
    "pedantic = 1\n",
    "baseline = ' '\n",
    "per-file-ignores = ['SO1']\n",
    "templates.x = {repeatable = true}\n",
    "templates.x = {repeatable = true, reason = ' '}\n",
    "templates.x = {reason = 'r', for = 'ever'}\n",
    "helpers.send = 'a.b'\n",
    "helpers.send = [{call = ['a.b']}]\n",
    "helpers.reserve = [{calls = ['a.b'], win = 'perhaps'}]\n",
    "helpers.open = ['a.b']\n",
    "assume = {workers = 0}\n",
    "assume = {workers = 1.5}\n",
    "assume = {wokers = 1}\n",
]


@pytest.fixture(scope="module")
def validator():
    kind = jsonschema.Draft202012Validator
    kind.check_schema(schema())
    return kind(schema())


@pytest.mark.parametrize("text", VALID)
def test_what_is_read_is_valid(validator, tmp_path, text):
    (tmp_path / "sendonce.toml").write_text(text)
    load_config(tmp_path / "sendonce.toml")
    validator.validate(tomllib.loads(text))


@pytest.mark.parametrize("text", INVALID)
def test_what_is_refused_is_invalid(validator, tmp_path, text):
    (tmp_path / "sendonce.toml").write_text(text)
    with pytest.raises(ConfigError):
        load_config(tmp_path / "sendonce.toml")
    assert not validator.is_valid(tomllib.loads(text))


@pytest.mark.skipif(not PUBLISHED.is_file(), reason="needs the checkout")
def test_it_is_published_with_a_word_on_every_key():
    document = json.loads(PUBLISHED.read_text())
    assert document == json.loads(json.dumps(schema()))
    for name in KEYS:
        assert document["properties"][name]["description"]
