"""Pages in a real browser: headless Chromium, where it and Playwright are installed."""

import shutil
from contextlib import contextmanager

import pytest
from support.builders import budget, cluster, group, node, pod
from support.devices import claim, device_class, gpu, slice_on, user

from kubestow.framework.build import build_cluster
from kubestow.instances import catalogue
from kubestow.instances.manifests import load_snapshot
from kubestow.models.kube_version import KubeVersion
from kubestow.models.search_point import SearchPoint
from kubestow.models.study import StudiedInstance, StudiedTier, Study
from kubestow.reports.html.page import round_page, simulation_page, study_page
from kubestow.reports.html.reading import Rounds
from kubestow.reports.html.timeline import timelines
from kubestow.solver.api import SolveOptions, solve_greedy
from kubestow.solver.compare import compare, compared
from kubestow.solver.plans.reopen import reopen
from kubestow.solver.upgrade import upgrade

from .test_timeline import STORY, log, run, simulated

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
HOSTILE = "<script>document.title = 'seized'</script>"


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with (
        sync_api.sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser,
    ):
        yield browser


@contextmanager
def opened(browser, path, address="", *, viewport=DESKTOP, **options):
    """Open a page; afterwards it has asked for nothing but itself, and its console is silent."""
    context = browser.new_context(viewport=viewport, **options)
    page = context.new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url.partition("#")[0]))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"{path.as_uri()}{address}")
    settled(page)
    yield page
    context.close()
    assert asked == [path.as_uri()]
    assert said == []


def settled(page):
    """Wait until what was asked for is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


NODES = ("n1", "n2", "n10")
OBJECTS = [
    *(node(f"n{k}", zone=zone, cpu="2").label(rack=f"r{k}") for k, zone in ((1, "a"), (2, "a"), (10, "b"))),
    pod("old", namespace="shop").label(app="db").req(cpu="2").priority(0).on("n1"),
    pod(HOSTILE, namespace="shop").req(cpu="1").priority(0).on("n2"),
    pod("web", namespace="shop").req(cpu="2").priority(50).select({"rack": "r1"}),
    pod("api", namespace="edge")
    .label(app="api")
    .req(cpu="1")
    .priority(40)
    .spread("zone", max_skew=1)
    .select({"rack": "r10"}),
    pod("big", namespace="edge").req(cpu="8").priority(30),
    pod("m", namespace="edge").req(cpu="1").priority(20).select({"rack": "r10"}).member("gang"),
    group("gang", "rack", gang=1, namespace="edge"),
    budget("keep", allowed=0, namespace="shop", app="db"),
]


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """A comparison in which greedy is as good as can be: both plans are the baseline's."""
    snapshot = cluster(*OBJECTS)
    plan = solve_greedy(snapshot)
    return written(tmp_path_factory, snapshot, compared(plan, plan), "rack")


@pytest.fixture(scope="module")
def dead_end_page(browser, tmp_path_factory):
    """A comparison in which greedy falls behind."""
    snapshot = load_snapshot(catalogue.locate("zone-spread-dead-end"))
    file = written(tmp_path_factory, snapshot, compare(snapshot, SolveOptions(workers=1)))
    with opened(browser, file) as page:
        yield page


def written(tmp_path_factory, snapshot, comparison, key=None):
    index = build_cluster(snapshot)
    plans = {"optimal": comparison.optimal, "greedy": comparison.greedy}
    solved = {name: reopen(index, plan) for name, plan in plans.items()}
    file = tmp_path_factory.mktemp("pages") / "round.html"
    file.write_text(round_page(Rounds(plans, comparison), solved, key))
    return file


def rows(page, table):
    return page.locator(f'[data-table="{table}"] tbody tr:visible')


def pods_shown(page):
    settled(page)
    return sorted(
        text.partition("/")[2] for text in page.locator('[data-table="pods"] tbody th').all_inner_texts()
    )


def test_a_page_is_drawn_whole_and_a_hostile_name_is_text(browser, page_file):
    with opened(browser, page_file) as page:
        assert page.locator(".tile b").all_inner_texts() == [*NODES]
        assert pods_shown(page) == sorted(["old", HOSTILE, "web", "api", "big", "m"])
        assert page.title() != "seized"
        assert rows(page, "evictions").count() == 1
        assert page.locator("#spread, #groups, #utilisation").count() == 3
        page.locator("#devices").wait_for(state="hidden")


