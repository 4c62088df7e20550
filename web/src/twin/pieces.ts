// Pieces of a curve for a chart: first bins of the history, then samples of the ring. A gap is a missing value between two points.
import type { Bins } from './contract';

export interface Piece { t: number[]; mean: number[]; low: number[]; high: number[]; sigma: number[] }
export const emptyPiece = (): Piece => ({ t: [], mean: [], low: [], high: [], sigma: [] });

function add(p: Piece, t: number, mean: number, low: number, high: number, sigma: number): void {
  p.t.push(t);
  p.mean.push(mean);
  p.low.push(low);
  p.high.push(high);
  p.sigma.push(sigma);
}
function cut(p: Piece, t: number): void { add(p, t, NaN, NaN, NaN, NaN); }

// Bins of the history. Distances of more than 1.5 bins (rows: of more than `gap`) are gaps.
export function pieceOfBins(bins: Bins, gap: number): Piece {
  const p = emptyPiece(), { t, dt, mean } = bins, most = Math.max(dt > 0 ? 1.5 * dt : 0, gap);
  t.forEach((at, i) => {
    if (i && at - t[i - 1] > most) cut(p, (at + t[i - 1]) / 2);
    const m = mean[i] ?? NaN;
    add(p, at, m, bins.min?.[i] ?? m, bins.max?.[i] ?? m, bins.sigma?.[i] ?? NaN);
  });
  return p;
}
// Samples from..to (indices) of a ring, joined in bins of a width if they are closer. Bins begin at multiples of the width, so that they do not change while the interval moves.
export function addSamples(p: Piece, t: Float64Array, v: Float64Array, sigma: Float64Array | null, from: number, to: number, width: number, gap: number): void {
  for (let i = from; i < to;) {
    if (p.t.length && t[i] - p.t[p.t.length - 1] > Math.max(gap, 1.5 * width)) cut(p, (t[i] + p.t[p.t.length - 1]) / 2);
    const bin = Math.floor(t[i] / width);
    let n = 0, sum = 0, low = Infinity, high = -Infinity, spread = 0, time = 0;
    do {
      const y = v[i];
      if (!Number.isNaN(y)) {
        n++;
        sum += y;
        low = Math.min(low, y);
        high = Math.max(high, y);
        if (sigma) spread += sigma[i];
      }
      time = t[i];
      i++;
    } while (i < to && Math.floor(t[i] / width) === bin);
    add(p, n > 1 ? Math.min(time, (bin + 0.5) * width) : time, n ? sum / n : NaN, n ? low : NaN, n ? high : NaN, sigma && n ? spread / n : NaN);
  }
}
// The part of a piece before a time.
export function before(p: Piece, t: number): Piece {
  let n = 0;
  while (n < p.t.length && p.t[n] < t) n++;
  return { t: p.t.slice(0, n), mean: p.mean.slice(0, n), low: p.low.slice(0, n), high: p.high.slice(0, n), sigma: p.sigma.slice(0, n) };
}
// Index of the point nearest to a time; -1: none, or a gap.
export function nearestPoint(t: number[], at: number): number {
  let a = -1, b = t.length;
  while (b - a > 1) {
    const m = (a + b) >> 1;
    if (t[m] <= at) a = m; else b = m;
  }
  return a < 0 ? (t.length ? 0 : -1) : a + 1 < t.length && t[a + 1] - at < at - t[a] ? a + 1 : a;
}
// Several pieces on one axis of times; values at times that a piece does not have: undefined (no gap).
export function join(pieces: Piece[]): { t: number[]; of: (field: keyof Piece, i: number) => (number | null | undefined)[] } {
  const same = pieces.every(p => p.t.length === pieces[0].t.length && p.t.every((x, i) => x === pieces[0].t[i]));
  const plain = (v: number[]) => v.map(x => Number.isNaN(x) ? null : x);
  if (same) return { t: pieces[0]?.t ?? [], of: (field, i) => plain(pieces[i][field]) };
  const all = [...new Set(pieces.flatMap(p => p.t))].sort((a, b) => a - b), place = new Map(all.map((x, i) => [x, i]));
  return { t: all, of: (field, i) => {
    const made = new Array<number | null | undefined>(all.length), p = pieces[i];
    p.t.forEach((x, j) => { made[place.get(x) as number] = Number.isNaN(p[field][j]) ? null : p[field][j]; });
    return made;
  } };
}
