"use strict";
// The cluster as a map: nodes by zone and rack. A domain draws its nodes when it is unfolded.
const MANY = 1200; // more nodes than this are folded at first
const SMALL = 60; // up to so many nodes domains stand beside each other
const KINDS = [
  ["running", "ran", "○"],
  ["placed", "new", "●"],
  ["evicted", "out", "×"],
]; // what, its style, its sign
const SIGNS = 16; // pods of a node that are drawn one by one; more are counted
const map = byId("map");
const on = Object.fromEntries(
  states.map((state) => [state, nodes.map(() => ({ running: [], placed: [], evicted: [] }))]),
);
pods.pod.forEach((_, i) => {
  const home = pods.where[BEFORE][i];
  if (home >= 0) on[BEFORE][home].running.push(i);
  for (const plan of plans) {
    const what = fate(i, plan);
    const n = what === "evicted" ? home : pods.where[plan][i];
    if (n >= 0) on[plan][n][what].push(i);
  }
});

const tiles = new Map();
let current = -1;

function share(n, state) {
  const r = Number(byId("resource").value);
  const there = nodes[n].allocatable[r];
  return there ? nodes[n].requested[state][r] / there : null;
}
function percent(part) {
  return `${(part * 100).toFixed(1)} %`;
}
function bar(part, state) {
  const inner = element("i");
  inner.style.width = `${Math.min(100, part * 100)}%`;
  return element("span", { class: `bar ${state}`, "aria-hidden": "true" }, inner);
}
function signs(n, state) {
  const there = on[state][n];
  const parts = KINDS.filter(([what]) => there[what].length);
  const number = parts.reduce((sum, [what]) => sum + there[what].length, 0);
  return parts.map(([what, style, sign]) =>
    element(
      "span",
      { class: style },
      number > SIGNS ? `${sign} ${there[what].length} ` : sign.repeat(there[what].length),
    ),
  );
}
function spoken(n, chosen) {
  const words = chosen.map((state) => {
    const part = share(n, state);
    const there = on[state][n];
    const counts = Object.entries(there)
      .filter(([, list]) => list.length)
      .map(([what, list]) => `${list.length} ${what}`);
    return `${state}: ${counts.join(", ") || "no pods"}${part === null ? "" : `, ${percent(part)} of ${data.resources[byId("resource").value]}`}`;
  });
  return `node ${nodes[n].name}; ${words.join("; ")}`;
}
const chosenStates = () => (byId("state").value === "" ? plans : [byId("state").value]);

function tile(n) {
  const chosen = chosenStates();
  const rows = chosen.map((state) => {
    const part = share(n, state);
    const name = chosen.length > 1 ? element("small", {}, state) : null;
    return element(
      "span",
      { class: "of" },
      part === null ? null : bar(part, state),
      element("span", { class: "signs" }, name, signs(n, state)),
    );
  });
  const title = nodes[n].cordoned ? `${nodes[n].name} (cordoned)` : nodes[n].name;
  const made = element(
    "button",
    { type: "button", class: "tile", tabindex: "-1", "data-node": n, "aria-label": spoken(n, chosen) },
    element("b", {}, title),
    rows,
  );
  tiles.set(n, made);
  paint(n);
  return made;
}
let marked = false;
function paint(n) {
  const made = tiles.get(n);
  const hit =
    marked &&
    states.some((state) => Object.values(on[state][n]).some((list) => list.some((i) => found.has(i))));
  made.classList.toggle("found", hit);
  made.classList.toggle("dim", marked && !hit);
  made.classList.toggle("current", n === current);
  if (n === current) made.setAttribute("aria-current", "true");
  else made.removeAttribute("aria-current");
}

const natural = new Intl.Collator("en", { numeric: true });
function divided(list, key) {
  const parts = new Map();
  for (const n of list) {
    const value = nodes[n][key] ?? null;
    if (!parts.has(value)) parts.set(value, []);
    parts.get(value).push(n);
  }
  return [...parts].sort(([a], [b]) => (a === null) - (b === null) || natural.compare(a ?? "", b ?? ""));
}
const values = (key) => new Set(nodes.map((item) => item[key] ?? null));
const LEVELS = ["zone", "rack"]
  .filter((key) => [...values(key)].some((value) => value !== null))
  .sort((a, b) => values(a).size - values(b).size);
byId("levels").textContent = LEVELS.length
  ? `By ${LEVELS.map((key) => data.keys[key]).join(", then ")}.`
  : "";

