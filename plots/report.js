/* The page: filters, maps of links, their readout, mappings. */
const $ = (id) => document.getElementById(id);
const data = JSON.parse($('data').textContent);
const state = { classes: new Set(), log: false, floor: 0, panel: null, cell: -1 };
let sides, most_s = 0, busiestClass = -1;

const units = { B: ['B', 'KB', 'MB', 'GB', 'TB', 'PB', 'EB'], s: ['ns', 'µs', 'ms', 's'] };
function quantity(value, unit) {
  if (value === 0) return `0 ${unit}`;
  const names = units[unit];
  let v = unit === 's' ? value * 1e9 : value, i = 0;
  while (Number(v.toPrecision(4)) >= 1000 && i < names.length - 1) { v /= 1000; i++; }
  return `${Number(v.toPrecision(4))} ${names[i]}`;
}

/* ---- loads ---- */

const bytesOf = (side, at) => side.bytes.value[side.bytes.index[at]];
const busyOf = (side, p, cell) => side.busy ? side.busy.value[side.busy.index[p.start + cell]] : bytesOf(side, p.start + cell) * side.factor[p.class];
const exists = (p, cell) => sides[0].bytes.index[p.start + cell] !== 0;
function level(busy_s) {
  if (!(busy_s > 0)) return 0;
  return state.log ? Math.max(0, 1 + Math.log10(busy_s / most_s) / 3) : busy_s / most_s;
}
const shown = (p) => state.classes.has(p.class);
const hidden = (busy_s) => busy_s < state.floor * most_s || busy_s === 0;

function unpack() {
  const { panels } = data;
  let start = 0;
  for (const p of panels) { p.start = start; p.n = p.tiles * p.rows * p.columns; start += p.n; }
  sides = data.sides.map((s) => ({ label: s.label, factor: s.factor, bytes: unpackReals(s.bytes), busy: s.busy && unpackReals(s.busy),
    node: unpackNumbers(s.node) }));
  data.nodes.cells = unpackNumbers(data.nodes.cell);
  for (const p of panels) {
    p.hottest = [-1, -1];
    p.busiest_s = [0, 0];
    sides.forEach((side, i) => {
      for (let cell = 0; cell < p.n; cell++) {
        const busy_s = busyOf(side, p, cell);
        if (busy_s > p.busiest_s[i]) { p.busiest_s[i] = busy_s; p.hottest[i] = cell; }
      }
    });
    if (Math.max(...p.busiest_s) > most_s) { most_s = Math.max(...p.busiest_s); busiestClass = p.class; }
  }
}

/* ---- maps of links ---- */

function colours(side, p) {
  const none = hexWord(style('--none')), other = side.busy || side.bytes, scale = side.busy ? 1 : side.factor[p.class];
  const table = new Uint32Array(other.value.length);
  for (let i = 1; i < table.length; i++) {
    const busy_s = other.value[i] * scale;
    table[i] = hidden(busy_s) ? none : heatWord(level(busy_s));
  }
  return (cell) => table[other.index[p.start + cell]];
}

function makePanel(p) {
  const box = document.createElement('div');
  box.className = 'panel';
  box.tabIndex = 0;
  box.setAttribute('role', 'application');
  box.setAttribute('aria-roledescription', 'map of links');
  box.setAttribute('aria-label', `${p.title}: arrow keys move from link to link, Home and End go to the busiest before and after`);
  const axes = [p.tile && `a tile a ${p.tile}`, p.row && `rows: ${p.row}`, p.column && `columns: ${p.column}`].filter(Boolean).join(' · ');
  box.innerHTML = `<h3></h3><p></p><div class="pair">${[0, 1].map((i) => `<div class="side s${i}"><b></b><div class="stage"><canvas role="img"></canvas><i class="cursor"></i></div></div>`).join('')}</div>`;
  box.querySelector('h3').textContent = p.title;
  box.querySelectorAll('.side b').forEach((b, i) => { b.textContent = sides[i].label; });
  box.querySelector('p').textContent = `${axes} · busiest ${p.busiest_s.map((v) => quantity(v, 's')).join(', then ')}`;
  p.box = box;
  p.stages = [...box.querySelectorAll('.stage')];
  p.canvases = [...box.querySelectorAll('canvas')];
  p.canvases.forEach((canvas, i) => {
    canvas.setAttribute('aria-label', `${p.title} under ${sides[i].label}`);
    const choose = (e) => {
      const r = canvas.getBoundingClientRect();
      const cell = cellAt(p, p.tiling, Math.floor((e.clientX - r.left) / p.tiling.s), Math.floor((e.clientY - r.top) / p.tiling.s));
      if (cell >= 0 && exists(p, cell)) select(p, cell);
    };
    canvas.addEventListener('pointermove', choose);
    canvas.addEventListener('pointerdown', choose);
  });
  box.addEventListener('keydown', (e) => move(p, e));
  box.addEventListener('focus', () => { if (state.panel !== p) select(p, p.hottest[0] >= 0 ? p.hottest[0] : p.hottest[1]); });
  $('panels').append(box);
}

