"use strict";
// A study: a row for each instance, and its gap.
const rows = data.instances;
/** The tier to tell of: where the schedulers differ, else the first that is not proven. */
const told = (row) =>
  row.tiers.find((tier) => tier.name === row.firstDifference) ?? row.tiers.find((tier) => !tier.proven);
const value = (read) => (row) => (told(row) ? `${read(told(row))}` : "");
const seconds = (number) => number.toFixed(1);
function tiersOf(row) {
  if (row.error) return element("span", { class: "bad" }, row.error);
  const items = row.tiers.map((tier) =>
    element(
      "li",
      {},
      `${tier.name}: optimal ${tier.optimal}, bound ${tier.bound}, gap ${tier.gap}, greedy ${tier.greedy}${tier.proven ? ", proven" : ""}`,
    ),
  );
  return element(
    "details",
    {},
    element("summary", {}, `${row.tiers.length} tiers`),
    element("ul", {}, items),
  );
}
const showRows = table(
  document.querySelector('[data-table="instances"]'),
  [
    { title: "instance", cell: (row) => row.instance },
    { title: "nodes", number: true, cell: (row) => `${row.nodes}` },
    { title: "pending", number: true, cell: (row) => `${row.pending}` },
    { title: "running", number: true, cell: (row) => `${row.running}` },
    { title: "greedy differs in", cell: (row) => row.firstDifference ?? "" },
    { title: "optimal", number: true, cell: value((tier) => tier.optimal) },
    { title: "greedy", number: true, cell: value((tier) => tier.greedy) },
    { title: "bound", number: true, cell: value((tier) => tier.bound) },
    { title: "gap", number: true, cell: value((tier) => tier.gap) },
    { title: "seconds", number: true, cell: (row) => seconds(row.seconds) },
    { title: "greedy's", number: true, cell: (row) => seconds(row.greedySeconds) },
    {
      title: "status",
      cell: (row) => [
        { OPTIMAL: "proven optimal", FEASIBLE: "best found", ERROR: "failed" }[row.status] ?? row.status,
        row.admissible || row.error ? "" : ", greedy's outcome, no plan",
        row.interrupted ? ", interrupted" : "",
      ],
    },
    { title: "all tiers", cell: tiersOf },
  ],
  "The filter finds no instance.",
);
const KINDS = {
  "": () => true,
  differs: (row) => row.firstDifference !== null,
  open: (row) => row.status === "FEASIBLE",
  failed: (row) => row.status === "ERROR",
};
filter({ q: byId("query"), show: byId("show") }, () => {
  const asked = terms(byId("query").value).map((term) => (term.field ? `${term.field}:` : "") + term.words);
  const text = (row) =>
    `${row.instance} ${row.status} ${row.firstDifference ?? ""} ${row.error ?? ""}`.toLowerCase();
  const kept = rows.filter(
    (row) => (KINDS[byId("show").value] ?? KINDS[""])(row) && asked.every((word) => text(row).includes(word)),
  );
  byId("count").textContent = `${kept.length} of ${rows.length} instances`;
  showRows(kept);
});
