"""One bad file never stops a run, and is always named: the whole program, nothing replaced."""

from __future__ import annotations

import json

import pytest

MAIL = "from django.core.mail import send_mail\n\n\ndef notify(user):\n    send_mail('Hi', 'x', None, [user.email])\n"

BAD = {
    "syntax.py": (MAIL + "x = = send_mail\n", 6),
    "python2.py": (MAIL + "print 'send_mail'\n", 6),
    "binary.py": (b"\x7fELF\x00\x01 send_mail \x00\xff django.core.mail", None),
    "encoding.py": (b"# coding: utf-8\nfrom django.core.mail import send_mail  # caf\xe9\n", 2),
    "codec.py": (b"# coding: klingon\nfrom django.core.mail import send_mail\n", None),
    "deep.py": (MAIL + "x = " + "(" * 5000 + ")" * 5000 + "\nsend_mail()\n", None),
    "cut.py": (MAIL + "text = '''never ends\n", None),
}


def run(cli, root, *options):
    return cli("check", "--isolated", "--no-cache", "--output-format", "json", *options, root)


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_bad_file_is_named_beside_a_good_one(cli, tree, name):
    content, line = BAD[name]
    root = tree({name: content, "good.py": MAIL})
    result = run(cli, root, "--exit-zero")
    document = json.loads(result.out)
    assert result.code == 0
    (error,) = document["errors"]
    assert error["path"] == name
    assert line is None or error["line"] == line
    assert f"sendonce: {name}:" in result.err
    assert document["stats"]["files"] == 2


def test_all_bad_files_together(cli, tree):
    root = tree({**{name: content for name, (content, _) in BAD.items()}, "good.py": MAIL})
    (root / "loop.py").symlink_to(root / "loop.py")
    result = run(cli, root, "--exit-zero", "--strict")
    assert result.code == 2
    assert [row["path"] for row in json.loads(result.out)["errors"]] == sorted([*BAD, "loop.py"])


def test_odd_but_valid_files_are_read(cli, tree):
    root = tree(
        {
            "empty.py": "",
            "bom.py": b"\xef\xbb\xbf" + MAIL.encode(),
            "crlf.py": MAIL.replace("\n", "\r\n"),
            "latin.py": b"# -*- coding: latin-1 -*-\nname = 'caf\xe9'\n" + MAIL.encode(),
            "formfeed.py": "\x0c" + MAIL,
            "no_end.py": MAIL + "x = 1",
            "new_syntax.py": MAIL + "type Mail[T] = list[T]\nx = f'{f'{1}'}'\n",
        }
    )
    result = run(cli, root, "--exit-zero")
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out)["errors"] == []