function paintPanel(p) {
  p.box.hidden = !shown(p);
  if (p.box.hidden) return;
  p.tiling = tiling(p, p.stages[0].clientWidth - 10, innerWidth < 700 ? 360 : 540);
  sides.forEach((side, i) => paintCells(p.canvases[i], p, p.tiling, colours(side, p)));
}

/* The next link that exists in the direction of an arrow key. */
function move(p, e) {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key], t = p.tiling;
  if (e.key === 'Home' || e.key === 'End') {
    const cell = p.hottest[e.key === 'Home' ? 0 : 1];
    if (cell >= 0) select(p, cell);
    e.preventDefault();
  }
  if (!step) return;
  e.preventDefault();
  let { x, y } = state.panel === p ? placeOf(p, t, state.cell) : { x: -1, y: 0 };
  const w = t.across * (p.columns + 1), h = t.down * (p.rows + 1);
  for (;;) {
    x += step[0]; y += step[1];
    if (x < 0 || y < 0 || x >= w || y >= h) return;
    const cell = cellAt(p, t, x, y);
    if (cell >= 0 && exists(p, cell)) { select(p, cell); return; }
  }
}

/* Frames the cell in a map; the stage's padding of 5 pixels leaves room at its edge. */
function frame(stage, p, cell) {
  const { x, y } = placeOf(p, p.tiling, cell), s = p.tiling.s, pad = s < 6 ? 4 : 2, side = `${s + 2 * pad}px`;
  Object.assign(stage.querySelector('.cursor').style, { display: 'block', left: `${5 + x * s - pad}px`, top: `${5 + y * s - pad}px`, width: side, height: side });
}

function select(p, cell) {
  if (cell < 0) return;
  const old = state.panel;
  state.panel = p;
  state.cell = cell;
  if (old && old !== p) old.stages.forEach((s) => { s.querySelector('.cursor').style.display = 'none'; });
  if (shown(p) && p.tiling) {
    p.stages.forEach((stage) => frame(stage, p, cell));
  }
  $('r-name').textContent = nameOf(p, cell);
  sides.forEach((side, i) => {
    const bytes = bytesOf(side, p.start + cell), busy_s = busyOf(side, p, cell);
    $(`r-${i}`).textContent = bytes > 0 ? `${quantity(bytes, 'B')}, busy ${quantity(busy_s, 's')}, ${(100 * busy_s / most_s).toFixed(1)} % of the busiest` : 'carries nothing';
    $(`r-${i}`).parentElement.querySelector('i').style.background = bytes > 0 ? heat(level(busy_s)) : 'var(--none)';
  });
  glance();
}

/* ---- at a glance ---- */

const MOST_STROKES = 5000;
let overview;

/* Busiest link that leaves each router of a torus, by slices. */
function routerCells(own) {
  const first = own[0];
  const rows = first.rows, { columns } = data.glance, p = { tiles: first.tiles, rows, columns, n: first.tiles * rows * columns };
  p.own = own;
  p.best = sides.map((side) => {
    const best = { busy_s: new Float64Array(p.n).fill(-1), panel: new Uint8Array(p.n), cell: new Uint32Array(p.n) };
    own.forEach((q, k) => {
      const cables = q.columns / columns;
      for (let cell = 0; cell < q.n; cell++) {
        const at = Math.floor(cell / cables), busy_s = busyOf(side, q, cell);
        if (busy_s > best.busy_s[at] && exists(q, cell)) { best.busy_s[at] = busy_s; best.panel[at] = k; best.cell[at] = cell; }
      }
    });
    return best;
  });
  return p;
}