function summed(list, state) {
  const r = Number(byId("resource").value);
  const there = list.reduce((sum, n) => sum + (nodes[n].allocatable[r] ?? 0), 0);
  return there ? list.reduce((sum, n) => sum + nodes[n].requested[state][r], 0) / there : null;
}
function heading(words, list) {
  const parts = chosenStates().map((state) => {
    const part = summed(list, state);
    const told = KINDS.map(([what, style, sign]) => {
      const number = list.reduce((sum, n) => sum + on[state][n][what].length, 0);
      return number ? element("span", { class: style }, ` ${sign} ${number}`) : null;
    });
    return element(
      "span",
      { class: "part" },
      chosenStates().length > 1 ? element("span", { class: "whose" }, state) : null,
      part === null ? null : [bar(part, state), percent(part)],
      told,
    );
  });
  return element(
    "summary",
    {},
    element("strong", {}, words),
    element("small", {}, ` ${list.length} node${list.length === 1 ? "" : "s"}`),
    parts,
  );
}

/** Domains with their nodes; `list` are the nodes of one domain, `depth` how many keys divide them already. */
function domains(list, depth) {
  if (depth === LEVELS.length) {
    const sorted = [...list].sort((a, b) => natural.compare(nodes[a].name, nodes[b].name));
    return [element("div", { class: "tiles" }, sorted.map(tile))];
  }
  return divided(list, LEVELS[depth]).map(([value, part]) => {
    const label = data.keys[LEVELS[depth]];
    const box = element(
      "details",
      { title: label },
      heading(value === null ? `without ${LEVELS[depth]}` : value, part),
    );
    box.members = new Set(part);
    const draw = () => {
      if (!box.open || box.drawn) return;
      box.drawn = true;
      box.append(...domains(part, depth + 1));
      reach();
    };
    box.addEventListener("toggle", draw);
    box.draw = draw;
    if (opened(value, part)) {
      box.open = true;
      draw();
    }
    return box;
  });
}
let unfolded = nodes.length <= MANY;
const opened = (value, part) => unfolded || part.includes(current);
function drawMap() {
  tiles.clear();
  map.replaceChildren(
    ...domains(
      nodes.map((_, n) => n),
      0,
    ),
  );
  reach();
}

// -- keyboard: one stop for Tab, arrows inside --

function reach() {
  if (![...tiles.values()].some((item) => item.tabIndex === 0)) {
    const first = tiles.get(current) ?? map.querySelector(".tile");
    if (first) first.tabIndex = 0;
  }
}
function stop(item) {
  for (const other of map.querySelectorAll('.tile[tabindex="0"]')) other.tabIndex = -1;
  item.tabIndex = 0;
}
map.addEventListener("keydown", (event) => {
  const here = event.target.closest(".tile");
  if (!here) return;
  const all = [...map.querySelectorAll(".tile")].filter((item) => item.offsetParent);
  const at = all.indexOf(here);
  const vertical = (step) => {
    const { left } = here.getBoundingClientRect();
    for (let k = at + step; all[k]; k += step)
      if (Math.abs(all[k].getBoundingClientRect().left - left) < 2) return k;
    return at;
  };
  const goals = {
    ArrowRight: () => at + 1,
    ArrowLeft: () => at - 1,
    ArrowDown: () => vertical(1),
    ArrowUp: () => vertical(-1),
    Home: () => 0,
    End: () => all.length - 1,
  };
  const goal = goals[event.key]?.();
  if (goal === undefined) return;
  event.preventDefault();
  const next = all[Math.max(0, Math.min(all.length - 1, goal))];
  stop(next);
  next.focus();
});
map.addEventListener("click", (event) => {
  const item = event.target.closest(".tile");
  if (item) address.set({ pod: "", node: nodes[item.dataset.node].name }, true);
});

/** Unfold what holds a node, and mark it. */
function pick(n) {
  const before = current;
  current = n;
  for (let box of map.querySelectorAll("details")) {
    while (box && n >= 0 && box.members.has(n)) {
      box.open = true;
      box.draw();
      box = [...box.querySelectorAll("details")].find((inner) => inner.members.has(n));
    }
  }
  for (const other of [before, n]) if (tiles.has(other)) paint(other);
  if (tiles.has(n)) stop(tiles.get(n));
}

document.addEventListener("filtered", (event) => {
  marked = event.detail;
  for (const n of tiles.keys()) paint(n);
});
byId("state").append(
  ...(plans.length > 1 ? [option("", plans.join(" and "))] : []),
  ...[...plans, BEFORE].map((state) => option(state)),
);
byId("resource").append(...data.resources.map((name, r) => option(r, name)));
document.querySelector(".if-resources").hidden = !data.resources.length;
for (const id of ["state", "resource"]) byId(id).addEventListener("input", drawMap);
map.classList.toggle("small", nodes.length <= SMALL);
byId("unfold").hidden = nodes.length <= MANY || !LEVELS.length;
byId("unfold").addEventListener("click", () => {
  unfolded = !unfolded;
  byId("unfold").setAttribute("aria-pressed", unfolded);
  drawMap();
});
drawMap();
