"""Pages in a real browser, which must say nothing of errors and ask for no other file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import contend
from contend.fabric import Fabric
from contend.report import Document


@pytest.fixture(scope="module")
def browser(require_program: Callable[[str], str]) -> Iterator[Browser]:
    chromium = require_program("chromium")
    with sync_playwright() as library:
        browser = library.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Callable[[Document], Page]]:
    """Opens a document's page; it says nothing on the console, and asks for nothing else."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on("dialog", lambda dialog: said.append(f"error: dialog {dialog.message}"))
    page.on("request", lambda request: asked.append(request.url))

    def open_page(document: Document) -> Page:
        path = tmp_path / "page.html"
        document.draw(path)
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready]")
        return page

    yield open_page
    assert not [line for line in said if line.startswith(("error", "warning"))]
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked)
    page.close()


@pytest.fixture(scope="module")
def routed() -> Fabric:
    """Four leaves of four hosts below two switches, by two cables each."""
    return contend.load("fig1", route="minhop")