@pytest.mark.parametrize(
    "query, namespace, show, found, bright",
    [
        pytest.param("", "", "", ["api", "big", "m", "old", HOSTILE, "web"], None, id="nothing asked"),
        pytest.param("web", "", "", ["web"], ["n1"], id="a name"),
        pytest.param("WEB", "", "", ["web"], ["n1"], id="a name in capitals"),
        pytest.param("node:n1", "", "", ["old", "web"], ["n1"], id="one node, although n10 begins with n1"),
        pytest.param("ns:shop", "", "", ["old", HOSTILE, "web"], ["n1", "n2"], id="a namespace"),
        pytest.param("group:gang", "", "", ["m"], ["n10"], id="a group"),
        pytest.param('reason:"insufficient cpu"', "", "", ["big"], [], id="a reason of two words"),
        pytest.param("ns:edge node:n10", "", "", ["api", "m"], ["n10"], id="two terms hold together"),
        pytest.param("", "shop", "", ["old", HOSTILE, "web"], ["n1", "n2"], id="a chosen namespace"),
        pytest.param("", "", "evicted greedy", ["old"], ["n1"], id="evicted pods"),
        pytest.param("", "", "waits greedy", ["big"], [], id="waiting pods"),
        pytest.param("", "", "differ", [], [], id="no pod that plans treat differently"),
        pytest.param("<script>", "", "", [HOSTILE], ["n2"], id="what looks like markup"),
        pytest.param("nothing-like-it", "", "", [], [], id="nothing found"),
    ],
)
def test_the_filter_finds(query, namespace, show, found, bright, browser_page):
    browser_page.locator("#query").fill(query)
    browser_page.locator("#namespace").select_option(namespace)
    browser_page.locator("#show").select_option(show)
    assert pods_shown(browser_page) == sorted(found)
    dim = browser_page.locator(".tile.dim b").all_inner_texts()
    assert set(dim) == ({*NODES} - {*bright} if bright is not None else set())


@pytest.fixture(scope="module")
def browser_page(browser, page_file):
    with opened(browser, page_file) as page:
        yield page


@pytest.mark.parametrize(
    "show, found",
    [
        pytest.param("waits greedy", {"web-5", "web-6"}, id="pods that greedy strands"),
        pytest.param("waits optimal", set(), id="pods that the best plan strands"),
        pytest.param("evicted greedy", {"batch-0", "batch-1", "batch-2"}, id="pods that greedy evicts"),
    ],
)
def test_plans_are_told_apart(show, found, dead_end_page):
    dead_end_page.locator("#show").select_option(show)
    assert set(pods_shown(dead_end_page)) == found


def test_where_plans_differ_is_shown_first(dead_end_page):
    dead_end_page.locator("#show").select_option("differ")
    assert {"web-5", "web-6"} <= set(pods_shown(dead_end_page))
    assert "agent-0" not in pods_shown(dead_end_page)
    assert dead_end_page.locator(".conclusion").inner_text().startswith("Greedy strands 2 pods")
    assert dead_end_page.locator("tr.first th").inner_text().startswith("scheduled[priority=100]")


def test_a_filter_and_its_address_are_one(browser, page_file):
    with opened(browser, page_file, "#q=node%3An2&ns=shop") as page:
        assert pods_shown(page) == [HOSTILE]
        assert page.locator("#query").input_value() == "node:n2"
        assert "1 of 6 pods" in page.locator("#count").inner_text()
        page.locator("#clear").click()
        assert len(pods_shown(page)) == 6
        assert page.evaluate("location.hash") == ""


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_deep_link_opens_a_node(viewport, browser, page_file):
    with opened(browser, page_file, "#node=n1", viewport=viewport) as page:
        assert page.locator("#detail-title").inner_text() == "Node n1"
        words = page.locator("#detail-body").inner_text()
        assert "shop/old evicted" in words
        assert "shop/web placed" in words
        assert page.locator(".tile.current b").inner_text() == "n1"
        page.go_back()


def test_a_deep_link_opens_a_pod_and_links_lead_on(browser, page_file):
    with opened(browser, page_file, "#pod=edge/big") as page:
        words = page.locator("#detail-body").inner_text()
        assert "0/3 nodes are available" in words
        page.locator('[data-table="evictions"] a', has_text="shop/old").click()
        assert page.locator("#detail-title").inner_text() == "Pod shop/old"
        assert "default/keep" not in page.locator("#detail-body").inner_text()
        assert "shop/keep" in page.locator("#detail-body").inner_text()
        page.go_back()
        settled(page)
        assert page.locator("#detail-title").inner_text() == "Pod edge/big"


def test_what_is_not_there_is_told(browser, page_file):
    with opened(browser, page_file, "#node=gone") as page:
        assert "no such thing" in page.locator("#detail-body").inner_text()


def focused(page):
    return page.evaluate(
        "document.activeElement.querySelector('b')?.textContent ?? document.activeElement.id"
    )


