"use strict";
// A round: what became of each pod, which pods the filter finds, and the tables.
const BEFORE = "before";
const { plans, nodes, pods } = data;
const states = [BEFORE, ...plans];
const numberOfPod = new Map(pods.pod.map((name, i) => [name, i]));
const numberOfNode = new Map(nodes.map((node, n) => [node.name, n]));
const namespaceOf = (i) => pods.pod[i].slice(0, pods.pod[i].indexOf("/"));
const groupOf = (i) => data.groups[pods.group[i]] ?? "";
const requestsOf = (i) => data.requests[pods.requests[i]] ?? "";

const evictionOf = new Map(data.evictions.map((row) => [numberOfPod.get(row.pod), row]));
const reasonsOf = new Map();
for (const row of data.leftOut) {
  for (const name of row.pods) {
    const i = numberOfPod.get(name);
    if (!reasonsOf.has(i)) reasonsOf.set(i, {});
    reasonsOf.get(i)[row.plan] = row;
  }
}

/** What a plan does with a pod: placed, running, evicted or waits. */
function fate(i, plan) {
  const ran = pods.where[BEFORE][i] >= 0;
  if (pods.where[plan][i] >= 0) return ran ? "running" : "placed";
  return ran ? "evicted" : "waits";
}

/** Whether plans put a pod in different places. */
const differs = (i) => plans.some((plan) => pods.where[plan][i] !== pods.where[plans[0]][i]);

/** What happened, in words, and why as far as the document says. */
function happened(i) {
  if (differs(i)) {
    const there = plans.filter((plan) => pods.where[plan][i] >= 0);
    if (there.length === plans.length) return "moved";
    const gone = plans.filter((plan) => fate(i, plan) === "evicted");
    return gone.length ? `evicted only by ${gone.join(", ")}` : `runs only with ${there.join(", ")}`;
  }
  return { placed: "placed", running: "stays", evicted: "evicted", waits: "waits" }[fate(i, plans[0])];
}
function why(i) {
  const words = [];
  const eviction = evictionOf.get(i);
  for (const plan of plans) {
    const by = eviction?.by[plan];
    const before = plans.length > 1 ? `${plan}: ` : "";
    if (by) {
      words.push(
        by.preemptor ? [before, "for ", link("pod", by.preemptor)] : [before, "for no pod (wasted)"],
      );
      if (by.violates.length)
        words.push(element("span", { class: "bad" }, ` violates ${by.violates.join(", ")}`));
    }
    const reason = reasonsOf.get(i)?.[plan];
    if (reason) words.push([before, reason.blockedBy.join(", ") || reason.reason]);
  }
  return words.flatMap((part, k) => (k ? [element("br"), ...[part].flat()] : [part].flat()));
}
const node = (n) => (n < 0 ? "" : link("node", nodes[n].name));
function place(i, plan) {
  const n = pods.where[plan][i];
  if (n >= 0) return [node(n), fate(i, plan) === "placed" ? element("span", { class: "new" }, " ●") : null];
  return fate(i, plan) === "evicted"
    ? element("span", { class: "out" }, "× evicted")
    : element("span", { class: "open" }, "waits");
}

// -- the filter --

const FIELDS = {
  pod: (i) => [pods.pod[i], pods.pod[i].slice(pods.pod[i].indexOf("/") + 1)],
  ns: (i) => [namespaceOf(i)],
  group: (i) => [groupOf(i)],
  node: (i) => states.map((state) => nodes[pods.where[state][i]]?.name ?? ""),
  reason: (i) =>
    Object.values(reasonsOf.get(i) ?? {}).flatMap((row) => [
      ...row.blockedBy,
      row.reason,
      row.message,
      ...Object.values(row.why),
    ]),
};
const texts = {};
for (const [name, read] of Object.entries(FIELDS))
  texts[name] = pods.pod.map((_, i) => read(i).map((t) => t.toLowerCase()));
