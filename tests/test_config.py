from __future__ import annotations

import pytest

from sendonce.config import Assume, Settings, TemplatePolicy, find_config, load_config
from sendonce.errors import ConfigError
from sendonce.vocabulary import Claim, Invoke, Pack, Send


def test_the_nearest_file_upward_holds(tree):
    root = tree(
        {
            "pyproject.toml": "[tool.sendonce]\npedantic = true\n",
            "a/pyproject.toml": "[project]\nname = 'a'\n",
            "a/b/app.py": "",
            "c/sendonce.toml": "",
            "c/pyproject.toml": "[tool.sendonce]\n",
        }
    )
    assert find_config(root / "a" / "b") == root / "pyproject.toml"
    assert find_config(root / "a" / "b" / "app.py") == root / "pyproject.toml"
    assert find_config(root / "c") == root / "c" / "sendonce.toml"


def test_all_keys_are_read(tree):
    root = tree(
        {
            "sendonce.toml": """
select = ["SO2", "no-reservation"]
ignore = ["SO202"]
extend-select = ["SO301"]
exclude = ["legacy/"]
extend-exclude = ["*_pb2.py"]
rules = ["our-rules"]
fail-on = "error"
min-confidence = "low"
pedantic = true
baseline = "known.json"
[per-file-ignores]
"legacy/**" = ["SO3", "double-send"]
[templates."digest/*"]
repeatable = true
reason = "a digest says the same twice"
[templates."alarm.txt"]
ignore = ["SO301"]
reason = "rather twice than never"
[helpers]
send = ["shop.mail.deliver"]
defer = ["shop.db.later"]
reserve = [{ calls = ["shop.once.Claims().take"], win = "not_none" }]
[assume]
workers = 1
atomic_requests = false
redelivery = true
"""
        }
    )
    assert load_config(root / "sendonce.toml") == Settings(
        select=("SO2", "no-reservation"),
        ignore=("SO202",),
        extend_select=("SO301",),
        exclude=("legacy/",),
        extend_exclude=("*_pb2.py",),
        rules=(root / "our-rules",),
        fail_on="error",
        min_confidence="low",
        pedantic=True,
        baseline=root / "known.json",
        per_file_ignores=(("legacy/**", ("SO3", "double-send")),),
        templates=(
            ("alarm.txt", TemplatePolicy("rather twice than never", ignore=("SO301",))),
            ("digest/*", TemplatePolicy("a digest says the same twice", repeatable=True)),
        ),
        helpers=Pack(
            name=str(root / "sendonce.toml"),
            send=(
                Send(
                    calls=("shop.mail.deliver",),
                    template=("template", "template_name"),
                    template_id=("template_id",),
                    subject=("subject",),
                    recipient=("to", "recipient", "recipients", "recipient_list"),
                ),
            ),
            invoke=(Invoke(calls=("shop.db.later",), hop="defer", function=("|0",), decorator=True),),
            claim=(Claim(calls=("shop.once.Claims().take",), win="not_none", key=("key|0",)),),
        ),
        assume=Assume(workers=1, atomic_requests=False, redelivery=True),
        source=root / "sendonce.toml",
    )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("sendonce.toml", "selct = []", r"unknown key 'selct'; did you mean 'select'\?"),
        ("pyproject.toml", "[tool.sendonce]\nfailon = 'error'", r"'tool.sendonce.failon'; did you mean 'fail-on'\?"),
        ("sendonce.toml", "fail-on = 'error'\nfail_on = 'note'", "fail_on is there twice"),
        ("sendonce.toml", "per-file-ignores = ['SO1']", "per-file-ignores must be a table"),
        ("sendonce.toml", "per-file-ignores.'a b.py' = 'SO1'", r'per-file-ignores."a b.py" must be a list of texts'),
        ("sendonce.toml", "templates.digest.repeatable = true", "templates.digest needs the key 'reason'"),
        ("sendonce.toml", "templates.digest.reason = 'x'", "templates.digest decides nothing"),
        (
            "sendonce.toml",
            "templates.digest = {repeatable = true, reason = ' '}",
            "templates.digest.reason must be a text",
        ),
        (
            "pyproject.toml",
            "[tool.sendonce.templates.'digest/*']\nrepeatible = true\nreason = 'x'",
            r"""'tool.sendonce.templates."digest/\*".repeatible'; did you mean 'repeatable'\?""",
        ),
        ("sendonce.toml", "helpers.sends = ['a.b']", r"unknown key 'helpers.sends'; did you mean 'send'\?"),
        ("sendonce.toml", "helpers.send = 'a.b'", "helpers.send must be a list of dotted names and tables"),
        ("sendonce.toml", "helpers.send = ['a b']", r'helpers is wrong: send\[0\].calls\[0\]: "a b" is no shape'),
        (
            "sendonce.toml",
            "helpers.reserve = [{calls = ['a.b'], wins = 'truthy'}]",
            r'helpers is wrong: reserve\[0\].wins: unknown key; did you mean "win"\?',
        ),
        ("sendonce.toml", "helpers.defer = [{hop = 'defer'}]", r"defer\[0\]: missing key"),
        ("sendonce.toml", "baseline = ''", "baseline must be a text"),
        ("pyproject.toml", "[tool.sendonce.assume]\nworker = 1", r"'tool.sendonce.assume.worker'.*mean 'workers'\?"),
        ("sendonce.toml", "select = 'SO2'", "select must be a list of texts, not 'SO2'"),
        ("sendonce.toml", "select = [2]", "select must be a list of texts"),
        ("sendonce.toml", "fail-on = 'eror'", r"fail-on must be one of error, warning, note, not 'eror'.*'error'\?"),
        ("sendonce.toml", "min-confidence = 3", "min-confidence must be one of low, medium, high, not 3"),
        ("sendonce.toml", "pedantic = 1", "pedantic must be true or false"),
        ("sendonce.toml", "assume = 1", "assume must be a table"),
        ("sendonce.toml", "assume.workers = 0", "assume.workers must be a whole number from 1"),
        ("sendonce.toml", "assume.workers = true", "assume.workers must be a whole number from 1"),
        ("sendonce.toml", "select = [", "is not valid TOML"),
        ("sendonce.toml", "select = " + "[" * 5000 + "]" * 5000, "is nested too deeply"),
        ("pyproject.toml", "tool = {sendonce = 3}", "tool.sendonce must be a table"),
        ("pyproject.toml", "[tool.other]", r"has no \[tool.sendonce\] table"),
    ],
)
def test_faults_name_the_file_and_the_key(tree, name, text, said):
    file = tree({name: text}) / name
    with pytest.raises(ConfigError, match=said) as caught:
        load_config(file)
    assert str(file) in str(caught.value)


def test_a_file_that_is_not_text_is_named(tree):
    root = tree({"pyproject.toml": b"\xff\xfe"})
    with pytest.raises(ConfigError, match=r"pyproject\.toml is not valid TOML"):
        find_config(root)


def test_settled_assumptions_have_the_words_of_findings():
    assert Assume().settled() == {}
    assert Assume(workers=1, redelivery=True).settled() == {
        "more than one worker process": False,
        "the provider redelivers": True,
    }
    assert Assume(workers=2).settled() == {"more than one worker process": True}