def test_the_keyboard_reaches_everything(browser, page_file):
    with opened(browser, page_file) as page:
        page.keyboard.press("/")
        assert focused(page) == "query"
        for _ in range(60):
            page.keyboard.press("Tab")
            if focused(page) == "n1":
                break
        assert focused(page) == "n1"
        page.keyboard.press("ArrowRight")
        page.keyboard.press("End")
        assert focused(page) == "n10"
        page.keyboard.press("ArrowLeft")
        assert focused(page) == "n2"
        page.keyboard.press("Enter")
        settled(page)
        assert focused(page) == "detail-title"
        assert page.locator("#detail-title").inner_text() == "Node n2"
        page.keyboard.press("Escape")
        settled(page)
        assert page.locator("#detail").is_hidden()
        assert focused(page) == "n2"


def test_every_control_has_a_name_for_screen_readers(browser, page_file):
    with opened(browser, page_file, "#node=n1") as page:
        assert page.evaluate(NAMELESS) == []
        spoken = page.locator(".tile", has_text="n10").get_attribute("aria-label")
        assert spoken.startswith("node n10; optimal: ")
        tables = page.locator("th:not([scope])")
        assert tables.count() == 0


NAMELESS = """() => [...document.querySelectorAll(
  "a, button, input, select, summary, nav, aside, section, [role=region], [role=group], [role=img]",
)].filter((item) => {
  const own = item.matches("a, button, summary") && item.textContent.trim();
  const other = document.getElementById(item.getAttribute("aria-labelledby"))?.textContent;
  return !(own || other || item.getAttribute("aria-label") || item.labels?.length);
}).map((item) => item.outerHTML)"""
"""What can be used or is a place of its own, and has no name."""