function makeOverview() {
  const { kind } = data.glance, strokeOf = { ring: ringStroke, tree: treeStroke }[kind], own = data.panels.filter((p) => p.glance);
  if (kind === 'none' || !own.length) {
    $('overview').hidden = true;
    return;
  }
  if (!strokeOf) { overview = { cells: routerCells(own) }; return; }
  const ghosts = kind === 'tree' && own.reduce((n, p) => n + p.n, 0) <= MOST_STROKES; /* unused links too */
  const each = Math.floor(MOST_STROKES / own.length);
  let more = false;
  overview = { own, aspect: kind === 'ring' ? 1 : 0.62, strokes: sides.map((side) => {
    const top = [];
    for (const p of own) {
      let all = [];
      for (let cell = 0; cell < p.n; cell++) if (exists(p, cell)) all.push(busyOf(side, p, cell));
      all = Float64Array.from(all).sort();
      const least = Math.max(all[Math.max(0, all.length - each)] || 0, ghosts ? 0 : Number.MIN_VALUE);
      for (let cell = 0, n = 0; cell < p.n && n < each; cell++) {
        const busy_s = exists(p, cell) ? busyOf(side, p, cell) : -1;
        if (busy_s >= least && ++n) top.push({ p, cell, busy_s });
      }
      more = more || (all.length > each && all[all.length - each - 1] > 0);
    }
    top.sort((a, b) => a.busy_s - b.busy_s);
    for (const k of top) k.at = strokeOf(k.p, k.cell);
    return top;
  }) };
  overview.dropped = more && each;
}

/* Level of the busiest link of a class in each supernode. */
function band(side, title) {
  const p = data.panels.find((q) => q.title === title), out = new Float64Array(data.glance.spots).fill(NaN);
  if (!p || !shown(p)) return null;
  for (let cell = 0; cell < p.n; cell++) {
    const at = Math.floor(parts(p, cell).tile * p.rows / data.glance.perSpot), busy_s = busyOf(side, p, cell);
    if (!hidden(busy_s) && busy_s >= 0 && !(out[at] >= level(busy_s))) out[at] = level(busy_s);
  }
  return out;
}

function tellOverview() {
  const has = (title) => data.panels.some((p) => p.title === title), wide = overview && overview.strokes ? ' and wider' : '';
  const bands = has('LR links') ? 'the inner band is the busiest LR link of a supernode, the outer band its busiest LL link' : 'the band is the busiest LL link of a supernode';
  const { kind, square } = data.glance, told = { ring: `A ring of supernodes. Curves are D links; ${bands}.`, tree: 'The tree, nodes at the bottom. A line is a link up or down.',
    squares: `A square is a ${square}, coloured by the busiest link ${square === 'router' ? '' : 'to others '}that leaves it; a block is a slice.` }[kind];
  const dropped = overview && overview.dropped ? kind === 'tree' ? ` The ${overview.dropped} busiest of each level and direction are drawn.` : ` The ${overview.dropped} busiest are drawn.` : '';
  $('glance-what').textContent = overview ? `${told}${dropped} ${dark() ? 'Brighter' : 'Darker'}${wide} is busier; both pictures have one scale.` : 'The maps below show every link.';
}

