"use strict";
// The timelines of a simulation, drawn by uPlot: a chart for each number, a line for each scheduler.
const runs = Object.keys(data.timelines);
const charts = [];
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
/** Steps of all runs over one axis: every moment of any of them, and what each had then. */
function aligned(series) {
  const moments = [...new Set(runs.flatMap((run) => data.timelines[run].seconds))].sort((a, b) => a - b);
  const lines = runs.map((run) => {
    const { seconds, series: of } = data.timelines[run];
    let k = -1;
    return moments.map((moment) => {
      while (k + 1 < seconds.length && seconds[k + 1] <= moment) k += 1;
      return k < 0 ? 0 : of[series][k];
    });
  });
  return [moments, ...lines];
}
/** Numbers that ever differ from 0, each with its figure: all are there before any is measured. */
function figures() {
  const names = runs.length ? Object.keys(data.timelines[runs[0]].series) : [];
  const found = names
    .map((name) => ({ name, values: aligned(name) }))
    .filter(({ values }) => values.slice(1).some((line) => line.some((number) => number)));
  for (const item of found) {
    const last = runs.map(
      (run, k) =>
        `${run} ${Math.max(...item.values[k + 1])} at most, ${item.values[k + 1].at(-1)} at the end`,
    );
    item.place = element("div", { role: "img", "aria-label": `${item.name} over time: ${last.join("; ")}` });
    byId("charts").append(element("figure", {}, element("figcaption", {}, item.name), item.place));
  }
  return found;
}
function draw() {
  for (const chart of charts.splice(0)) chart.destroy();
  byId("charts").replaceChildren();
  const axis = {
    stroke: colour("--muted"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { stroke: colour("--line"), width: 1 },
  };
  for (const { values, place } of figures()) {
    charts.push(
      new uPlot(
        {
          width: place.clientWidth,
          height: 220,
          scales: { x: { time: false }, y: { range: (chart, low, high) => [0, Math.max(1, high * 1.08)] } },
          axes: [
            { ...axis, values: (chart, ticks) => ticks.map((tick) => `${tick} s`) },
            { ...axis, incrs: WHOLE },
          ],
          series: [{ label: "seconds" }, ...runs.map(line)],
        },
        values,
        place,
      ),
    );
  }
}
const WHOLE = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power)); // numbers of pods
const line = (run, k) => ({
  label: run,
  stroke: colour(run === "greedy" ? "--second" : "--first"),
  width: 2,
  dash: k ? [8, 4] : undefined,
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