@pytest.mark.parametrize(
    "viewport, scheme", [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop, light", "phone, dark"]
)
def test_words_can_be_read_and_nothing_hangs_over(viewport, scheme, browser, page_file):
    with opened(browser, page_file, viewport=viewport, color_scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate(CONTRAST) == []


CONTRAST = """() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => numbers(colour).slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const ground = (item) => {
    for (; item; item = item.parentElement) {
      const colour = getComputedStyle(item).backgroundColor;
      if ((numbers(colour)[3] ?? 1) > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const bad = [];
  for (const item of document.querySelectorAll("body *")) {
    const own = [...item.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (!own || !item.offsetParent || ["SCRIPT", "OPTION"].includes(item.tagName)) continue;
    const [a, b] = [light(getComputedStyle(item).color), light(ground(item))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${item.tagName} ${item.className} ${item.textContent} ${ratio.toFixed(2)}`);
  }
  return bad;
}"""
"""Texts whose contrast with what is behind them is below WCAG's 4.5."""


def test_why_a_pod_waits_stands_beside_the_reason_and_is_found(browser, tmp_path):
    snapshot = load_snapshot(catalogue.path("why-four-wait"))
    plan = solve_greedy(snapshot)
    whys = {"shop/render": f"shop/render cannot run by any plan: {HOSTILE}"}
    path = tmp_path / "why.html"
    path.write_text(round_page(Rounds({"greedy": plan}), whys=whys), encoding="utf-8")
    with opened(browser, path, '#q=reason:"any plan"') as page:
        assert whys["shop/render"] in page.inner_text("#left-out")
        assert "shop/render" in page.inner_text('[data-table="pods"]')
        assert "shop/train-0" not in page.inner_text('[data-table="pods"]')
    with opened(browser, path, "#pod=shop/render") as page:
        assert whys["shop/render"] in page.inner_text("#detail")


def test_a_page_without_the_instance_is_whole(browser, tmp_path):
    plan = solve_greedy(cluster(*OBJECTS))
    file = tmp_path / "alone.html"
    file.write_text(round_page(Rounds({"greedy": plan})))
    with opened(browser, file, "#node=n1") as page:
        assert pods_shown(page) == sorted(["old", "web", "api", "big", "m"])
        assert "shop/old evicted" in page.locator("#detail-body").inner_text()
        assert page.locator("#resource").is_hidden()


def test_a_node_tells_of_its_devices(browser, tmp_path):
    snapshot = cluster(
        node("a"), device_class(), slice_on("a", gpu("g0"), gpu("g1")), claim("c"), user("p", "c")
    )
    plan = solve_greedy(snapshot)
    file = tmp_path / "devices.html"
    file.write_text(round_page(Rounds({"greedy": plan}), {"greedy": reopen(build_cluster(snapshot), plan)}))
    with opened(browser, file, "#node=a") as page:
        words = page.locator("#detail-body").inner_text()
        assert words.count("taken now by default/p") == 1
        assert words.count("· free") == 1
        assert rows(page, "devices").count() == 2
        assert rows(page, "claims").count() == 1


def test_a_large_cluster_is_drawn_in_parts(browser, tmp_path):
    nodes = [node(f"n{k}", zone=f"z{k % 3}") for k in range(1300)]
    snapshot = cluster(*nodes, pod("p").select({"zone": "none"}).req(cpu="1").times(250))
    plan = solve_greedy(snapshot)
    file = tmp_path / "large.html"
    file.write_text(round_page(Rounds({"greedy": plan}), {"greedy": reopen(build_cluster(snapshot), plan)}))
    with opened(browser, file) as page:
        assert page.locator(".tile").count() == 0
        assert page.locator("#map > details").count() == 3
        assert rows(page, "pods").count() == 100
        page.get_by_role("button", name="Show 100 more of 150").click()
        assert rows(page, "pods").count() == 200
        page.evaluate("location.hash = '#node=n4'")
        settled(page)
        assert page.locator(".tile.current").text_content().startswith("n4")
        assert 0 < page.locator(".tile").count() < 500


def test_a_study_is_filtered(browser, tmp_path):
    tier = StudiedTier(name="scheduled", sense="max", optimal=3, bound=4, gap=1, proven=False, greedy=2)
    open_ = StudiedInstance.failed("monday", "").model_copy(
        update={"status": "FEASIBLE", "tiers": (tier,), "first_difference": "scheduled", "error": None}
    )
    file = tmp_path / "study.html"
    file.write_text(study_page(Study(instances=(open_, StudiedInstance.failed("tuesday", "no such file")))))
    with opened(browser, file) as page:
        assert rows(page, "instances").count() == 2
        page.locator("#show").select_option("failed")
        settled(page)
        assert "no such file" in rows(page, "instances").inner_text()
        page.locator("#show").select_option("differs")
        settled(page)
        cells = rows(page, "instances").locator("td").all_inner_texts()
        assert cells[3:8] == ["scheduled", "3", "2", "4", "1"]


def test_two_releases_stand_beside_each_other(browser, tmp_path):
    found = upgrade(cluster(*OBJECTS, release="1.34"), KubeVersion.V1_36)
    plans = {"1.34": found.before, "1.36": found.after}
    solved = {
        version: reopen(build_cluster(cluster(*OBJECTS, release=version)), plan)
        for version, plan in plans.items()
    }
    file = tmp_path / "upgrade.html"
    file.write_text(round_page(Rounds(plans, upgrade=found), solved))
    with opened(browser, file) as page:
        assert page.locator(".headlines h2").all_inner_texts() == ["1.34", "1.36"]
        page.locator("#show").select_option("waits 1.36")
        assert pods_shown(page) == ["big"]
        assert page.locator("#spread").count() == 0


def test_a_search_has_its_charts_and_the_same_as_a_table(browser, tmp_path):
    points = [("a", 0.25, 3, 9), ("a", 1.5, 4, 9), ("a", 1.5, 5, 5), ("b", 1.5, 7, None), ("b", 2.0, 4, 0)]
    plan = solve_greedy(cluster(*OBJECTS))
    tier = plan.tiers[0]
    stats = plan.stats.model_copy(
        update={"progress": tuple(SearchPoint(seconds=s, tier=t, value=v, bound=b) for t, s, v, b in points)}
    )
    tiers = tuple(tier.model_copy(update={"name": name}) for name in "ab")
    file = tmp_path / "searched.html"
    found = plan.model_copy(update={"scheduler": "optimal", "stats": stats, "tiers": tiers})
    file.write_text(round_page(Rounds({"optimal": found})))
    with opened(browser, file, viewport=PHONE) as page:
        assert page.locator("#progress canvas").count() == 2
        spoken = [item.get_attribute("aria-label") for item in page.locator("#progress [role=img]").all()]
        assert spoken == [
            "a over 1.5 s: best plan 3 at first, 5 at the end; bound 9 at first, 5 at the end",
            "b over 2 s: best plan 7 at first, 4 at the end; bound none at first, 0 at the end",
        ]
        page.locator("#progress summary").click()
        words = [row.locator("th, td").all_inner_texts() for row in rows(page, "progress").all()]
        assert words == [
            ["a", "0.25", "3", "9"],
            ["a", "1.5", "4", "9"],
            ["a", "1.5", "5", "5"],
            ["b", "1.5", "7", "none"],
            ["b", "2", "4", "0"],
        ]
        assert page.evaluate(CONTRAST) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_simulation_has_its_charts(browser, tmp_path):
    document = simulated(greedy=run(created=2))
    file = tmp_path / "simulation.html"
    file.write_text(simulation_page(document, timelines(document, "log", log(*STORY))))
    with opened(browser, file, viewport=PHONE) as page:
        assert page.locator("canvas").count() == 5
        spoken = page.locator("#charts [role=img]").first.get_attribute("aria-label")
        assert spoken == "pods waiting over time: greedy 2 at most, 0 at the end"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