function paintOverview() {
  tellOverview();
  if (!overview) return;
  sides.forEach((side, i) => {
    const canvas = $(`overview-${i}`), side_s = Math.max(0, ...data.panels.map((p) => p.busiest_s[i]));
    $(`glance-${i}`).textContent = `busiest link ${quantity(side_s, 's')}`;
    if (overview.cells) {
      const p = overview.cells, t = p.tiling = tiling(p, canvas.parentElement.clientWidth, 460, 32), none = hexWord(style('--none'));
      canvas.style.imageRendering = 'pixelated';
      const { busy_s, panel } = p.best[i];
      paintCells(canvas, p, t, (cell) => (busy_s[cell] < 0 || !shown(p.own[panel[cell]]) || hidden(busy_s[cell]) ? none : heatWord(level(busy_s[cell]))));
      return;
    }
    const list = overview.strokes[i].filter((k) => shown(k.p) && (k.busy_s === 0 || !hidden(k.busy_s))).map((k) => ({ at: k.at, level: level(k.busy_s) }));
    if (state.panel && overview.own.includes(state.panel)) list.push({ at: (data.glance.kind === 'ring' ? ringStroke : treeStroke)(state.panel, state.cell), level: -1 });
    const { context } = drawStrokes(canvas, list, overview.aspect);
    if (data.glance.kind !== 'ring') return;
    if (!overview.bands) overview.bands = sides.map((s) => [band(s, 'LR links'), band(s, 'LL links')].filter(Boolean));
    drawRing(context, data.glance.spots, overview.bands[i]);
  });
}
let waiting = false;
function glance() { /* once a frame: the cursor is on the picture too */
  if (waiting || !overview || overview.cells) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; paintOverview(); });
}

function pointOverview() {
  if (!overview) return;
  [0, 1].forEach((i) => $(`overview-${i}`).addEventListener('pointermove', (e) => {
    const r = e.target.getBoundingClientRect(), x = (e.clientX - r.left) / r.width, y = (e.clientY - r.top) / r.height;
    if (overview.cells) {
      const p = overview.cells, cell = cellAt(p, p.tiling, Math.floor((e.clientX - r.left) / p.tiling.s), Math.floor((e.clientY - r.top) / p.tiling.s));
      const b = p.best[i];
      if (cell >= 0 && b.busy_s[cell] >= 0) select(p.own[b.panel[cell]], b.cell[cell]);
      return;
    }
    let best = null, nearest = 0.02;
    for (const k of overview.strokes[i]) {
      if (!shown(k.p) || hidden(k.busy_s)) continue;
      const d = strokeDistance(k.at, x, y);
      if (d <= nearest) { nearest = d; best = k; }
    }
    if (best) select(best.p, best.cell);
  }));
}

/* ---- controls ---- */

function makeControls() {
  const present = new Set(data.panels.map((p) => p.class));
  data.classes.forEach((c, i) => {
    if (!present.has(i) || !c.links) return;
    const label = document.createElement('label'), box = document.createElement('input');
    label.className = 'chip';
    box.type = 'checkbox';
    box.dataset.class = i;
    box.checked = c.title !== 'injection' || i === busiestClass;
    if (box.checked) state.classes.add(i);
    box.addEventListener('change', () => { state.classes[box.checked ? 'add' : 'delete'](i); repaint(); });
    label.append(box, c.title);
    $('classes').append(label);
  });
  $('log').addEventListener('change', (e) => { state.log = e.target.checked; repaint(); });
  $('floor').addEventListener('input', (e) => { state.floor = e.target.value / 100; $('floor-text').textContent = `${e.target.value} %`; repaint(); });
  $('theme').addEventListener('click', () => { document.documentElement.dataset.theme = dark() ? 'light' : 'dark'; repaint(); });
}

function paintLegend() {
  const stops = heatStops[dark() ? 'dark' : 'light'], low = state.log ? most_s / 1000 : 0;
  $('legend').innerHTML = `<span>busy for ${quantity(low, 's')}</span><i style="background:${gradient(stops)}"></i><span>${quantity(most_s, 's')}${state.log ? ', log scale' : ''}</span><i class="none"></i><span>carries nothing${state.floor ? ' or is hidden' : ''}</span>`;
  $('theme').textContent = dark() ? 'Light' : 'Dark';
  $('theme').setAttribute('aria-pressed', dark());
  $('task-legend').innerHTML = `<span>task 0</span><i style="background:${gradient(taskStops)}"></i><span>${data.tasks - 1}</span><i class="none"></i><span>no task</span>`;
}

/* ---- mappings ---- */

