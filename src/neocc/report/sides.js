// The matrix as data. Names reach the page as text only: by textContent, or by fillText on the
// canvas.

const get = (id) => document.getElementById(id);
const data = JSON.parse(get("data").textContent);
const CLOSEST = 4; // bins along a side at the closest zoom

const count = (number) => number.toLocaleString("en");
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

// Three bytes a number: float32 without its lowest byte.
function unpack(text) {
  const packed = bytes(text);
  const whole = new Uint8Array((packed.length / 3) * 4);
  packed.forEach((byte, at) => (whole[4 * Math.floor(at / 3) + (at % 3) + 1] = byte));
  return new Float32Array(whole.buffer);
}

// Cut in the middle, as names differ at both ends; see `shorten` in _html.py.
function short(text, most = 60) {
  const letters = [...text];
  if (letters.length <= most) return text;
  const tail = Math.floor((most - 1) / 2);
  return `${letters.slice(0, most - 1 - tail).join("")}…${letters.slice(-tail).join("")}`;
}

function make(tag, text, className = "") {
  const node = document.createElement(tag);
  node.textContent = text;
  node.className = className;
  return node;
}

function inGroups(numbers) {
  if (!numbers.length) return "in no group";
  const list = [numbers.slice(0, -1).join(", "), numbers.at(-1)].filter((part) => part !== "");
  return `in group${list.length > 1 ? "s" : ""} ${list.join(" and ")}`;
}

function asText(value) {
  const isCount = Number.isInteger(value) && Math.abs(value) < 1e6;
  return isCount ? count(value) : String(Number(value.toPrecision(4)));
}

// One side of the matrix. Places are counted in the order shown; bins are the grid that was kept.
class Side {
  constructor(key, raw) {
    Object.assign(this, raw, { key, chosen: new Set(), from: 0, to: raw.places });
    this.shares = bytes(raw.shares || "");
    this.isExact = this.bins === this.places;
    const [start, stop] = this.outliers || [this.places, this.places];
    this.end = this.items - (stop - start); // of those in groups; a gap follows
  }

  edge(bin) {
    return Math.floor((bin * this.places) / this.bins);
  }

  binAt(place) {
    const bin = Math.floor(((Math.floor(place) + 1) * this.bins - 1) / this.places);
    return Math.max(0, Math.min(this.bins - 1, bin));
  }

  visible() {
    return [this.binAt(this.from), this.binAt(Math.ceil(this.to) - 1)];
  }

  isGap(bin) {
    return this.edge(bin) >= this.end && !!this.outliers && this.edge(bin + 1) <= this.outliers[0];
  }

  share(bin, group) {
    return this.shares[bin * this.groups.length + group] / 255;
  }

  isLit(bin) {
    return !this.chosen.size || [...this.chosen].some((group) => this.share(bin, group) > 0);
  }

  zoom(factor, centre) {
    const least = Math.min(this.places, (CLOSEST * this.places) / this.bins);
    const span = Math.min(this.places, Math.max(least, (this.to - this.from) * factor));
    this.show(centre - (span * (centre - this.from)) / (this.to - this.from), span);
  }

  // Show what begins at a place, within bounds.
  show(from, span = this.to - this.from) {
    this.from = Math.max(0, Math.min(this.places - span, from));
    this.to = this.from + span;
  }

  // Index of the first name at or after a place.
  named(place) {
    let low = 0, high = this.at.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at[middle] < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  groupsOf(index) {
    return this.combinations ? inGroups(this.combinations[this.of[index]]) : "";
  }

  groupsAt(bin) {
    const shares = this.groups
      .map(({ number }, group) => [number, this.share(bin, group)])
      .filter(([, share]) => share > 0);
    const parts = shares.map(([number, share]) =>
      share < 1 ? `${number} (${Math.ceil(share * 100)}%)` : number
    );
    const covered = shares.reduce((sum, [, share]) => sum + share, 0);
    // Of many groups the largest are listed; whoever stands before the end is in some group.
    if (this.more && covered < 1 && this.edge(bin) < this.end) {
      const others = "in groups that are not listed";
      return parts.length ? `${inGroups(parts)}, others ${others}` : others;
    }
    return this.groups.length ? inGroups(parts) : "";
  }

  // What stands at a bin, and the groups it is in.
  describe(bin) {
    const start = this.edge(bin), stop = this.edge(bin + 1);
    const first = this.named(start), last = this.named(stop) - 1;
    if (stop - start === 1 && first === last) return [this.names[first], this.groupsOf(first)];
    const ends = [first, last].map((at) => short(this.names[at] || ""));
    const some = first < last ? `, ${ends.join(" … ")}` : "";
    return [`${count(stop - start)} of the ${this.noun}${some}`, this.groupsAt(bin)];
  }
}

const sides = ["rows", "columns"].filter((key) => data[key]).map((key) => new Side(key, data[key]));
const [rows, columns] = sides;
