"use strict";
// The timelines of a simulation: a chart for each number, a line for each scheduler.
const runs = Object.keys(data.timelines);
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
/** Numbers that ever differ from 0. */
function numbers() {
  const names = runs.length ? Object.keys(data.timelines[runs[0]].series) : [];
  return names
    .map((name) => ({ name, values: aligned(name) }))
    .filter(({ values }) => values.slice(1).some((line) => line.some((number) => number)));
}
const lines = runs.map((run, k) => ({
  label: run,
  colour: run === "greedy" ? "--second" : "--first",
  dash: k ? [8, 4] : undefined,
}));
function spoken(name, values) {
  const last = runs.map(
    (run, k) => `${run} ${Math.max(...values[k + 1])} at most, ${values[k + 1].at(-1)} at the end`,
  );
  return `${name} over time: ${last.join("; ")}`;
}
if (runs.length) {
  charted(
    byId("charts"),
    numbers().map(({ name, values }) => ({ name, values, lines, spoken: spoken(name, values) })),
    (low, high) => [0, Math.max(1, high * 1.08)],
  );
}
