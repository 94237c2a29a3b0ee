"use strict";
// What all pages share: the data, elements made of text, what the address says, and tables that grow.
// Text of the document is only ever set as text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

/** An element with attributes and children; children are elements or text, null is left out. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false)
      made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** What the address says: what is open (node, pod) and what is filtered (q, ns, show). */
const address = {
  get(name) {
    return new URLSearchParams(location.hash.slice(1)).get(name) ?? "";
  },
  /** Change some of it. What is opened is a step back in the history; what is typed is not. */
  set(changes, step = false) {
    const now = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
    for (const [name, value] of Object.entries(changes)) {
      if (value) now.set(name, value);
      else now.delete(name);
    }
    const words = now.toString();
    const url = words ? `#${words}` : location.pathname + location.search;
    if (step) history.pushState(null, "", url);
    else history.replaceState(null, "", url);
    document.dispatchEvent(new Event("address"));
  },
};
addEventListener("hashchange", () => document.dispatchEvent(new Event("address")));
addEventListener("popstate", () => document.dispatchEvent(new Event("address")));

/** A link that opens a node or a pod, and keeps the filter where it is clicked. */
function link(kind, name, words = name) {
  return element(
    "a",
    { href: `#${new URLSearchParams({ [kind]: name })}`, "data-kind": kind, "data-name": name },
    words,
  );
}
document.addEventListener("click", (event) => {
  const found = event.target.closest("a[data-kind]");
  if (!found || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  address.set({ node: "", pod: "", [found.dataset.kind]: found.dataset.name }, true);
});

document.addEventListener("click", (event) => {
  const section = event.target.closest(".sections a");
  if (!section) return;
  event.preventDefault(); // the address keeps what is open and what is filtered
  const heading = byId(section.hash.slice(1)).querySelector("h2");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  heading.scrollIntoView();
});

const PAGE = 100;

/**
 * A table below its container that shows some rows and grows on demand.
 * Columns are {title, cell(row), number}; a cell is text, an element or a list of them.
 * Returns a function that shows other rows.
 */
function table(container, columns, nothing) {
  const title = container.closest("section").querySelector("h2").id;
  // Roles are spelled out: a narrow screen shows rows as blocks, which would lose them.
  const body = element("tbody", { role: "rowgroup" });
  const heads = columns.map((c) =>
    element("th", { role: "columnheader", scope: "col", class: c.number ? "n" : null }, c.title),
  );
  const head = element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, heads));
  const whole = element("table", { role: "table", class: "grows" }, head, body);
  const frame = element(
    "div",
    { class: "scroll", role: "region", tabindex: "0", "aria-labelledby": title },
    whole,
  );
  const more = element("button", { type: "button", class: "more" });
  const empty = element("p", { class: "empty" }, nothing);
  container.append(frame, more, empty);
  let rows = [];
  let shown = 0;
  function grow(number) {
    const made = rows.slice(shown, shown + number).map((row) =>
      element(
        "tr",
        { role: "row" },
        columns.map((column, k) => {
          const kind = k
            ? { role: "cell", class: column.number ? "n" : null, "data-title": column.title }
            : { role: "rowheader", scope: "row" };
          return element(k ? "td" : "th", kind, column.cell(row));
        }),
      ),
    );
    body.append(...made);
    shown += made.length;
    more.hidden = shown >= rows.length;
    more.textContent = `Show ${Math.min(PAGE, rows.length - shown)} more of ${rows.length - shown}`;
  }
  more.addEventListener("click", () => {
    const next = body.children[shown - 1];
    grow(PAGE);
    next?.nextElementSibling?.querySelector("a")?.focus();
  });
  return (other) => {
    rows = other;
    shown = 0;
    body.replaceChildren();
    grow(PAGE);
    frame.hidden = !rows.length;
    empty.hidden = rows.length > 0;
  };
}

/** Keep the fields of the filter and the address together; call `apply` when either changes. */
function filter(fields, apply) {
  let wanted = 0;
  const later = () => {
    cancelAnimationFrame(wanted);
    wanted = requestAnimationFrame(apply);
  };
  for (const [name, field] of Object.entries(fields)) {
    field.addEventListener("input", () => address.set({ [name]: field.value }));
  }
  byId("clear").form.addEventListener("submit", (event) => event.preventDefault());
  byId("clear").form.addEventListener("reset", (event) => {
    event.preventDefault();
    address.set(Object.fromEntries(Object.keys(fields).map((name) => [name, ""])));
    fields.q.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
    event.preventDefault();
    fields.q.focus();
  });
  const follow = () => {
    for (const [name, field] of Object.entries(fields)) {
      if (field.value !== address.get(name)) field.value = address.get(name);
    }
    later();
  };
  document.addEventListener("address", follow);
  follow();
}

/** The terms of a query: {field, words}; quotes hold words together. */
function terms(query) {
  const found = query.toLowerCase().matchAll(/(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/g);
  return [...found]
    .map(([, field, quoted, word]) => ({ field: field ?? "", words: quoted ?? word }))
    .filter((t) => t.words);
}
