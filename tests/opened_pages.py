"""What tests do and read on pages that a browser has opened."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

from contend.fabric import Fabric
from contend.report import Document

Opened = Callable[[Document], Page]


def search(page: Page, words: str) -> None:
    page.keyboard.press("/")
    page.keyboard.type(words)
    page.keyboard.press("Enter")


def title(page: Page) -> str:
    return page.locator("#panel h2").inner_text()


def click_at(page: Page, x: float, y: float, pane: int = 0) -> None:
    """Clicks where the drawing has a place, given in its own inches."""
    left, top = page.evaluate(
        """([pane, x, y]) => {
          const { x_range: xs, y_range: ys, inner_width: wide, inner_height: high } =
            explorer.canvas.panes[pane];
          const box = document.getElementById("drawing").getBoundingClientRect();
          // The panes share the drawing evenly.
          const left = box.left + pane * (box.width / 2);
          return [left + (x - xs.start) / (xs.end - xs.start) * wide,
                  box.top + (ys.end - y) / (ys.end - ys.start) * high];
        }""",
        [pane, x, y],
    )
    page.mouse.click(left, top)


def ends(fabric: Fabric, channel: int) -> list[str]:
    """Both ends of a channel, without the words that say what they are."""
    said = ('switch "', 'host "', '"')
    names = list(fabric.channel_ends(channel))
    for word in said:
        names = [name.replace(word, "") for name in names]
    return names


def cells(page: Page, caption: str) -> list[list[str]]:
    """The rows of the panel's table of that name."""
    table = page.locator("#panel table", has=page.locator("caption", has_text=caption)).first
    return [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]


def number(text: str) -> float:
    return float(text.replace(",", ""))
