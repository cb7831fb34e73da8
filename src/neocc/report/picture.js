// The matrix as a picture.

const cells = unpack(data.cells);
const canvas = get("picture");
const context = canvas.getContext("2d");

const FONT = "11px system-ui, sans-serif";
const INK = "#14202e", SOFT = "#4a5868", LINE = "#dde3ea", FOUND = "#c2410c";
const SPACE = 8; // between the matrix and the bars of its groups
const OUTSET = 3; // of the frames of one side over those of the other
const BEYOND = 20; // the sight: what is drawn there is cut off
const NUMBERED = 14; // pixels of a bar with its number at its end
const MOST_FRAMES = 20, MOST_LETTERS = 24;

// ---------------------------------------------------------------------------------------- geometry

let frame = { left: 0, top: 0, width: 1, height: 1, bars: [0, 0], names: [0, 0] };
let pointed = null; // {row, column}: bins
let found = null; // {side, place}

// Names leave room for the matrix on a narrow screen.
const label = (text) => short(text, Math.min(MOST_LETTERS, Math.max(8, Math.floor(canvas.clientWidth / 22))));

function layOut() {
  context.font = FONT;
  const names = sides.map((side) =>
    side.isExact ? Math.max(0, ...side.names.map((text) => context.measureText(label(text)).width)) : 0
  );
  const most = [Math.min(240, 0.35 * canvas.clientWidth), 240]; // of the bars of a side together
  const bars = sides.map((side, at) => Math.max(3, Math.min(16, most[at] / (side.groups.length || 1))));
  const left = Math.max(30, names[0] + 12), bottom = Math.max(24, names[1] + 12);
  const top = columns.groups.length * bars[1] + SPACE + 16;
  const right = Math.max(rows.groups.length * bars[0], rows.outliers ? 50 : 0) + SPACE + 6;
  const height = Math.min(560, Math.max(140, rows.places * 23));
  canvas.style.height = `${top + height + bottom}px`;
  const width = Math.min(Math.max(80, canvas.clientWidth - left - right), columns.places * 44);
  frame = { left, top, width, height, bars, names };
  const sharpness = Math.max(2, window.devicePixelRatio || 1);
  canvas.width = Math.round(canvas.clientWidth * sharpness);
  canvas.height = Math.round((top + height + bottom) * sharpness);
  context.setTransform(sharpness, 0, 0, sharpness, 0, 0);
  paint();
}

const start = (side) => (side === rows ? frame.top : frame.left);
const length = (side) => (side === rows ? frame.height : frame.width);
const scale = (side) => length(side) / (side.to - side.from);
const pixel = (side, place) => start(side) + (place - side.from) * scale(side);
const placeAt = (side, at) => side.from + (at - start(side)) / scale(side);
const isInside = (side, at) => at >= start(side) && at < start(side) + length(side);

// A band of the matrix, from one place to another, as a rectangle.
function band(side, first, last, from = start(side === rows ? columns : rows), thick = null) {
  const across = thick === null ? length(side === rows ? columns : rows) : thick;
  const low = Math.max(start(side) - BEYOND, pixel(side, first));
  const high = Math.min(start(side) + length(side) + BEYOND, pixel(side, last));
  return side === rows ? [from, low, across, high - low] : [low, from, high - low, across];
}

// Where the bar of a group is, across its side.
function barAt(side, group) {
  if (side === rows) return frame.left + frame.width + SPACE + group * frame.bars[0];
  return frame.top - SPACE - (columns.groups.length - group) * frame.bars[1];
}

// What is under a point of the canvas: a group, or bins.
function hit(x, y) {
  for (const [side, along, across] of [[rows, y, x], [columns, x, y]]) {
    const group = Math.floor((across - barAt(side, 0)) / frame.bars[sides.indexOf(side)]);
    if (isInside(side, along) && side.groups[group]) return { side, group };
  }
  return {
    row: isInside(rows, y) ? rows.binAt(placeAt(rows, y)) : null,
    column: isInside(columns, x) ? columns.binAt(placeAt(columns, x)) : null,
  };
}

// ---------------------------------------------------------------------------------------- painting

