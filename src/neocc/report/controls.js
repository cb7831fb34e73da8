// What the matrix answers to: mouse, keyboard, buttons, search.

const FACTOR = 1.5; // of one step of zooming
const MOST_FOUND = 6;

// ---------------------------------------------------------------------------------------- pointing

const tooltip = get("tooltip");
const say = (text) => (get("status").textContent = text);

function showTooltip(x, y, ...nodes) {
  tooltip.replaceChildren(...nodes);
  tooltip.hidden = false;
  const left = x > canvas.clientWidth / 2 ? x - tooltip.offsetWidth - 16 : x + 16;
  tooltip.style.left = `${left}px`;
  tooltip.style.top = `${canvas.offsetTop + Math.max(0, y - tooltip.offsetHeight / 2)}px`;
}

function pointAway() {
  pointed = null;
  tooltip.hidden = true;
  paint();
}

// Show the cell at two bins, and return it in words.
function pointAt(row, column) {
  if (row === null || column === null || rows.isGap(row) || columns.isGap(column)) {
    pointAway();
    return "";
  }
  pointed = { row, column };
  const described = [rows.describe(row), columns.describe(column)];
  const kind = rows.isExact && columns.isExact ? "value" : "mean";
  const cell = cells[row * columns.bins + column];
  const value = Number.isNaN(cell) ? "not observed" : `${kind} ${asText(cell)}`;
  const middle = (side, bin) => pixel(side, (side.edge(bin) + side.edge(bin + 1)) / 2);
  const nodes = described.flatMap(([title, text]) => [make("bdi", title), make("div", text, "size")]);
  showTooltip(middle(columns, column), middle(rows, row), ...nodes, make("b", value));
  paint();
  return [...described.map((parts) => parts.join(" ")), value].join("; ");
}

function pointAtGroup({ side, group }, x, y) {
  const { number, size } = side.groups[group];
  pointAway();
  const title = make("bdi", `Group ${number} of ${side.noun}`);
  showTooltip(x, y, title, make("div", `${count(size)} members. Click to show it alone.`, "size"));
}

let drag = null;
canvas.addEventListener("pointerdown", ({ offsetX: x, offsetY: y, pointerId }) => {
  drag = { x, y, moved: false };
  canvas.setPointerCapture(pointerId);
});
canvas.addEventListener("pointermove", ({ offsetX: x, offsetY: y }) => {
  if (drag && (drag.moved || Math.hypot(x - drag.x, y - drag.y) > 4)) {
    rows.show(rows.from - (y - drag.y) / scale(rows));
    columns.show(columns.from - (x - drag.x) / scale(columns));
    drag = { x, y, moved: true };
    pointAway();
    return;
  }
  const at = hit(x, y);
  if (at.side) pointAtGroup(at, x, y);
  else pointAt(at.row, at.column);
});
canvas.addEventListener("pointerup", ({ offsetX: x, offsetY: y }) => {
  const at = hit(x, y);
  if (drag && !drag.moved && at.side) choose(at.side, at.group);
  drag = null;
});
canvas.addEventListener("pointerleave", pointAway);
canvas.addEventListener("blur", pointAway);

// ----------------------------------------------------------------------------------------- zooming

// Beside the matrix only the side that is pointed at is zoomed.
function zoom(factor, x = frame.left + frame.width / 2, y = frame.top + frame.height / 2) {
  if (isInside(rows, y)) rows.zoom(factor, placeAt(rows, y));
  if (isInside(columns, x)) columns.zoom(factor, placeAt(columns, x));
  pointAway();
}

function showAll() {
  sides.forEach((side) => side.show(0, side.places));
  pointAway();
  say("The whole matrix is shown.");
}

// A scroll that only passes over the matrix goes on, and so does one that cannot zoom out more.
let lastScroll = -Infinity;
window.addEventListener("scroll", () => (lastScroll = performance.now()), { passive: true });
const onWheel = (event) => {
  const isWhole = sides.every((side) => side.to - side.from >= side.places);
  const passes = performance.now() - lastScroll < 250 || (isWhole && event.deltaY > 0);
  if (passes && !event.ctrlKey) return;
  event.preventDefault();
  zoom(FACTOR ** Math.max(-1, Math.min(1, event.deltaY / 100)), event.offsetX, event.offsetY);
};
canvas.addEventListener("wheel", onWheel, { passive: false });
get("zoom-in").addEventListener("click", () => zoom(1 / FACTOR));
get("zoom-out").addEventListener("click", () => zoom(FACTOR));
get("zoom-all").addEventListener("click", showAll);

// Move the pointed cell by so many bins, over gaps, and keep it in sight.
function walk(down, across) {
  const step = (side, bin, by) => {
    const next = Math.max(0, Math.min(side.bins - 1, bin + by));
    return side.isGap(next) ? side.binAt(by > 0 ? side.outliers[0] : side.end - 1) : next;
  };
  const from = pointed || { row: rows.visible()[0], column: columns.visible()[0] };
  const [row, column] = [step(rows, from.row, down), step(columns, from.column, across)];
  for (const [side, bin] of [[rows, row], [columns, column]]) {
    const last = side.edge(bin + 1) - (side.to - side.from);
    side.show(Math.min(side.edge(bin), Math.max(side.from, last)));
  }
  say(pointAt(row, column));
}

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
canvas.addEventListener("keydown", (event) => {
  const { key, shiftKey } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const middle = (side, bin) => pixel(side, (side.edge(bin) + side.edge(bin + 1)) / 2);
  const centre = pointed ? [middle(columns, pointed.column), middle(rows, pointed.row)] : [];
  if (ARROWS[key]) walk(...ARROWS[key].map((by) => by * (shiftKey ? 10 : pointed ? 1 : 0)));
  else if (key === "+" || key === "=") zoom(1 / FACTOR, ...centre);
  else if (key === "-") zoom(FACTOR, ...centre);
  else if (key === "0" || key === "Home") showAll();
  else if (key === "Escape") clear();
  else return;
  event.preventDefault();
});