texts.namespace = texts.ns;
const everything = pods.pod.map((_, i) =>
  Object.keys(FIELDS)
    .flatMap((name) => texts[name][i])
    .join("\n"),
);

/** Return which pods a term finds: those with exactly this value in its field if there are any, else parts of it. */
function matcher({ field, words }) {
  if (!(field in texts)) {
    const whole = field ? `${field}:${words}` : words;
    return (i) => everything[i].includes(whole);
  }
  const values = texts[field];
  if (values.some((of) => of.includes(words))) return (i) => values[i].includes(words);
  return (i) => values[i].some((value) => value.includes(words));
}

let found = new Set();
function select() {
  const asked = terms(byId("query").value).map(matcher);
  const namespace = byId("namespace").value;
  const [what, plan] = byId("show").value.split(" ");
  const shows = (i) => !what || (what === "differ" ? differs(i) : fate(i, plan) === what);
  const kept = order.filter(
    (i) => (!namespace || namespaceOf(i) === namespace) && shows(i) && asked.every((ask) => ask(i)),
  );
  found = new Set(kept);
  const filtered = found.size < pods.pod.length;
  byId("count").textContent = filtered ? `${found.size} of ${pods.pod.length} pods` : `${found.size} pods`;
  const meant = (name) => found.has(numberOfPod.get(name));
  show.pods(kept);
  show.evictions(
    data.evictions.filter((row) => meant(row.pod) || Object.values(row.by).some((by) => meant(by.preemptor))),
  );
  show.leftOut(data.leftOut.filter((row) => row.pods.some(meant)));
  document.dispatchEvent(new CustomEvent("filtered", { detail: filtered }));
}

// -- the tables --

const WEIGHT = { evicted: 1, waits: 2, placed: 3, running: 4 };
const weight = pods.pod.map((_, i) => (differs(i) ? 0 : WEIGHT[fate(i, plans[0])]));
const order = pods.pod
  .map((_, i) => i)
  .sort((a, b) => weight[a] - weight[b] || (pods.priority[b] ?? 0) - (pods.priority[a] ?? 0) || a - b);
const has = (column) => column.some((value) => value !== null && value !== -1);
const some = (list, number = 3) => {
  const links = list.slice(0, number).flatMap((name, k) => [k ? ", " : null, link("pod", name)]);
  return list.length > number ? [...links, ` and ${list.length - number} more`] : links;
};
/** What is proven about pods that wait for one reason, each sentence once. */
const proven = (row) => [...new Set(Object.values(row.why))];
const of = (name) => document.querySelector(`[data-table="${name}"]`);
const show = {
  pods: table(
    of("pods"),
    [
      { title: "pod", cell: (i) => link("pod", pods.pod[i]) },
      ...(has(pods.priority)
        ? [{ title: "priority", number: true, cell: (i) => `${pods.priority[i]}` }]
        : []),
      ...(has(pods.group) ? [{ title: "group", cell: groupOf }] : []),
      ...(has(pods.requests) ? [{ title: "requests", cell: requestsOf }] : []),
      { title: BEFORE, cell: (i) => node(pods.where[BEFORE][i]) },
      ...plans.map((plan) => ({ title: plan, cell: (i) => place(i, plan) })),
      { title: "what happens", cell: happened },
      { title: "why", cell: why },
    ],
    "The filter finds no pod.",
  ),
  leftOut: table(
    of("leftOut"),
    [
      { title: "blocked by", cell: (row) => row.blockedBy.join(", ") || "–" },
      { title: "after", cell: (row) => row.plan },
      { title: "pods", number: true, cell: (row) => `${row.pods.length}` },
      { title: "such as", cell: (row) => some(row.pods) },
      { title: "kube-scheduler's message for the first", cell: (row) => row.message },
      ...(data.leftOut.some((row) => proven(row).length)
        ? [{ title: "why, with a proof", cell: (row) => proven(row).join(" ") }]
        : []),
    ],
    "No such pod waits.",
  ),
  evictions: table(
    of("evictions"),
    [
      { title: "evicted pod", cell: (row) => link("pod", row.pod) },
      { title: "from", cell: (row) => link("node", row.node) },
      ...plans.map((plan) => ({ title: plan, cell: (row) => departure(row.by[plan]) })),
    ],
    "No such pod is evicted.",
  ),
};
function departure(by) {
  if (!by) return element("span", { class: "muted" }, "stays");
  const whom = by.preemptor
    ? ["makes room for ", link("pod", by.preemptor)]
    : ["makes room for no pod (wasted)"];
  return by.violates.length
    ? [...whom, element("span", { class: "bad" }, ` violates ${by.violates.join(", ")}`)]
    : whom;
}
/** A table that is there only where it has rows. */
function extra(name, rows, columns) {
  if (!rows?.length) return;
  of(name).closest("section").hidden = false;
  table(of(name), columns, "")(rows);
}
const after = (cell) =>
  plans.map((plan) => ({
    title: `after ${plan}`,
    cell: (row) => (row.after[plan] ? cell(row.after[plan]) : ""),
  }));