// The whole grid as a picture of one pixel a bin, drawn larger or smaller later.
function makeGrid() {
  const { low, high, power, colours } = data.scale;
  const table = colours.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const image = new ImageData(columns.bins, rows.bins);
  cells.forEach((value, at) => {
    if (Number.isNaN(value)) return;
    const share = Math.min(1, Math.max(0, (value - low) / (high - low))) ** power;
    image.data.set(table[Math.round(share * (table.length - 1))], 4 * at);
    image.data[4 * at + 3] = 255;
  });
  const grid = document.createElement("canvas");
  [grid.width, grid.height] = [columns.bins, rows.bins];
  grid.getContext("2d").putImageData(image, 0, 0);
  return grid;
}

const grid = makeGrid();
let isWaiting = false;

function paint() {
  if (!isWaiting) requestAnimationFrame(paintNow);
  isWaiting = true;
}

function paintNow() {
  isWaiting = false;
  const { left, top, width, height } = frame;
  context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  const [across, down] = [columns, rows].map((side) => side.bins / side.places);
  const seen = [(columns.to - columns.from) * across, (rows.to - rows.from) * down];
  context.imageSmoothingEnabled = seen[0] > width || seen[1] > height;
  context.imageSmoothingQuality = "high";
  const from = [columns.from * across, rows.from * down];
  context.drawImage(grid, ...from, ...seen, left, top, width, height);
  context.save();
  context.beginPath();
  context.rect(left - OUTSET - 1, top - OUTSET - 1, width + 2 * OUTSET + 2, height + 2 * OUTSET + 2);
  context.clip();
  [paintLines, paintVeil, paintFrames, paintMarks].forEach((part) => part());
  context.restore();
  sides.forEach(paintBars);
  sides.forEach(paintNames);
  sides.forEach((side) => (canvas.dataset[side.key] = `${side.from} ${side.to}`));
  canvas.dataset.frame = [left, top, width, height].join(" ");
}

// Thin lines between cells that are large enough.
function paintLines() {
  context.strokeStyle = LINE;
  for (const side of sides) {
    const [first, last] = side.visible();
    const other = side === rows ? columns : rows;
    const end = other.outliers ? pixel(other, other.end) - start(other) : length(other);
    for (let bin = first; bin <= last && side.isExact && scale(side) >= 12; bin++) {
      if (side.isGap(bin)) continue;
      context.strokeRect(...band(side, bin, bin + 1, start(other), Math.min(end, length(other))));
      if (other.outliers)
        context.strokeRect(...band(side, bin, bin + 1, pixel(other, other.outliers[0]), length(other)));
    }
  }
}

// A veil over everything outside the chosen groups.
function paintVeil() {
  context.fillStyle = "rgba(255, 255, 255, 0.82)";
  for (const side of sides) {
    const [first, last] = side.visible();
    for (let bin = first; bin <= last && side.chosen.size; bin++) {
      let end = bin;
      while (end <= last && !side.isLit(end)) end++;
      if (end > bin) context.fillRect(...band(side, side.edge(bin), side.edge(end)));
      bin = end;
    }
  }
}

function stroke(box, colour, width) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.strokeRect(...box);
  context.lineWidth = 1;
}

// Frames around groups in one piece: rows solid, columns dashed.
function paintFrames() {
  for (const side of sides) {
    const other = side === rows ? columns : rows;
    const from = pixel(other, 0) - OUTSET, to = pixel(other, other.end) + OUTSET;
    const isShown = (place) => !side.chosen.size || side.chosen.has(place);
    const framed = side.groups.filter((group, place) => group.frame && isShown(place));
    if (framed.length > MOST_FRAMES) continue;
    framed.forEach((group) => {
      const [x, y, w, h] = band(side, ...group.frame, from, to - from);
      stroke([x, y, w, h], "#fff", 3.5);
      context.setLineDash(side === rows ? [] : [6, 3]);
      stroke([x, y, w, h], group.colour, 2);
      context.setLineDash([]);
    });
  }
}

function paintMarks() {
  const bandOf = (side, bin) => band(side, side.edge(bin), side.edge(bin + 1));
  if (found) stroke(bandOf(found.side, found.side.binAt(found.place)), FOUND, 2.5);
  if (!pointed) return;
  const [row, column] = [bandOf(rows, pointed.row), bandOf(columns, pointed.column)];
  [row, column].forEach((box) => stroke(box, "rgba(20, 32, 46, 0.4)", 1));
  stroke([column[0], row[1], column[2], row[3]], INK, 2);
}

