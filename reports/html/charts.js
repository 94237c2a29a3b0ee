"use strict";
// Steps over seconds, drawn by uPlot: a chart for each item, drawn anew where its width or the colours change.
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const WHOLE = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

/**
 * Draw charts into a container. Items are {name, spoken, lines: [{label, colour, dash}], values}, values the
 * seconds and then a list for each line; `range` says from the least and the greatest number what an axis shows.
 */
function charted(container, items, range) {
  const charts = [];
  function draw() {
    for (const chart of charts.splice(0)) chart.destroy();
    container.replaceChildren();
    const axis = {
      stroke: colour("--muted"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { stroke: colour("--line"), width: 1 },
    };
    // all places are there before any is measured
    const places = items.map(({ name, spoken }) => {
      const place = element("div", { role: "img", "aria-label": spoken });
      container.append(element("figure", {}, element("figcaption", {}, name), place));
      return place;
    });
    for (const [k, { lines, values }] of items.entries()) {
      charts.push(
        new uPlot(
          {
            width: places[k].clientWidth,
            height: 220,
            scales: { x: { time: false }, y: { range: (chart, low, high) => range(low, high) } },
            axes: [
              { ...axis, values: (chart, ticks) => ticks.map((tick) => `${tick} s`) },
              { ...axis, incrs: WHOLE },
            ],
            series: [{ label: "seconds" }, ...lines.map(line)],
          },
          values,
          places[k],
        ),
      );
    }
  }
  const line = (of) => ({
    label: of.label,
    stroke: colour(of.colour),
    width: 2,
    dash: of.dash,
    paths: uPlot.paths.stepped({ align: 1 }),
    points: { show: false },
  });
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  let resized = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(resized);
    resized = requestAnimationFrame(draw);
  });
}
