/* Unfolding what plots/pack.c folded, colours, and pictures on canvases. */
/* {value: Float64Array, index: of each cell}; value 0 is "nothing there". */
function unpackReals(text) {
  const bytes = inflate(text), { buffer } = bytes, [count, width] = new Uint32Array(buffer, 0, 2);
  const value = new Float64Array(buffer, 8, count), planes = bytes.subarray(8 + 8 * count), n = planes.length / width;
  if (width === 1) return { value, index: planes };
  const index = new Uint16Array(n);
  for (let i = 0; i < n; i++) index[i] = planes[i] | planes[n + i] << 8;
  return { value, index };
}

function unpackNumbers(text) {
  const planes = inflate(text).subarray(8), n = planes.length / 4, out = new Uint32Array(n);
  for (let i = 0, sum = 0; i < n; i++) out[i] = sum = sum + (planes[i] | planes[n + i] << 8 | planes[2 * n + i] << 16 | planes[3 * n + i] << 24) >>> 0;
  return out;
}

/* The name of the link in a cell that has one: its pattern with its numbers. */
function nameOf(p, cell) {
  if (!p.named) {
    const { patterns, numbers, which } = p.names;
    p.named = { patterns: new TextDecoder().decode(inflate(patterns)).split('\n').map((text) => text.split('\u0001')),
      numbers: numbers.map(unpackNumbers), which: which && unpackNumbers(which) };
  }
  const { patterns, numbers, which } = p.named;
  return patterns[which ? which[cell] : 0].reduce((name, text, i) => name + (i ? numbers[i - 1][cell] : '') + text, '');
}