function makeNodes() {
  const p = data.nodes, most = p.cells.length;
  p.stages = [];
  sides.forEach((side, i) => {
    const total = new Float64Array(most), count = side.count = new Uint32Array(most);
    for (let task = 0; task < side.node.length; task++) { total[side.node[task]] += task; count[side.node[task]]++; }
    side.mean = total.map((sum, node) => sum / count[node]);
    const figure = document.createElement('figure');
    figure.className = `s${i}`;
    figure.innerHTML = `<figcaption><b></b> <span>tasks on ${side.count.reduce((n, tasks) => n + (tasks > 0), 0)} nodes</span></figcaption><div class="stage"><canvas role="img" tabindex="0"></canvas><i class="cursor"></i></div>`;
    figure.querySelector('b').textContent = side.label;
    const canvas = figure.querySelector('canvas');
    canvas.setAttribute('aria-label', `tasks on nodes under ${side.label}; arrow keys move`);
    canvas.addEventListener('pointermove', (e) => {
      const r = canvas.getBoundingClientRect();
      tellNode(cellAt(p, p.tiling, Math.floor((e.clientX - r.left) / p.tiling.s), Math.floor((e.clientY - r.top) / p.tiling.s)));
    });
    canvas.addEventListener('keydown', (e) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -p.columns, ArrowDown: p.columns }[e.key];
      if (!step) return;
      e.preventDefault();
      for (let at = p.at + step; at >= 0 && at < most; at += step) if (p.cells[at] !== 0xffffffff) { tellNode(at); break; }
    });
    canvas.addEventListener('focus', () => { if (p.at < 0) tellNode(0); });
    p.stages.push(figure.querySelector('.stage'));
    $('nodes').append(figure);
  });
  p.at = -1;
}

function paintNodes() {
  const p = data.nodes, none = hexWord(style('--none'));
  p.tiling = tiling(p, p.stages[0].clientWidth - 10, 420);
  sides.forEach((side, i) => paintCells(p.stages[i].firstChild, p, p.tiling, (cell) => {
    const node = p.cells[cell];
    if (node === 0xffffffff) return 0;
    return side.count[node] ? word(mix(taskStops, side.mean[node] / Math.max(1, data.tasks - 1))) : none;
  }));
  if (p.at >= 0) tellNode(p.at);
}

/* "0-3, 8": at most five runs. */
function runs(tasks) {
  const out = [];
  for (let i = 0; i < tasks.length; i++) {
    let j = i;
    while (j + 1 < tasks.length && tasks[j + 1] === tasks[j] + 1) j++;
    out.push(i === j ? `${tasks[i]}` : `${tasks[i]}-${tasks[j]}`);
    i = j;
  }
  return out.length > 5 ? `${out.slice(0, 5).join(', ')}, ...` : out.join(', ');
}

function tellNode(cell) {
  const p = data.nodes, node = cell < 0 ? 0xffffffff : p.cells[cell];
  if (node === 0xffffffff) return;
  p.at = cell;
  p.stages.forEach((stage) => frame(stage, p, cell));
  $('node-readout').textContent = `node ${node} · ` + sides.map((side) => {
    const tasks = [];
    side.node.forEach((n, t) => { if (n === node) tasks.push(t); });
    return `${side.label}: ${tasks.length ? `${tasks.length} task${tasks.length > 1 ? 's' : ''}, ${runs(tasks)}` : 'no task'}`;
  }).join(' · ');
}

/* ---- all of it ---- */

function repaint() {
  prepareShades();
  if (overview) overview.bands = null;
  paintLegend();
  paintOverview();
  data.panels.forEach(paintPanel);
  paintNodes();
  for (const h of document.querySelectorAll('.hist')) h.hidden = !state.classes.has(Number(h.dataset.class));
  if (state.panel) select(state.panel, state.cell);
}

function start() {
  unpack();
  makeControls();
  data.panels.forEach(makePanel);
  makeOverview();
  makeNodes();
  repaint();
  pointOverview();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  let theme; /* paper is light */
  addEventListener('beforeprint', () => { theme = document.documentElement.dataset.theme; document.documentElement.dataset.theme = 'light'; repaint(); });
  addEventListener('afterprint', () => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    repaint();
  });
  let width = innerWidth;
  addEventListener('resize', () => { if (innerWidth !== width) { width = innerWidth; repaint(); } });
  requestAnimationFrame(() => { document.documentElement.dataset.ready = Math.round(performance.now()); });
}
start();
