"""One Chromium for all tests of a process that open a page; without one they are left out."""

import shutil

import pytest

CHROMIUM = next(
    (c for name in ("chromium", "chromium-browser", "google-chrome") if (c := shutil.which(name))),
    None,
)
ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--disable-component-update",
    "--no-first-run",
    "--disable-default-apps",
    "--disable-extensions",
]


@pytest.fixture(scope="session")
def chromium():
    """The browser; Playwright allows one at a time, so nobody starts another."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: make test-install"
    )
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield browser
        browser.close()


def mark_browser_tests(items):
    """Whatever opens a page needs a Chromium, and nothing else does."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
            if CHROMIUM is None:
                item.add_marker(
                    pytest.mark.skip(reason="no Chromium here: apt-get install chromium")
                )
