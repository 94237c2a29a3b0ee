"use strict";
// How the search went: for each tier the best plan's value and the bound over time, and all of it as a table.
const SEARCHED = [
  { label: "best plan", colour: "--first" },
  { label: "bound", colour: "--muted", dash: [8, 4] },
];
const several = new Set(data.progress.map((row) => row.plan)).size > 1;
const told = (number) => (number === null ? "none" : `${number}`);
const fromTo = (numbers) => `${told(numbers[0])} at first, ${told(numbers.at(-1))} at the end`;
charted(
  byId("progress-charts"),
  data.progress.map(({ plan, tier, seconds, values, bounds }) => ({
    name: several ? `${tier} (${plan})` : tier,
    values: [seconds, values, bounds],
    lines: SEARCHED,
    spoken: `${tier} over ${seconds.at(-1)} s: best plan ${fromTo(values)}; bound ${fromTo(bounds)}`,
  })),
  (low, high) => {
    const room = Math.max(0.5, (high - low) * 0.08);
    return [low - room, high + room];
  },
);
extra(
  "progress",
  data.progress.flatMap(({ plan, tier, seconds, values, bounds }) =>
    seconds.map((second, k) => ({ plan, tier, second, value: values[k], bound: bounds[k] })),
  ),
  [
    { title: "tier", cell: (row) => row.tier },
    ...(several ? [{ title: "plan", cell: (row) => row.plan }] : []),
    { title: "seconds", number: true, cell: (row) => `${row.second}` },
    { title: "best plan", number: true, cell: (row) => `${row.value}` },
    { title: "bound", number: true, cell: (row) => told(row.bound) },
  ],
);
