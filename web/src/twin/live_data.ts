// The data of a live machine for the pictures and charts: series of the description, samples of the last minutes, and frames of the past.
import type { Channel, Description, Frames } from './contract';
import type { Data } from '../decode';
import type { Ring } from './ring';
import type { SeriesInfo } from '../contract';
import { makeRing } from './ring';

const MOST_BYTES = 24e6, MOST_SECONDS = 600;   // size and length of the ring
export const LIVE_GAP = 1.5;                   // a longer time between samples is a gap, s

export interface LiveData extends Data {
  channels: Channel[];
  ring: Ring;
  take(t: number, values: (number | null)[], sigma: (number | null)[] | undefined): void;
  frames: { use(f: Frames): void; has(t: number): boolean };
  sigmaOf: Int32Array;                         // column of the standard deviation of a series in the ring; -1: none
  channel(name: string): number;               // series of a channel; -1: none
  hasPicture(t: number): boolean;              // whether pictures can be drawn at this time
}

export function makeLiveData(d: Description, interval = 0.04): LiveData {
  const channels = d.series ?? [], series: SeriesInfo[] = channels.map(c => ({ name: c.name ?? c.channel, part: c.part, group: c.group, quantity: c.quantity, of: c.of === 'view' ? undefined : c.of,
    si: c.si, unit: c.unit ?? c.si, factor: c.factor, offset: c.offset, grid: 0, low: NaN, high: NaN }));
  // Pictures take outputs of the estimated machine. If several series have the same name, the first kind of this list is used.
  const order = ['view', 'estimate', 'parameter', 'input', 'measured', 'compared', 'truth'], names = new Map<string, number>(), numbers = new Map<string, number>();
  channels.forEach((c, k) => {
    numbers.set(c.channel, k);
    const name = series[k].name ?? '', known = names.get(name), rank = (i: number) => (order.indexOf(channels[i].of) + 99) % 99;
    if (known === undefined || rank(k) < rank(known)) names.set(name, k);
  });
  const sigmaOf = new Int32Array(channels.length).fill(-1);
  let width = channels.length;
  channels.forEach((c, k) => { if (c.sigma) sigmaOf[k] = width++; });
  const capacity = Math.max(50, Math.min(Math.ceil(MOST_SECONDS / interval), Math.floor(MOST_BYTES / 16 / (width + 1)))), ring = makeRing(width, capacity), row = new Array<number | null>(width);

  // Frames of the past: the values of the `view` series, loaded around the cursor.
  let frameTimes = new Float64Array(0), frameValues: (number | null)[][] = [], frameColumn = new Int32Array(0);
  const column = new Map<number, number>(), frameBefore = (t: number) => {
    let a = -1, b = frameTimes.length;
    while (b - a > 1) {
      const m = (a + b) >> 1;
      if (frameTimes[m] <= t) a = m; else b = m;
    }
    return a;
  };
  const frameGap = () => frameTimes.length > 1 ? Math.max(LIVE_GAP, 3 * (frameTimes[frameTimes.length - 1] - frameTimes[0]) / (frameTimes.length - 1)) : LIVE_GAP;
  const mix = (a: number, b: number, f: number) => f > 0 ? a + (b - a) * f : a;

  const inRing = (t: number) => {
    const i = ring.before(t), times = ring.times();
    return i >= 0 && (t - times[i] < LIVE_GAP || (i + 1 < times.length && times[i + 1] - times[i] < LIVE_GAP)) ? i : -1;
  };
  const inFrames = (t: number) => {
    const i = frameBefore(t);
    return i >= 0 && t - frameTimes[i] < frameGap() ? i : -1;
  };
  const shareOf = (times: Float64Array, i: number, t: number, gap: number) => i + 1 < times.length && times[i + 1] - times[i] < gap ? Math.min(1, (t - times[i]) / (times[i + 1] - times[i])) : 0;
  const at = (k: number, t: number) => {
    if (k < 0) return NaN;
    const i = inRing(t);
    if (i >= 0) {
      const v = ring.column(k), f = shareOf(ring.times(), i, t, LIVE_GAP);
      return mix(v[i], f > 0 ? v[i + 1] : 0, f);
    }
    const j = inFrames(t), c = column.get(k);
    if (j < 0 || c === undefined) return NaN;
    const f = shareOf(frameTimes, j, t, frameGap());
    return mix(frameValues[j][c] ?? NaN, f > 0 ? frameValues[j + 1][c] ?? NaN : 0, f);
  };
  const nearest = (k: number, t: number) => {
    const i = inRing(t), times = i >= 0 ? ring.times() : frameTimes, j = i >= 0 ? i : inFrames(t), f = j < 0 ? 0 : shareOf(times, j, t, i >= 0 ? LIVE_GAP : frameGap());
    return j < 0 ? NaN : at(k, times[f > 0.5 ? j + 1 : j]);
  };
  const spread = (s: SeriesInfo, v: number) => {
    if (!(v >= s.low)) s.low = v;
    if (!(v <= s.high)) s.high = v;
  };
  const times = () => ring.times();
  return {
    page: { format: 1, program: '', kind: 'twin', title: d.title, groups: d.groups, scene: d.scene, circuit: d.circuit, series }, series, grids: [{ count: 0 }], span: null, main: '', channels, ring, sigmaOf,
    channel: name => numbers.get(name) ?? -1,
    find: (name, of) => name === undefined ? -1 : of ? channels.findIndex((c, k) => c.of === of && series[k].name === name) : names.get(name) ?? -1,
    values: k => Float64Array.from(ring.column(k)),
    axis: times, at, nearest,
    extremes: () => [0, 0],
    replace: () => {},
    take(t, values, sigma) {
      let s = 0;
      channels.forEach((c, k) => {
        const v = row[k] = values[k] ?? null;
        if (v !== null) spread(series[k], v);
        if (c.sigma) row[sigmaOf[k]] = sigma?.[s++] ?? null;
      });
      ring.push(t, row);
    },
    frames: {
      use(f) {
        frameTimes = Float64Array.from(f.t);
        frameValues = f.values;
        frameColumn = Int32Array.from(f.channels, c => numbers.get(c) ?? -1);
        column.clear();
        frameColumn.forEach((k, c) => { if (k >= 0) column.set(k, c); });
        for (const values of f.values) frameColumn.forEach((k, c) => { const v = values[c]; if (k >= 0 && v !== null) spread(series[k], v); });
      },
      has: t => inFrames(t) >= 0,
    },
    hasPicture: t => inRing(t) >= 0 || inFrames(t) >= 0,
  };
}
