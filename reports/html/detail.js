"use strict";
// What is opened beside the page, a node or a pod; the address says which.
const detail = byId("detail");
let opener = null;

const facts = (pairs) =>
  element(
    "dl",
    {},
    pairs
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]),
  );
const list = (items) =>
  element(
    "ul",
    {},
    items.map((item) => element("li", {}, item)),
  );
const DIGITS = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
const GIBI = 2 ** 30;
function amount(resource, number) {
  if (resource === "cpu") return DIGITS.format(number / 1000);
  return resource === "memory" || resource === "ephemeral-storage"
    ? `${DIGITS.format(number / GIBI)} Gi`
    : DIGITS.format(number);
}

function aboutNode(n) {
  const item = nodes[n];
  const heads = ["", "allocatable", ...states].map((name, k) =>
    element("th", { scope: "col", class: k ? "n" : null }, name),
  );
  const rows = data.resources.map((name, r) =>
    item.allocatable[r] || states.some((s) => item.requested[s][r])
      ? element(
          "tr",
          {},
          element("th", { scope: "row" }, name),
          [item.allocatable[r], ...states.map((s) => item.requested[s][r])].map((number) =>
            element("td", { class: "n" }, amount(name, number)),
          ),
        )
      : null,
  );
  const only = element("button", { type: "button" }, "Only pods of this node");
  only.addEventListener("click", () => address.set({ q: `node:"${item.name}"` }));
  return [
    facts([
      ["zone", item.zone],
      ["rack", item.rack],
      ["taints", item.taints?.join(", ")],
      ["cordoned", item.cordoned ? "yes" : ""],
    ]),
    data.resources.length
      ? element(
          "div",
          { class: "scroll" },
          element("table", {}, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, rows)),
        )
      : null,
    ...plans.flatMap((plan) => [
      element("h3", {}, `Pods with ${plan}`),
      list(
        [...KINDS]
          .reverse()
          .flatMap(([what, style, sign]) =>
            on[plan][n][what].map((i) => [
              element("span", { class: style }, `${sign} `),
              link("pod", pods.pod[i]),
              element("small", {}, ` ${what}`),
            ]),
          ),
      ),
    ]),
    ...devicesOf(item.name),
    only,
  ];
}

function devicesOf(name) {
  const own = (data.devices ?? []).filter((row) => row.place === name);
  if (!own.length) return [];
  const told = own.map((row) => [
    `${row.device}: `,
    plans
      .filter((plan) => row.after[plan])
      .map((plan) => `${plan} ${device(row.after[plan])}`)
      .join("; "),
  ]);
  return [element("h3", {}, "Devices"), list(told)];
}

function aboutPod(i) {
  const name = pods.pod[i];
  const parts = plans.flatMap((plan) => {
    const victims = data.evictions.filter((row) => row.by[plan]?.preemptor === name);
    const reason = reasonsOf.get(i)?.[plan];
    const by = evictionOf.get(i)?.by[plan];
    return [
      element("h3", {}, `With ${plan}`),
      facts([
        ["place", place(i, plan)],
        ["makes room for", by ? (by.preemptor ? link("pod", by.preemptor) : "no pod (wasted)") : null],
        ["violates", by?.violates.join(", ")],
        [
          "evicts",
          victims.length
            ? some(
                victims.map((row) => row.pod),
                20,
              )
            : null,
        ],
        ["blocked by", reason?.blockedBy.join(", ")],
        ["why", reason?.why[name]],
        ["kube-scheduler", reason && (reason.pods[0] === name ? reason.message : reason.reason)],
        [
          "falls back",
          data.fallbacks
            .filter((row) => row.plan === plan && row.pod === name && row.applied)
            .map((row) => row.topologyKey)
            .join(", "),
        ],
      ]),
    ];
  });
  return [
    facts([
      ["priority", pods.priority[i] === null ? "" : `${pods.priority[i]}`],
      ["group", groupOf(i)],
      ["requests", requestsOf(i)],
      ["before", node(pods.where[BEFORE][i])],
      ["in short", happened(i)],
    ]),
    ...parts,
  ];
}

function open() {
  const [nodeName, podName] = [address.get("node"), address.get("pod")];
  const n = numberOfNode.get(nodeName) ?? -1;
  const i = numberOfPod.get(podName) ?? -1;
  pick(n);
  const nothing = !nodeName && !podName;
  if (nothing) {
    if (!detail.hidden) opener?.focus();
    detail.hidden = true;
    return;
  }
  const title = nodeName ? `Node ${nodeName}` : `Pod ${podName}`;
  if (!detail.hidden && byId("detail-title").textContent === title) return;
  if (detail.hidden) opener = document.activeElement;
  const missing = element("p", { class: "empty" }, "There is no such thing in this report.");
  const body = nodeName ? (n >= 0 ? aboutNode(n) : [missing]) : i >= 0 ? aboutPod(i) : [missing];
  byId("detail-title").textContent = title;
  byId("detail-body").replaceChildren(...body.filter((part) => part));
  detail.hidden = false;
  detail.scrollTop = 0;
  byId("detail-title").focus({ preventScroll: true });
  tiles
    .get(n)
    ?.scrollIntoView({
      block: matchMedia("(max-width: 640px)").matches ? "start" : "center",
      behavior: "instant",
    });
}
const close = () => address.set({ node: "", pod: "" }, true);
byId("close").addEventListener("click", close);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !detail.hidden) close();
});
document.addEventListener("address", open);
filter({ q: byId("query"), ns: byId("namespace"), show: byId("show") }, select);
open();
