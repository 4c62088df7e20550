// Decoding, digits, colors, ranges and CSV against answers that share no code with them.
import { deflateSync } from 'node:zlib';
import { check, finish, modules, near } from './support.mjs';

// An encoder after the description of the format: quantize, difference, low bytes, high bytes.
function encode(values, low, high, order = 1) {
  const q = values.map(v => Number.isNaN(v) ? 65535 : Math.round((v - low) / (high - low) * 65534));
  let d = q.map((v, i) => (v - (i ? q[i - 1] : 0) + 65536) % 65536);
  if (order === 2) d = d.map((v, i) => (v - (i ? d[i - 1] : 0) + 65536) % 65536);
  return Buffer.concat([Buffer.from(d.map(v => v & 255)), Buffer.from(d.map(v => v >> 8))]);
}

const { decodeColumn, makeData, readPage } = await modules('decode.ts');
const wave = Array.from({ length: 301 }, (_, i) => 1e5 + 2e7 * Math.sin(i * 0.37) ** 2 * Math.exp(-i / 200)), low = Math.min(...wave), high = Math.max(...wave);
for (const order of [1, 2]) {
  const got = decodeColumn(encode(wave, low, high, order), 0, wave.length, low, high, order);
  check(wave.every((v, i) => Math.abs(got[i] - v) <= (high - low) / 65534 / 2 * 1.000001), `order ${order}: a value is farther than half a step`);
  check(got[wave.indexOf(high)] === high && got[wave.indexOf(low)] === low, `order ${order}: the extremes are exact`);
}
// One wrong byte must be visible.
const damaged = encode(wave, low, high);
damaged[5] ^= 1;
check(decodeColumn(damaged, 0, wave.length, low, high).some((v, i) => Math.abs(v - wave[i]) > (high - low) / 65534), 'a damaged byte changes nothing');

// A page: a regular grid with a shorter last step, a grid of its own, a constant, logarithms, a missing value.
const times = [0, 0.1, 0.25, 0.7, 2], logs = [1, 10, 100, 1000, 1e4], gap = [0, 1, NaN, 3, 4];
const blob = [encode(wave, low, high), encode(times, 0, 2), encode(logs.map(Math.log10), 0, 4), encode(gap, 0, 4, 2)], at = [];
blob.reduce((sum, b) => (at.push(sum), sum + b.length), 0);
const page = { format: 1, program: '', kind: '', title: '', blob: deflateSync(Buffer.concat(blob)).toString('base64'),
  grids: [{ count: 301, start: 1, step: 0.01, end: 3.995 }, { count: 5, series: 1 }],
  series: [{ name: 'wave', grid: 0, low, high, at: at[0] }, { name: 't', grid: 1, low: 0, high: 2, at: at[1] }, { name: 'log', grid: 1, low: 0, high: 4, at: at[2], log: true },
    { name: 'gap', grid: 1, low: 0, high: 4, at: at[3], order: 2 }, { name: 'fixed', grid: 0, low: 7, high: 7 }, { name: 'wave', of: 'truth', grid: 0, low: 3, high: 3 }],
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
const { csvField } = await modules('csv.ts');
check(csvField('a,"b"\n') === '"a,""b""\n"' && csvField('P.pressure [bar]') === 'P.pressure [bar]', 'fields of CSV');
finish();