extra("podGroups", data.podGroups, [
  { title: "group", cell: (row) => row.group },
  { title: "waiting", number: true, cell: (row) => `${row.waiting}` },
  { title: "minCount", number: true, cell: (row) => `${row.minCount ?? ""}` },
  ...after(
    (now) =>
      `${now.placed} placed, ${now.standing} standing${now.domains.length ? ` in ${now.domains.join(", ")}` : ""}`,
  ),
]);
extra("placements", data.placements, [
  { title: "placed group", cell: (row) => row.group },
  { title: "by", cell: (row) => row.plan },
  { title: "key", cell: (row) => row.key },
  { title: "domain", cell: (row) => row.domain },
  { title: "new members", number: true, cell: (row) => `${row.scheduled}` },
]);
extra("fallbacks", data.fallbacks, [
  { title: "pod", cell: (row) => link("pod", row.pod) },
  { title: "in", cell: (row) => row.plan },
  { title: "topology key", cell: (row) => row.topologyKey },
  { title: "criteria", cell: (row) => row.criteria.join(", ") },
  {
    title: "applied",
    cell: (row) =>
      row.applied ? `skew ${row.skew ?? "without the key"}, maxSkew ${row.maxSkew}` : "not needed",
  },
]);
const DEVICE = { free: "· free", taken: "● taken", spent: "- used up through others" };
const device = (now) =>
  `${DEVICE[now.state]}${now.placed ? " now" : ""}${now.holders.length ? ` by ${now.holders.join(", ")}` : ""}`;
extra("devices", data.devices, [
  { title: "device", cell: (row) => row.device },
  {
    title: "reached from",
    cell: (row) => (numberOfNode.has(row.place) ? link("node", row.place) : row.place || "several domains"),
  },
  ...after(device),
]);
extra("claims", data.claims, [
  { title: "claim", cell: (row) => row.claim },
  { title: "by", cell: (row) => row.plan },
  { title: "node", cell: (row) => (row.node ? link("node", row.node) : "") },
  { title: "devices", cell: (row) => row.devices.join(", ") },
]);
for (const [mark, id] of [
  ["groups", "groups"],
  ["devices", "devices"],
  ["spread", "spread"],
]) {
  document.querySelector(`.if-${mark}`).hidden = !byId(id) || byId(id).hidden;
}

const option = (value, words = value) => element("option", { value }, words);
byId("namespace").append(
  ...[...new Set(pods.pod.map((_, i) => namespaceOf(i)))].sort().map((name) => option(name)),
);
if (plans.length > 1) byId("show").append(option("differ", "where plans differ"));
for (const plan of plans) {
  const words = {
    placed: `placed by ${plan}`,
    waits: `waiting after ${plan}`,
    evicted: `evicted by ${plan}`,
    running: `left alone by ${plan}`,
  };
  byId("show").append(...Object.entries(words).map(([what, text]) => option(`${what} ${plan}`, text)));
}
