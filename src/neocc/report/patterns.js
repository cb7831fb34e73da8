// The patterns of groups on the canvas, as report.css draws them beside words: from the eighth group
// on, colours come again.

const TILE = 6; // pixels
const FINE = 4; // points of a tile for each
const PATTERNS = {
  p1: "M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2", // rising lines
  p2: "M3,1.7 a1.3,1.3 0 1 0 0.01,0 z", // dots
  p3: "M0,0 l6,6 M0,6 l6,-6", // crossed lines
  p4: "M3,0 v6", // upright lines
  p5: "M0,3 h6", // level lines
  p6: "M0.5,0.5 h3.5 v3.5 h-3.5 z", // squares
};

// What to fill the bar of a group with: its colour, or a pattern on it.
function makeFill({ look, colour }) {
  const path = PATTERNS[look.split(" ")[1]];
  if (!path) return colour;
  const tile = document.createElement("canvas");
  tile.width = tile.height = TILE * FINE;
  const drawing = tile.getContext("2d");
  drawing.scale(FINE, FINE);
  drawing.fillStyle = colour;
  drawing.fillRect(0, 0, TILE, TILE);
  const mark = getComputedStyle(document.querySelector(`.${look.split(" ")[0]}`));
  drawing.strokeStyle = mark.getPropertyValue("--mark");
  drawing.stroke(new Path2D(path));
  const pattern = drawing.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / FINE));
  return pattern;
}

const fills = new Map();

function fillOf(group) {
  if (!fills.has(group)) fills.set(group, makeFill(group));
  return fills.get(group);
}
