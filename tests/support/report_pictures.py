"""The pictures of docs/report.md, taken anew by `make report-pictures` with an installed Chromium."""

import shutil
import tempfile
from io import BytesIO
from pathlib import Path

from kubestow.framework.build import build_cluster
from kubestow.instances import catalogue
from kubestow.instances.generated import packing
from kubestow.instances.manifests import load_snapshot, snapshot_of
from kubestow.reports.html.page import round_page
from kubestow.reports.html.reading import Rounds
from kubestow.solver.compare import compare
from kubestow.solver.options import SolveOptions
from kubestow.solver.plans.reopen import reopen

from .paths import ROOT

INSTANCE = "zone-spread-dead-end"
SEARCHED = "packing"
IMAGES = ROOT / "docs" / "img"
COLOURS = 96
"""So few keep a picture of a page below 60 kB, and nobody sees the difference."""


def main():
    from PIL import Image
    from playwright.sync_api import sync_playwright

    pages = {
        INSTANCE: page_of(load_snapshot(catalogue.locate(INSTANCE)), INSTANCE, 60),
        SEARCHED: page_of(snapshot_of(packing(16, 8, 3, 1.0, 1)), SEARCHED, 12),
    }
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for name, text in pages.items():
            (Path(folder) / f"{name}.html").write_text(text, encoding="utf-8")
        with playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        ) as browser:
            for name, size, scheme, address, part in (
                ("report", (1280, 1130), "light", f"{INSTANCE}.html", None),
                ("report-phone", (390, 780), "dark", f"{INSTANCE}.html#node=c-2", None),
                ("report-search", (1000, 800), "light", f"{SEARCHED}.html", "#progress"),
            ):
                context = browser.new_context(
                    viewport={"width": size[0], "height": size[1]},
                    color_scheme=scheme,
                    reduced_motion="reduce",
                )
                page = context.new_page()
                page.goto(f"{Path(folder).as_uri()}/{address}")
                page.locator(".tile").first.wait_for(state="attached")
                page.wait_for_load_state("networkidle")
                taken = page.screenshot() if part is None else page.locator(part).screenshot()
                image = Image.open(BytesIO(taken)).convert("RGB").quantize(COLOURS)
                image.save(IMAGES / f"{name}.png", optimize=True)
                context.close()


def page_of(snapshot, name, seconds):
    """Return the page of a comparison that took at most so long."""
    comparison = compare(snapshot, SolveOptions(time_limit=seconds))
    plans = {"optimal": comparison.optimal, "greedy": comparison.greedy}
    index = build_cluster(snapshot)
    rounds = Rounds(
        {by: plan.model_copy(update={"instance": name}) for by, plan in plans.items()}, comparison
    )
    return round_page(rounds, {by: reopen(index, plan) for by, plan in plans.items()})


if __name__ == "__main__":
    main()
