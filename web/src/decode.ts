// Columns of the page: base64, zlib, 16 bits per value.
import type { Grid, PageData, SeriesInfo } from './contract';

// Bytes of a base64 text.
export function bytesOfBase64(text: string): Uint8Array {
  const plain = atob(text), bytes = new Uint8Array(plain.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = plain.charCodeAt(i);
  return bytes;
}

// Inflates a zlib stream (RFC 1950).
export async function inflate(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([new Uint8Array(bytes).buffer]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Decodes a column: first or second differences modulo 65536, the low bytes of all values, then the high bytes. 65535 is a missing value (NaN).
// steps: number of steps from low to high.
export function decodeColumn(bytes: Uint8Array, at: number, count: number, low: number, high: number, order = 1, steps = 65534): Float64Array {
  const values = new Float64Array(count), step = (high - low) / steps;
  for (let i = 0, q = 0, d = 0; i < count; i++) {
    const x = bytes[at + i] + 256 * bytes[at + count + i];
    d = order === 2 ? d + x : x;
    q = (q + d) & 65535;
    values[i] = q === 65535 ? NaN : q === steps ? high : low + q * step;
  }
  return values;
}

export interface Data {
  page: PageData;
  series: SeriesInfo[];
  grids: Grid[];
  span: [number, number] | null;                   // times of the run, s; null: no series over time
  main: string;                                    // "of" of the first machine
  find(name: string | undefined, of?: string): number;  // number of a series, or -1
  values(k: number): Float64Array;
  axis(grid: number): Float64Array;                // values of x
  at(k: number, x: number): number;                // linear between samples; NaN: missing, or k = -1
  nearest(k: number, x: number): number;
  extremes(k: number): [number, number];           // samples with the least and the largest value
  replace(k: number, values: Float64Array): void;  // new samples, for pages that compute
}

// Series by index. Columns are decoded on first use.
export function makeData(page: PageData, bytes: Uint8Array): Data {
  const series = page.series ?? [], grids = page.grids ?? [], columns: Float64Array[] = [], axes: Float64Array[] = [];
  const numbers = new Map<string, number>(), spreads = new Map<number, [number, number]>(), main = page.machines?.[0]?.of ?? '';
  series.forEach((s, k) => {
    const key = s.name + '\n' + (s.of ?? '');
    if (s.name && !numbers.has(key)) numbers.set(key, k);
  });

  // If this machine (of) has no series of this name, returns the series without a machine.
  const find = (name: string | undefined, of = main) => numbers.get(name + '\n' + of) ?? numbers.get(name + '\n') ?? -1;
  const values = (k: number) => columns[k] ??= column(k);
  const column = (k: number) => {
    const { grid, at, low, high, log, order, steps } = series[k], { count } = grids[grid];
    const made = at === undefined ? new Float64Array(count).fill(low) : decodeColumn(bytes, at, count, low, high, order, steps);
    return log ? made.map(v => 10 ** v) : made;
  };
  const axis = (grid: number) => axes[grid] ??= places(grids[grid]);
  const places = (g: Grid) => {
    if (g.series !== undefined) return values(g.series);
    const made = new Float64Array(g.count).map((_, i) => (g.start ?? 0) + i * (g.step ?? 1));
    if (g.end !== undefined && g.count) made[g.count - 1] = g.end;
    return made;
  };
  // The position of x in a grid: the index of the sample before x, and the fraction of the interval after this sample.
  const place = (grid: number, x: number): [number, number] => {
    const points = axis(grid), last = points.length - 1;
    if (last < 1) return [0, 0];
    const { series: own, step, start } = grids[grid];
    let a = 0;
    if (own === undefined && step) a = Math.min(last - 1, Math.max(0, Math.floor((x - (start ?? 0)) / step)));
    else for (let b = last; b - a > 1;) {
      const m = (a + b) >> 1;
      if (points[m] <= x) a = m; else b = m;
    }
    const width = points[a + 1] - points[a];
    return [a, width > 0 ? Math.min(1, Math.max(0, (x - points[a]) / width)) : 0];
  };
  const at = (k: number, x: number) => {
    if (k < 0) return NaN;
    const v = values(k), [i, f] = place(series[k].grid, x);
    return f > 0 ? v[i] + (v[i + 1] - v[i]) * f : v[i];
  };
  const nearest = (k: number, x: number) => {
    const [i, f] = place(series[k].grid, x);
    return values(k)[f > 0.5 ? i + 1 : i];
  };
  const extremes = (k: number) => {
    let made = spreads.get(k);
    if (!made) {
      const v = values(k);
      let a = 0, b = 0;
      for (let i = 1; i < v.length; i++) {
        if (v[i] < v[a] || Number.isNaN(v[a])) a = i;
        if (v[i] > v[b] || Number.isNaN(v[b])) b = i;
      }
      spreads.set(k, made = [a, b]);
    }
    return made;
  };
  const replace = (k: number, samples: Float64Array) => {
    columns[k] = samples;
    spreads.delete(k);
    const [a, b] = extremes(k);
    series[k].low = samples[a];
    series[k].high = samples[b];
  };

  const timed = new Set<number>();
  for (const c of page.charts ?? []) if (c.over_time) for (const l of c.lines) if (l.x == null && series[l.series]) timed.add(series[l.series].grid);
  for (const b of page.scene?.bodies ?? []) {
    const k = b.pose ? find(b.pose + '.x') : -1;
    if (k >= 0) timed.add(series[k].grid);
  }
  const ends = [...timed].map(axis).filter(a => a.length).flatMap(a => [a[0], a[a.length - 1]]), low = Math.min(...ends), high = Math.max(...ends);
  return { page, series, grids, span: high > low ? [low, high] : null, main, find, values, axis, at, nearest, extremes, replace };
}

// The data of the page in the document; null if the page has no data or the browser cannot decompress them.
export async function readPage(text: string | null | undefined): Promise<Data | null> {
  if (!text || typeof DecompressionStream === 'undefined') return null;
  const page = JSON.parse(text) as PageData;
  if (page.format !== 1) return null;
  return makeData(page, page.blob ? await inflate(bytesOfBase64(page.blob)) : new Uint8Array(0));
}
