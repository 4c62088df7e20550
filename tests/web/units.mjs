// Decoding, digits, colors, ranges and CSV against answers that share no code with them.
import { deflateSync } from 'node:zlib';
import { check, finish, modules, near } from './support.mjs';

// An encoder after the description of the format: quantize, difference, low bytes, high bytes.
function encode(values, low, high, order = 1, steps = 65534) {
  const q = values.map(v => Number.isNaN(v) ? 65535 : Math.round((v - low) / (high - low) * steps));
  let d = q.map((v, i) => (v - (i ? q[i - 1] : 0) + 65536) % 65536);
  if (order === 2) d = d.map((v, i) => (v - (i ? d[i - 1] : 0) + 65536) % 65536);
  return Buffer.concat([Buffer.from(d.map(v => v & 255)), Buffer.from(d.map(v => v >> 8))]);
}

const { decodeColumn, makeData, readPage } = await modules('decode.ts');
const wave = Array.from({ length: 301 }, (_, i) => 1e5 + 2e7 * Math.sin(i * 0.37) ** 2 * Math.exp(-i / 200)), low = Math.min(...wave), high = Math.max(...wave);
for (const [order, steps] of [[1, 65534], [2, 65534], [1, 4094], [2, 4094]]) {
  const got = decodeColumn(encode(wave, low, high, order, steps), 0, wave.length, low, high, order, steps);
  check(wave.every((v, i) => Math.abs(got[i] - v) <= (high - low) / steps / 2 * 1.000001), `order ${order}: a value is farther than half a step`);
  check(got[wave.indexOf(high)] === high && got[wave.indexOf(low)] === low, `order ${order}: the extremes are exact`);
}
// One wrong byte must be visible.
const damaged = encode(wave, low, high);
damaged[5] ^= 1;
check(decodeColumn(damaged, 0, wave.length, low, high).some((v, i) => Math.abs(v - wave[i]) > (high - low) / 65534), 'a damaged byte changes nothing');

// A page: a regular grid with a shorter last step, a grid of its own, a constant, logarithms, a missing value.
const times = [0, 0.1, 0.25, 0.7, 2], logs = [1, 10, 100, 1000, 1e4], gap = [0, 1, NaN, 3, 4];
const blob = [encode(wave, low, high), encode(times, 0, 2), encode(logs.map(Math.log10), 0, 4), encode(gap, 0, 4, 2), encode(wave, low, high, 1, 4094)], at = [];
blob.reduce((sum, b) => (at.push(sum), sum + b.length), 0);
const page = { format: 1, program: '', kind: '', title: '', blob: deflateSync(Buffer.concat(blob)).toString('base64'),
  grids: [{ count: 301, start: 1, step: 0.01, end: 3.995 }, { count: 5, series: 1 }],
  series: [{ name: 'wave', grid: 0, low, high, at: at[0] }, { name: 't', grid: 1, low: 0, high: 2, at: at[1] }, { name: 'log', grid: 1, low: 0, high: 4, at: at[2], log: true },
    { name: 'gap', grid: 1, low: 0, high: 4, at: at[3], order: 2 }, { name: 'fixed', grid: 0, low: 7, high: 7 }, { name: 'wave', of: 'truth', grid: 0, low: 3, high: 3 }, { name: 'coarse', grid: 0, low, high, at: at[4], steps: 4094 }],
  charts: [{ over_time: true, lines: [{ series: 0 }] }] };
const data = await readPage(JSON.stringify(page));
check(JSON.stringify(data.span) === '[1,3.995]', `span ${data.span}`);
near(data.at(0, 1.005), (wave[0] + wave[1]) / 2, (high - low) / 65534, 'between two samples');
near(data.at(0, 3.995), wave[300], (high - low) / 65534, 'the last sample');
near(data.at(0, 3.9925), (wave[299] + wave[300]) / 2, (high - low) / 65534, 'within the shorter last step');
near(data.at(0, 99), wave[300], (high - low) / 65534, 'after the end');
near(data.at(1, 0.475), 0.475, 1e-4, 'a grid of its own');
near(data.values(2)[3], 1000, 0.2, 'logarithms');
check(Number.isNaN(data.values(3)[2]) && data.values(3)[4] === 4, 'a missing value');
check(data.at(4, 2) === 7 && data.at(data.find('wave', 'truth'), 2) === 3 && data.find('none') === -1 && Number.isNaN(data.at(-1, 0)), 'constants and names');
check(data.extremes(0)[1] === wave.indexOf(high) && data.extremes(3)[1] === 4, 'extremes');
near(data.at(6, 1.01), wave[1], (high - low) / 4094, 'a column with fewer steps');
data.replace(4, new Float64Array(301).fill(9));
check(data.at(4, 2) === 9, 'replaced samples');
check(await readPage('{"format":2}') === null, 'a page of another format');
check(makeData({ format: 1 }, new Uint8Array(0)).span === null, 'a page without series');

