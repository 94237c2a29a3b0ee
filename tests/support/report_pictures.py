"""The pictures of docs/report.md, taken anew by `make report-pictures` with an installed Chromium."""

import shutil
import tempfile
from io import BytesIO
from pathlib import Path

from kubestow.framework.build import build_cluster
from kubestow.instances import catalogue
from kubestow.instances.manifests import load_snapshot
from kubestow.reports.html.page import round_page
from kubestow.reports.html.reading import Rounds
from kubestow.solver.compare import compare
from kubestow.solver.plans.reopen import reopen

from .paths import ROOT

INSTANCE = "zone-spread-dead-end"
IMAGES = ROOT / "docs" / "img"
COLOURS = 96
"""So few keep a picture of a page below 60 kB, and nobody sees the difference."""


def main():
    from PIL import Image
    from playwright.sync_api import sync_playwright

    snapshot = load_snapshot(catalogue.locate(INSTANCE))
    comparison = compare(snapshot)
    plans = {"optimal": comparison.optimal, "greedy": comparison.greedy}
    index = build_cluster(snapshot)
    rounds = Rounds(
        {name: plan.model_copy(update={"instance": INSTANCE}) for name, plan in plans.items()}, comparison
    )
    text = round_page(rounds, {name: reopen(index, plan) for name, plan in plans.items()})
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "report.html"
        file.write_text(text, encoding="utf-8")
        with playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        ) as browser:
            for name, size, scheme, address in (
                ("report", (1280, 1130), "light", ""),
                ("report-phone", (390, 780), "dark", "#node=c-2"),
            ):
                context = browser.new_context(
                    viewport={"width": size[0], "height": size[1]},
                    color_scheme=scheme,
                    reduced_motion="reduce",
                )
                page = context.new_page()
                page.goto(f"{file.as_uri()}{address}")
                page.locator(".tile").first.wait_for(state="attached")
                page.wait_for_load_state("networkidle")
                image = Image.open(BytesIO(page.screenshot())).convert("RGB").quantize(COLOURS)
                image.save(IMAGES / f"{name}.png", optimize=True)
                context.close()


if __name__ == "__main__":
    main()