/* Colours: lightness falls (on light paper) or rises (on dark) all the way, so they read in grey and to any eye. */
const heatStops = {
  light: [[252, 222, 156], [250, 190, 100], [240, 134, 62], [202, 66, 52], [130, 24, 76], [44, 8, 52]],
  dark: [[52, 44, 78], [104, 32, 116], [172, 48, 96], [230, 92, 48], [250, 168, 62], [253, 252, 190]],
};
const taskStops = [[0, 34, 78], [65, 77, 107], [124, 123, 120], [188, 175, 111], [254, 232, 56]];
const dark = () => (document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
const mix = (stops, x) => {
  const at = Math.min(Math.max(x, 0), 1) * (stops.length - 1), i = Math.min(Math.floor(at), stops.length - 2);
  return stops[i].map((c, k) => Math.round(c + (stops[i + 1][k] - c) * (at - i)));
};
const rgb = (c) => `rgb(${c})`;
const gradient = (stops) => `linear-gradient(to right, ${stops.map(rgb)})`;
const word = (c) => (255 << 24 | c[2] << 16 | c[1] << 8 | c[0]) >>> 0;
/* 256 shades, as CSS and as pixels; prepared when the theme changes. */
let shades = [], shadeWords = [];
function prepareShades() {
  const all = Array.from({ length: 256 }, (_, i) => mix(heatStops[dark() ? 'dark' : 'light'], i / 255));
  shades = all.map(rgb);
  shadeWords = Uint32Array.from(all, word);
}
const shade = (x) => Math.round(255 * Math.min(Math.max(x, 0), 1));
const heat = (x) => shades[shade(x)];
const heatWord = (x) => shadeWords[shade(x)];
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const hexWord = (hex) => word([1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));

/* Largest cells with which the tiles of a panel fit a width, and not much more than a height. */
function tiling(p, width, height, most = 14) {
  for (let s = most; s >= 1; s--) {
    const across = Math.min(p.tiles, Math.floor((width / s + 1) / (p.columns + 1)));
    if (across < 1) continue;
    let even = across; /* full rows of tiles, where that costs little */
    while (even > 1 && p.tiles % even) even--;
    const taken = 3 * even >= 2 * across ? even : Math.ceil(p.tiles / Math.ceil(p.tiles / across)), down = Math.ceil(p.tiles / taken);
    if (s === 1 || (down * (p.rows + 1) - 1) * s <= height) return { s, across: taken, down };
  }
  return { s: 1, across: 1, down: p.tiles };
}

/* Draws cells with colour(cell) (0: transparent) into a canvas, one pixel each, scaled by the style. */
function paintCells(canvas, p, t, colour) {
  const w = t.across * (p.columns + 1) - 1, h = t.down * (p.rows + 1) - 1;
  canvas.width = w;
  canvas.height = h;
  canvas.style.width = `${w * t.s}px`;
  canvas.style.height = `${h * t.s}px`;
  const context = canvas.getContext('2d'), image = context.createImageData(w, h), pixels = new Uint32Array(image.data.buffer);
  for (let tile = 0, cell = 0; tile < p.tiles; tile++) {
    const left = tile % t.across * (p.columns + 1), top = Math.floor(tile / t.across) * (p.rows + 1);
    for (let r = 0; r < p.rows; r++)
      for (let c = 0, at = (top + r) * w + left; c < p.columns; c++, cell++, at++) pixels[at] = colour(cell);
  }
  context.putImageData(image, 0, 0);
}

/* The cell at pixel (x, y) of such a canvas, or -1; and back. */
function cellAt(p, t, x, y) {
  const a = Math.floor(x / (p.columns + 1)), b = Math.floor(y / (p.rows + 1)), c = x - a * (p.columns + 1), r = y - b * (p.rows + 1);
  const tile = b * t.across + a;
  return x < 0 || y < 0 || a >= t.across || c >= p.columns || r >= p.rows || tile >= p.tiles ? -1 : (tile * p.rows + r) * p.columns + c;
}
/* The parts of a cell of a panel. */
function parts(p, cell) {
  const column = cell % p.columns, row = Math.floor(cell / p.columns) % p.rows;
  return { column, row, tile: Math.floor(cell / (p.columns * p.rows)) };
}
function placeOf(p, t, cell) {
  const { tile, row, column } = parts(p, cell);
  return { x: tile % t.across * (p.columns + 1) + column, y: Math.floor(tile / t.across) * (p.rows + 1) + row };
}

/* ---- the picture at a glance: strokes, each of one link ---- */

/* Where the D links of a ring of supernodes, or the links of a tree, run: [x0, y0, xc, yc, x1, y1] in the unit square. */
function ringStroke(p, cell) {
  const { cables, spots: n } = data.glance, { row, column } = parts(p, cell), to = Math.floor(column / cables);
  const at = (i) => { const a = 2 * Math.PI * i / n - Math.PI / 2; return [0.5 + 0.43 * Math.cos(a), 0.5 + 0.43 * Math.sin(a)]; };
  const a = at(row), b = at(to), pull = 0.3, bend = 0.05;
  return [a[0], a[1], 0.5 + ((a[0] + b[0]) / 2 - 0.5) * pull + (b[1] - a[1]) * bend, 0.5 + ((a[1] + b[1]) / 2 - 0.5) * pull - (b[0] - a[0]) * bend, b[0], b[1]];
}
function treeStroke(p, cell) {
  const { children: m, parents: w, links, planes } = data.glance, h = m.length, l = p.class, { tile, row, column } = parts(p, cell);
  const product = (v, to) => v.slice(0, to).reduce((a, b) => a * b, 1), nodes = product(m, h), below = product(w, l);
  const sets = nodes / product(m, l + 1), plane = Math.floor(tile / sets), up = p.title.endsWith(' up');
  const x = (tile % sets) * m[l] + Math.floor(row / below), y = row % below, top = y + below * Math.floor(column / links[l]);
  const spot = (level, at, k) => { /* subtree `at` of `level`, its k-th switch of all planes */
    const width = product(m, level) / nodes, many = product(w, level) * (level ? planes : 1);
    return [0.02 + 0.96 * (at + (k + 0.5) / many) * width, 0.95 - 0.9 * level / h];
  };
  const low = spot(l, x, l ? plane * below + y : 0), high = spot(l + 1, Math.floor(x / m[l]), plane * product(w, l + 1) + top), side = up ? -0.004 : 0.004;
  return [low[0] + side, low[1], (low[0] + high[0]) / 2 + side, (low[1] + high[1]) / 2, high[0] + side, high[1]];
}

/* Draws strokes {at, level} in their order, hotter ones wider; level 0: carries nothing, negative: the chosen one. */
function drawStrokes(canvas, strokes, aspect) {
  const width = canvas.parentElement.clientWidth, ratio = Math.max(1, devicePixelRatio || 1), context = canvas.getContext('2d');
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(width * aspect * ratio);
  context.setTransform(canvas.width, 0, 0, canvas.height, 0, 0);
  context.lineCap = 'round';
  const thin = Math.min(1, Math.max(0.5, width / 480));
  for (const { at, level } of strokes) {
    context.beginPath();
    context.moveTo(at[0], at[1]);
    context.quadraticCurveTo(at[2], at[3], at[4], at[5]);
    context.strokeStyle = level < 0 ? style('--focus') : level === 0 ? style('--none') : heat(level);
    context.lineWidth = (level < 0 ? 4 : 0.5 + 2.6 * level) * thin / width;
    context.globalAlpha = level <= 0 ? 1 : 0.35 + 0.65 * level;
    context.stroke();
  }
  context.globalAlpha = 1;
  return { context, width };
}

/* Distance of a point to a stroke. */
function strokeDistance(at, x, y) {
  let best = Infinity, px = at[0], py = at[1];
  for (let i = 1; i <= 8; i++) {
    const t = i / 8, u = 1 - t, qx = u * u * at[0] + 2 * u * t * at[2] + t * t * at[4], qy = u * u * at[1] + 2 * u * t * at[3] + t * t * at[5];
    const dx = qx - px, dy = qy - py, k = Math.min(1, Math.max(0, ((x - px) * dx + (y - py) * dy) / (dx * dx + dy * dy || 1)));
    best = Math.min(best, Math.hypot(x - px - k * dx, y - py - k * dy));
    px = qx; py = qy;
  }
  return best;
}

/* A ring of supernodes: bands outside the circle coloured by bands[k][supernode] (a level, or NaN), and numbers. */
function drawRing(context, n, bands) {
  bands.forEach((levels, k) => {
    for (let i = 0; i < n; i++) {
      const a = 2 * Math.PI * (i - 0.42) / n - Math.PI / 2, b = 2 * Math.PI * (i + 0.42) / n - Math.PI / 2;
      context.beginPath();
      context.arc(0.5, 0.5, 0.443 + 0.016 * k, a, b);
      context.strokeStyle = Number.isNaN(levels[i]) ? style('--none') : heat(levels[i]);
      context.lineWidth = 0.013;
      context.lineCap = 'butt';
      context.stroke();
    }
  });
  context.fillStyle = style('--soft');
  context.font = '0.022px sans-serif';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
}
