/* Names of links by their place, as the program writes them: the rules of models/family_*.c. */
const letters = 'xyzabcde';

const coordinates = (v, k) => k.map((n) => { const c = v % n; v = (v - c) / n; return c; });
const neighbour = (at, k, d, plus) => at.map((c, i) => (i === d ? (c + (plus ? 1 : k[d] - 1)) % k[d] : c));

/* The parts of a cell of a panel. */
function parts(p, cell) {
  const column = cell % p.columns, row = Math.floor(cell / p.columns) % p.rows;
  return { column, row, tile: Math.floor(cell / (p.columns * p.rows)) };
}

function torusName(s, p, cell) {
  const d = letters.indexOf(p.title[0]), cables = s.parallel[d];
  const at = coordinates(Math.floor(cell / cables), s.k), to = neighbour(at, s.k, d, p.title[1] === '+');
  return `${p.title.slice(0, 2)} (${at})->(${to})` + (cables > 1 ? ` cable ${cell % cables}` : '');
}

function fatTreeName(s, p, cell) {
  const l = p.class, { tile, row, column } = parts(p, cell), product = (v, from, to) => v.slice(from, to).reduce((a, b) => a * b, 1);
  const nodes = product(s.m, 1, s.m.length), below = product(s.w, 1, l + 1), m = s.m[l + 1], cables = s.p[l + 1];
  const sets = nodes / product(s.m, 1, l + 2), plane = Math.floor(tile / sets);
  const x = (tile % sets) * m + Math.floor(row / below), y = row % below, u = Math.floor(column / cables);
  const name = (level, at, top) => level === 0 ? `node ${at}`
    : `${s.planes > 1 ? `P${plane}.` : ''}L${level}.${at * product(s.w, 1, level + 1) + top}`;
  const low = name(l, x, y), high = name(l + 1, Math.floor(x / m), y + below * u), up = p.title.endsWith(' up');
  return `${up ? `up ${low}->${high}` : `down ${high}->${low}`}` + (cables > 1 ? ` cable ${column % cables}` : '');
}

function tmeshName(s, p, cell) {
  const n = s.rows * s.columns;
  if (p.title.startsWith('mesh')) {
    const m = cell % n, step = { east: 1, west: -1, south: s.columns, north: -s.columns }[p.title.slice(5)];
    return `mesh (${coordinates(Math.floor(cell / n), s.k)}).${m}->${m + step}`;
  }
  const d = letters.indexOf(p.title[0]), plus = p.title[1] === '+', at = coordinates(cell, s.k);
  return `${p.title.slice(0, 2)} (${at}).${s.bridge[d][plus ? 0 : 1]}->(${neighbour(at, s.k, d, plus)}).${s.bridge[d][plus ? 1 : 0]}`;
}

function twoLevelName(s, p, cell) {
  const { tile, row, column } = parts(p, cell);
  if (p.title === 'D links') {
    const to = Math.floor(column / s.cables), cable = column % s.cables, host = (a, b) => s.hosts[(a * s.supernodes + b) * s.cables + cable];
    return `D ${row}.${host(row, to)}->${to}.${host(to, row)}`;
  }
  const first = tile * p.rows % s.members, supernode = Math.floor(tile * p.rows / s.members);
  return `${p.title.slice(0, 2)} ${supernode}.${first + row}->${supernode}.${first + column}`;
}

/* The name of the link in a cell that has one. */
function nameOf(p, cell) {
  const s = data.shape;
  if (s.listed) return s.listed[p.start + cell];
  if (p.title === 'node to network') return `node ${data.nodes.cells[cell]} in`;
  if (p.title === 'network to node') return `node ${data.nodes.cells[cell]} out`;
  return { torus: torusName, mesh: torusName, 'fat-tree': fatTreeName, tmesh: tmeshName, 'two-level': twoLevelName }[data.family](s, p, cell);
}