// ---------------------------------------------------------------------------------------- choosing

function choose(side, group) {
  if (!side.chosen.delete(group)) side.chosen.add(group);
  showChoice();
}

function clear() {
  sides.forEach((side) => side.chosen.clear());
  found = null;
  showChoice();
}

const buttons = []; // {button, side, group}

function showChoice() {
  buttons.forEach(({ button, side, group }) => {
    button.setAttribute("aria-pressed", String(side.chosen.has(group)));
    button.closest(".card")?.classList.toggle("chosen", side.chosen.has(group));
  });
  const parts = sides.flatMap((side) =>
    [...side.chosen].map((group) => {
      const { number, size } = side.groups[group];
      return `group ${number} of ${side.noun} (${count(size)})`;
    })
  );
  get("clear").disabled = !parts.length && !found;
  say(parts.length ? `Shown: ${parts.join(", ")}.` : "All groups are shown.");
  paint();
}

function makeChip(side, { number, size, look }, group) {
  const button = make("button", "");
  button.type = "button";
  button.setAttribute("aria-pressed", "false");
  button.setAttribute("aria-label", `Group ${number} of ${side.noun}, ${size} members`);
  button.append(make("span", "", `swatch ${look}`), ` ${number}`, make("span", ` (${count(size)})`, "size"));
  button.addEventListener("click", () => choose(side, group));
  buttons.push({ button, side, group });
  return button;
}

sides.filter((side) => get(`choose-${side.key}`)).forEach((side) => {
  const chips = make("div", "", "chips");
  const made = side.groups.map((raw, group) => [raw.number, makeChip(side, raw, group)]);
  chips.append(...made.sort(([one], [other]) => one - other).map(([, chip]) => chip));
  get(`choose-${side.key}`).append(chips);
});
document.querySelectorAll(".card .show").forEach((button) => {
  const side = button.dataset.side === "rows" ? rows : columns;
  const group = side.groups.findIndex(({ number }) => String(number) === button.dataset.group);
  buttons.push({ button, side, group });
  button.addEventListener("click", () => {
    choose(side, group);
    if (side.chosen.has(group)) get("matrix").scrollIntoView();
  });
});
get("clear").addEventListener("click", clear);

// ----------------------------------------------------------------------------------------- finding

const search = get("search");
const lowered = new Map(sides.map((side) => [side, side.names.map((text) => text.toLowerCase())]));

// Names that contain what is wanted: equal ones first, then those that begin with it.
function matches(wanted) {
  const rank = (text) => (text === wanted ? 0 : text.startsWith(wanted) ? 1 : 2);
  const hits = sides.flatMap((side) =>
    lowered.get(side).flatMap((text, index) =>
      text.includes(wanted) ? [{ side, index, rank: rank(text) }] : []
    )
  );
  return hits.sort((one, other) => one.rank - other.rank);
}

function showMatches() {
  const wanted = search.value.trim().toLowerCase();
  const hits = wanted ? matches(wanted) : [];
  const items = hits.slice(0, MOST_FOUND).map(({ side, index }) => {
    const [item, button] = [make("li", ""), make("button", "")];
    const where = [side.noun, side.groupsOf(index)].filter(Boolean).join(", ");
    button.type = "button";
    const name = side.names[index];
    button.append(make("bdi", short(name)), make("span", where, "size"));
    if (short(name) !== name) button.title = name;
    button.addEventListener("click", () => goTo(side, index));
    item.append(button);
    return item;
  });
  get("results").replaceChildren(...items);
  const listed = hits.length > MOST_FOUND ? `, ${MOST_FOUND} listed` : "";
  say(hits.length ? `${count(hits.length)} found${listed}.` : wanted && nothingFound());
}

function nothingFound() {
  const partial = sides
    .filter((side) => side.names.length < side.items)
    .map((side) => `${count(side.names.length)} of ${count(side.items)} ${side.noun}`);
  const note = partial.length ? ` This page has the names of ${partial.join(" and ")} only.` : "";
  return `Nothing of that name.${note}`;
}

// Move to a row or column, mark it, and say where it belongs.
function goTo(side, index) {
  const place = side.at[index];
  const span = Math.min(side.places, Math.max(24, (CLOSEST * side.places) / side.bins));
  found = { side, place };
  side.show(place + 0.5 - span / 2, span);
  get("clear").disabled = false;
  pointAway();
  say(`${side.names[index]}: ${side.groupsOf(index) || `one of the ${side.noun}`}.`);
}

search.addEventListener("input", showMatches);
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") get("results").querySelector("button")?.click();
});

new ResizeObserver(layOut).observe(canvas.parentElement);
layOut();