// A bar for each group: as dense as the share of each bin that belongs to it.
function paintBars(side) {
  const step = frame.bars[sides.indexOf(side)];
  const thick = Math.max(2, step - 3);
  const [first, last] = side.visible();
  context.font = FONT;
  context.textBaseline = "alphabetic";
  context.textAlign = side === rows ? "center" : "right";
  context.save();
  const pieces = side.groups.map((group, place) => {
    const isOut = side.chosen.size && !side.chosen.has(place);
    const across = barAt(side, place);
    context.fillStyle = "#eef1f5";
    context.fillRect(...band(side, side.from, Math.min(side.to, side.end), across, thick));
    context.fillStyle = isOut ? "#b6c0cb" : fillOf(group);
    let longest = [0, 0];
    for (let bin = first, end; bin <= last; bin = end) {
      const share = side.share(bin, place);
      for (end = bin + 1; end <= last && side.share(end, place) === share; end++);
      context.globalAlpha = share && Math.max(0.25, share);
      const [from, to] = [Math.max(side.from, side.edge(bin)), Math.min(side.to, side.edge(end))];
      context.fillRect(...band(side, from, to, across, thick));
      if (share && to - from > longest[1] - longest[0]) longest = [from, to];
    }
    context.globalAlpha = 1;
    return longest;
  });
  side.groups.forEach(({ number }, place) => {
    context.fillStyle = side.chosen.size && !side.chosen.has(place) ? "#77828e" : INK;
    const across = barAt(side, place);
    if (step < NUMBERED) paintNumber(side, place, pieces[place]);
    else if (side === rows) context.fillText(number, across + thick / 2, frame.top - 5);
    else context.fillText(number, frame.left - 6, across + thick - 2);
  });
  context.restore();
  if (side.outliers) paintOutside(side);
}

// The number of a group beside the longest piece of its narrow bar, where there is room.
function paintNumber(side, place, [from, to]) {
  const { number } = side.groups[place];
  if ((to - from) * scale(side) < 11) return;
  const isFirst = place < side.groups.length / 2; // then there is room after it, else before
  const across = barAt(side, place) + (isFirst ? frame.bars[sides.indexOf(side)] : -2);
  const along = pixel(side, (from + to) / 2);
  context.save();
  context.textBaseline = side === rows ? "middle" : isFirst ? "top" : "bottom";
  context.textAlign = side === columns ? "center" : isFirst ? "left" : "right";
  context.fillText(number, ...(side === rows ? [across, along] : [along, across]));
  context.restore();
}

// Words beside those in no group, where they fit.
function paintOutside(side) {
  const middle = pixel(side, (side.outliers[0] + side.outliers[1]) / 2);
  if (!isInside(side, middle)) return;
  context.save();
  context.fillStyle = SOFT;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.translate(
    side === rows ? frame.left + frame.width + SPACE : middle,
    side === rows ? middle : frame.top - SPACE
  );
  if (side === columns) context.rotate(-Math.PI / 2);
  context.fillText("no group", 0, 0);
  context.restore();
}

// Names of a side where each has room, else how many there are.
function paintNames(side) {
  const write = (text, at, isTurned, align) => {
    const edge = side === rows ? frame.left - 6 : frame.top + frame.height + (isTurned ? 6 : 12);
    context.save();
    context.translate(...(side === rows ? [edge, at] : [at, edge]));
    if (isTurned) context.rotate(-Math.PI / 2);
    context.textBaseline = side === rows && isTurned ? "alphabetic" : "middle";
    context.textAlign = align;
    context.fillText(text, 0, 0);
    context.restore();
  };
  context.font = FONT;
  context.fillStyle = SOFT;
  const room = scale(side);
  if (!side.isExact || room < 11) {
    const middle = start(side) + length(side) / 2;
    return write(`${count(side.items)} ${side.noun}`, middle, side === rows, "center");
  }
  const isTurned = side === columns && frame.names[1] > room - 6;
  for (let at = side.named(side.from - 0.5); side.at[at] + 0.5 <= side.to; at++) {
    context.fillStyle = found && found.side === side && found.place === side.at[at] ? FOUND : INK;
    const align = side === rows || isTurned ? "right" : "center";
    write(label(side.names[at]), pixel(side, side.at[at] + 0.5), isTurned, align);
  }
}
