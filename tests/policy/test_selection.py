from __future__ import annotations

from pathlib import Path

import pytest

from examples import RULES
from sendonce.config import Settings
from sendonce.errors import ConfigError
from sendonce.policy import selected_codes

ALL = {"SO101", "SO201", "SO202", "SO301"}


@pytest.mark.parametrize(
    ("settings", "codes"),
    [
        (Settings(), ALL),
        (Settings(select=("ALL",)), ALL),
        (Settings(select=("SO2",)), {"SO201", "SO202"}),
        (Settings(select=("so2",)), {"SO201", "SO202"}),
        (Settings(select=("SO201", "no-reservation")), {"SO201", "SO301"}),
        (Settings(select=("SO201",), extend_select=("SO1",)), {"SO101", "SO201"}),
        (Settings(extend_select=("SO1",)), ALL),
        (Settings(ignore=("SO2",)), {"SO101", "SO301"}),
        (Settings(ignore=("send-in-transaction",)), ALL - {"SO202"}),
        (Settings(select=("SO201",), ignore=("SO2",)), {"SO201"}),
        (Settings(select=("SO2",), ignore=("SO2",)), set()),
        (Settings(ignore=("SO2",), extend_select=("SO202",)), ALL - {"SO201"}),
    ],
)
def test_codes_prefixes_and_names(settings, codes):
    assert selected_codes(settings, RULES) == codes


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (Settings(select=("SO21",)), r"--select: no rule has the code or name 'SO21'; did you mean 'SO201'\?"),
        (Settings(ignore=("enqueue-in-transactions",)), r"--ignore: .*did you mean 'enqueue-in-transaction'\?"),
        (
            Settings(ignore=("E501",), source=Path("x/pyproject.toml")),
            r"x/pyproject.toml: tool.sendonce.ignore: no rule has the code or name 'E501'",
        ),
        (
            Settings(select=("E501",), source=Path("x/sendonce.toml"), options=frozenset({"select"})),
            r"^--select: no rule",
        ),
    ],
)
def test_an_unknown_word_is_named_with_its_origin(settings, said):
    with pytest.raises(ConfigError, match=said):
        selected_codes(settings, RULES)
