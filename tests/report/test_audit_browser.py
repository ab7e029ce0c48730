"""The page of an audit in a real browser, at three widths; skipped where no browser is installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from auditing import SHOP, audit_of
from sendonce.report import View, render_audit

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
QUIET = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")

PALE = """() => {
  const channel = (one) => one / 255 <= 0.03928 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4;
  const light = (rgb) => {
    const [red, green, blue] = rgb.match(/[\\d.]+/g).map(Number).map(channel);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (one) => {
    const color = one && getComputedStyle(one).backgroundColor;
    if (!one) return getComputedStyle(document.body).backgroundColor;
    return /, 0\\)$/.test(color) ? ground(one.parentElement) : color;
  };
  const ratio = (one) => {
    const [a, b] = [light(getComputedStyle(one).color), light(ground(one))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const written = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  return [...document.querySelectorAll("main *, header *, footer *")]
    .filter((one) => !one.closest("svg") && written(one) && ratio(one) < 4.5)
    .map((one) => one.outerHTML.slice(0, 80));
}"""
"""The elements whose text has less contrast to what is behind it than WCAG 2 asks for (AA, 4.5 to 1)."""


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    audit = audit_of(SHOP, folder / "tree")
    file = folder / "audit.html"
    file.write_text(render_audit("html", audit, View(lambda path: ())), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield running
        running.close()


def opened(browser: Any, file: Path, told: list[str], **options: Any) -> Any:
    """The page, with what it says on the console in `told`."""
    page = browser.new_page(**options)
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.goto(file.as_uri())
    return page


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_says_nothing_on_the_console(browser: Any, page_file: Path, width: int, scheme: str) -> None:
    told: list[str] = []
    page = opened(browser, page_file, told, viewport={"width": width, "height": 800}, color_scheme=scheme)
    wide = "[...document.querySelectorAll('main *')].filter(one => !one.closest('.scroll') &&"
    wide += " one.getBoundingClientRect().right > innerWidth + 1).map(one => one.outerHTML.slice(0, 80))"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(wide) == []
    assert told == []


def test_the_filter_shows_what_fits(browser: Any, page_file: Path) -> None:
    page = opened(browser, page_file, [], viewport={"width": 1280, "height": 800})
    page.fill("#f-text", "receipt.txt")
    assert page.locator(".mail-page:visible").count() == 1
    page.fill("#f-text", "")
    page.select_option("#f-kind", "webhook")
    assert page.locator(".mail-page:visible").all_inner_texts()[0].startswith("mails/receipt.txt")
    page.select_option("#f-kind", "")
    page.select_option("#f-severity", "none")
    assert "of 4" in page.inner_text("#f-count")


def test_all_is_there_with_scripts_off(browser: Any, page_file: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(page_file.as_uri())
    assert page.locator(".mail-page").count() == 4
    assert not page.locator("#filter").is_visible()
    assert page.locator("svg.picture").count() == 4
    context.close()


def test_it_can_be_reached_by_keyboard(browser: Any, page_file: Path) -> None:
    page = opened(browser, page_file, [])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    reached = "[...document.querySelectorAll('.scroll')].every(one => one.tabIndex === 0 && one.ariaLabel)"
    assert page.evaluate(reached)


def test_text_has_contrast(browser: Any, page_file: Path) -> None:
    for scheme in ("light", "dark"):
        page = opened(browser, page_file, [], color_scheme=scheme)
        assert page.evaluate(PALE) == []