// Digits: 3 to 4 significant ones, a true minus sign, no negative zero.
const { digitsFor, format, niceStep, plainUnit, timeDigits } = await modules('units.ts');
for (const [value, text] of [[266.49, '266'], [3.0441, '3.044'], [24.31, '24.3'], [0.02, '0.0200'], [-56.2, '−56.2'], [2.66e7, '2.66e7'], [1.5e-5, '1.50e−5'], [0, '0'], [8830, '8830']]) check(format(value) === text, `${value}: ${format(value)}, expected ${text}`);
check(format(-0.0001, 2) === '0.00' && format(NaN) === '–' && digitsFor(0) === 0 && timeDigits(17) === 2, 'special numbers');
check(plainUnit('m3/s') === 'm³/s' && plainUnit('m^2') === 'm²' && plainUnit('1') === '' && plainUnit('L/min') === 'L/min', 'units');
check(niceStep(0.3) === 0.5 && niceStep(12) === 20 && niceStep(5) === 5, 'steps of axes');

// Colors: OKLab of white, black and red as published by Ottosson; the scale of pressure darkens, or brightens, in one direction.
const { hexOfLab, labOf, paintRamp, pressureColor, ramp: _, setPressures } = await modules('palette.ts');
near(labOf('#ffffff')[0], 1, 1e-4, 'lightness of white');
near(labOf('#000000')[0], 0, 1e-6, 'lightness of black');
[0.6279, 0.2249, 0.1258].forEach((v, i) => near(labOf('#ff0000')[i], v, 2e-4, 'red'));
for (const hex of ['#0b66c3', '#fbd26b', '#123456']) check(hexOfLab(labOf(hex)) === hex, `${hex} and back: ${hexOfLab(labOf(hex))}`);
for (const dark of [false, true]) {
  setPressures({ low: 0, high: 3e7 });
  paintRamp(dark);
  const light = Array.from({ length: 61 }, (_, i) => labOf(pressureColor(i * 5e5))[0] * (dark ? 1 : -1));
  check(light.every((v, i) => i === 0 || v >= light[i - 1] - 2e-3), `lightness of the ${dark ? 'dark' : 'light'} scale turns`);
  check(pressureColor(-1e9) === pressureColor(0) && pressureColor(1e9) === pressureColor(3e7) && pressureColor(NaN) === '', 'ends of the scale');
}

// Ranges: zoom about a value keeps its place; the full range is the limit.
const { makeZoom } = await modules('zoom.ts');
const zoom = makeZoom(0, 17, false), logs2 = makeZoom(0.1, 100, true);
zoom.about(4, 0.5);
near((4 - zoom.low) / (zoom.high - zoom.low), 4 / 17, 1e-12, 'place of the center');
near(zoom.high - zoom.low, 8.5, 1e-12, 'half the range');
zoom.set(-5, 3);
check(zoom.low === 0 && !zoom.whole(), 'the range begins at its start');
zoom.about(4, 100);
check(zoom.whole(), 'no more than all');
logs2.about(1, 0.5);
near(Math.log(logs2.high / logs2.low), Math.log(1000) / 2, 1e-12, 'half of a logarithmic range');

globalThis.matchMedia = () => ({ matches: false });   // a file of the page asks for the theme of the system
const { longestPiece } = await modules('circuit.ts');
const piece = longestPiece('M10 10L10 60L110 60V50');
check(piece.length === 100 && piece.x === 60 && piece.y === 60 && piece.angle === 90, `longest piece ${JSON.stringify(piece)}`);
check(longestPiece('M0 50L0 0').angle === 0 && longestPiece('M0 0H-30').angle === -90, 'directions');

