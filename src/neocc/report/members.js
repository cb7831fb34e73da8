// The members of groups: all of them in a list, to the clipboard, and as a file.

const MOST_LISTED = 1000;
const FORMULA = /^[=+\-@\t\r]/; // what a spreadsheet would compute
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

const precise = (value, digits) => String(Number(value.toPrecision(digits)));

// Members of a group: {name, id, distance, groups}, the nearest first where that is known.
function membersOf(side, number) {
  const distances = side.distances ? unpack(side.distances) : null;
  const found = [];
  let start = 0;
  side.names.forEach((name, index) => {
    const groups = side.combinations[side.of[index]];
    const place = groups.indexOf(number);
    if (place >= 0) {
      const distance = distances ? distances[start + place] : null;
      found.push({ name, id: side.ids?.[index], distance, groups });
    }
    start += groups.length;
  });
  const sign = side.measure === "gain" ? -1 : 1;
  return distances ? found.sort((one, other) => sign * (one.distance - other.distance)) : found;
}

// A cell of a CSV file. Quoted where it must be; what a spreadsheet would take for a formula gets an
// apostrophe in front, as spreadsheets themselves mark text.
function cell(text) {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function asCsv(side, members) {
  const columns = [
    [side.ids && "id", ({ id }) => id],
    ["name", ({ name }) => name],
    [side.measure, ({ distance }) => precise(distance, 5)],
    ["groups", ({ groups }) => groups.join(" ")],
  ].filter(([head]) => head);
  const lines = members.map((member) => columns.map(([, text]) => cell(text(member))).join(","));
  return [columns.map(([head]) => head).join(","), ...lines, ""].join("\r\n");
}

function download(text, name) {
  const link = make("a", "");
  // With the mark that tells spreadsheets that this is UTF-8.
  link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages from disk may lack the clipboard; a selection can still be copied.
    const area = make("textarea", text);
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    return isDone;
  }
  return true;
}

// What the list lacks, in words.
function missing(side, { size }, members) {
  const parts = [];
  if (members.length < size)
    parts.push(`This page has the names of ${count(members.length)} of them; the tables of the result have all.`);
  if (side.cut) parts.push("Long names are cut short.");
  if (members.length > MOST_LISTED)
    parts.push(`Here are the first ${count(MOST_LISTED)}; copies and downloads have all.`);
  return parts.join(" ");
}

function listed({ name, id, distance }) {
  const item = make("li", "");
  if (distance !== null) item.append(make("span", precise(distance, 3), "number"));
  const shown = make("bdi", short(name));
  if (short(name) !== name) shown.title = name;
  item.append(shown);
  if (id !== undefined && id !== name) item.append(" ", make("bdi", short(id), "id"));
  return item;
}

document.querySelectorAll(".members").forEach((details) => {
  const side = sides.find(({ key }) => key === details.dataset.side);
  const group = side.groups.find(({ number }) => String(number) === details.dataset.group);
  const part = (selector) => details.querySelector(selector);
  const all = () => membersOf(side, group.number);
  const said = (text) => (part(".said").textContent = text);
  details.addEventListener("toggle", () => {
    if (!details.open || part("ol").childElementCount) return;
    const members = all();
    part("ol").append(...members.slice(0, MOST_LISTED).map(listed));
    part(".more").textContent = missing(side, group, members);
  });
  part(".copy").addEventListener("click", async () => {
    const names = all().map(({ name }) => name);
    const isDone = await copy(names.join("\n"));
    said(isDone ? `${count(names.length)} copied` : "This browser does not let pages copy.");
  });
  part(".download").addEventListener("click", () => {
    const noun = side.noun.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
    download(asCsv(side, all()), `group-${group.number}-of-${noun || side.key}.csv`);
    said("");
  });
});

document.documentElement.classList.add("live");