// Order of depth: boxes, lines and points at random places, which cross each other. In every direction of sight the thing painted last is the
// nearest one. Oracle: the depth of the planes and lines where the sight meets them. All things, also pieces, are convex here.
const { paintSorted } = await modules('depth_order.ts');
const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0), minus = (a, b) => a.map((v, i) => v - b[i]), toward = [0, 0, 1];
let seed = 1;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], unit = a => a.map(v => v / Math.hypot(...a));
function randomFaces() {
  const u = unit([random() - 0.5, random() - 0.5, random() - 0.5]), v = unit(cross(u, [random() - 0.5, random(), random()])), w = cross(u, v), at = [random(), random(), random()], half = [random(), random(), random()].map(x => 0.05 + 0.3 * x);
  return [[u, v, w], [v, w, u], [w, u, v]].flatMap(([n, p, q], i) => [1, -1].map(sign => ({ normal: n.map(x => sign * x), points: [[1, 1], [-1, 1], [-1, -1], [1, -1]].map(([a, b]) =>
    at.map((x, k) => x + sign * half[i] * n[k] + a * half[(i + 1) % 3] * p[k] + b * half[(i + 2) % 3] * q[k])), edges: [true, true, true, true] }))).filter(f => f.normal[2] > 1e-6);
}
// The depth of a thing at a place of the picture, or -Infinity. Lines have a width of 0.02.
function depthAt({ points, normal }, x, y) {
  if (!normal) {
    const [a, b] = points, d = minus(b, a), f = ((x - a[0]) * d[0] + (y - a[1]) * d[1]) / (d[0] ** 2 + d[1] ** 2);
    return f >= 0 && f <= 1 && Math.hypot(a[0] + f * d[0] - x, a[1] + f * d[1] - y) < 0.01 ? a[2] + f * d[2] : -Infinity;
  }
  const sides = points.map((p, i) => Math.sign((points[(i + 1) % points.length][0] - p[0]) * (y - p[1]) - (points[(i + 1) % points.length][1] - p[1]) * (x - p[0])));
  return sides.some(s => s > 0) && sides.some(s => s < 0) ? -Infinity : (dot(normal, points[0]) - normal[0] * x - normal[1] * y) / normal[2];
}
let painted = [], sights = 0, hidden = 0, stroked = 0;
for (let trial = 0; trial < 20; trial++) {
  const paint = item => painted.push(item), length = ({ points, edges }) => points.reduce((sum, p, i) => edges[i] ? sum + Math.hypot(...minus(points[(i + 1) % points.length], p)) : sum, 0);
  const things = [...Array.from({ length: 8 }, randomFaces).flat(), ...Array.from({ length: 4 }, () => ({ points: [[random(), random(), random()], [random(), random(), random()]], edges: [true, true] }))].map(t => ({ ...t, paint }));
  const outlines = things.filter(t => t.normal).reduce((sum, t) => sum + length(t), 0);
  painted = [];
  paintSorted([...things], toward, 1e-9);
  near(painted.filter(t => t.normal).reduce((sum, t) => sum + length(t), 0), outlines, 1e-6 * outlines, 'length of the stroked edges');
  stroked += painted.length - things.length;
  for (let k = 0; k < 200; k++) {
    const x = random(), y = random(), truth = Math.max(...things.map(t => depthAt(t, x, y))), on = painted.map(t => depthAt(t, x, y)).filter(d => d > -Infinity), seen = on[on.length - 1];
    if (truth === -Infinity) continue;
    sights++;
    // A line of a certain width has the depth of its middle: near its edge it may be cut at another place.
    if (!(Math.abs(seen - truth) < 1e-6) && !things.some(t => !t.normal && depthAt(t, x, y) > -Infinity)) hidden++;
  }
}
check(sights > 1000 && stroked > 100, `${sights} sights, ${stroked} cuts`);
check(hidden === 0, `${hidden} of ${sights} sights show a thing that is behind another one`);

const { csvField } = await modules('csv.ts');
check(csvField('a,"b"\n') === '"a,""b""\n"' && csvField('P.pressure [bar]') === 'P.pressure [bar]', 'fields of CSV');
finish();
