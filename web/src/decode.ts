// Columns of the page: base64, zlib, 16 bits for a value. See docs for the encoding.
import type { Grid, PageData, SeriesInfo } from './contract';

// Bytes of a base64 text.
export function bytesOfBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// Inflates a zlib stream (RFC 1950).
export async function inflate(bytes: Uint8Array): Promise<Uint8Array> {
  const copy = new Uint8Array(bytes);   // a buffer of its own, as Blob requires
  const stream = new Blob([copy.buffer]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// One column: differences modulo 65536, low bytes of all values, then high bytes. 65535 is a missing value (NaN).
export function decodeColumn(bytes: Uint8Array, at: number, count: number, low: number, high: number): Float64Array {
  const values = new Float64Array(count), step = (high - low) / 65534;
  let q = 0;
  for (let i = 0; i < count; i++) {
    q = (q + bytes[at + i] + 256 * bytes[at + count + i]) & 65535;
    values[i] = q === 65535 ? NaN : q === 65534 ? high : low + q * step;
  }
  return values;
}

// Series by number; columns are decoded on first use.
export class Data {
  readonly series: SeriesInfo[];
  readonly grids: Grid[];
  readonly span: [number, number] | null;   // times of the run, s; null: no series over time
  private readonly columns: (Float64Array | undefined)[] = [];
  private readonly axes: (Float64Array | undefined)[] = [];
  private readonly numbers = new Map<string, number>();
  private readonly spread = new Map<number, [number, number]>();

  constructor(readonly page: PageData, private readonly bytes: Uint8Array) {
    this.series = page.series ?? [];
    this.grids = page.grids ?? [];
    this.series.forEach((s, k) => {
      const key = s.name + '\n' + (s.of ?? '');
      if (!this.numbers.has(key)) this.numbers.set(key, k);
    });
    this.span = this.timeSpan();
  }

  // Number of a series, or -1. Without a series of this machine (of), the series without a machine.
  find(name: string | undefined, of = ''): number {
    if (name === undefined) return -1;
    return this.numbers.get(name + '\n' + of) ?? (of ? this.numbers.get(name + '\n') : undefined) ?? -1;
  }

  values(k: number): Float64Array {
    const known = this.columns[k];
    if (known) return known;
    const s = this.series[k], count = this.grids[s.grid].count;
    const made = s.at === undefined ? new Float64Array(count).fill(s.low) : decodeColumn(this.bytes, s.at, count, s.low, s.high);
    return this.columns[k] = made;
  }

  // Values of x of a grid.
  axis(grid: number): Float64Array {
    const known = this.axes[grid];
    if (known) return known;
    const g = this.grids[grid];
    const made = g.series !== undefined ? this.values(g.series)
      : Float64Array.from({ length: g.count }, (_, i) => (g.start ?? 0) + i * (g.step ?? 1));
    return this.axes[grid] = made;
  }

  // Place of x in a grid: the sample before and the fraction after it.
  private place(grid: number, x: number): [number, number] {
    const g = this.grids[grid], last = g.count - 1;
    if (last < 1) return [0, 0];
    if (g.series === undefined) {
      const p = Math.min(Math.max((x - (g.start ?? 0)) / (g.step ?? 1), 0), last), i = Math.min(Math.floor(p), last - 1);
      return [i, p - i];
    }
    const axis = this.axis(grid);
    let a = 0, b = last;
    while (b - a > 1) {
      const m = (a + b) >> 1;
      if (axis[m] <= x) a = m; else b = m;
    }
    const width = axis[b] - axis[a];
    return [a, width > 0 ? Math.min(1, Math.max(0, (x - axis[a]) / width)) : 0];
  }

  // Value at x, linear between samples; NaN for a missing value and for series number -1.
  at(k: number, x: number): number {
    if (k < 0) return NaN;
    const v = this.values(k), [i, f] = this.place(this.series[k].grid, x);
    return f > 0 ? v[i] + (v[i + 1] - v[i]) * f : v[i];
  }

  // Value of the nearest sample.
  nearest(k: number, x: number): number {
    if (k < 0) return NaN;
    const [i, f] = this.place(this.series[k].grid, x);
    return this.values(k)[f > 0.5 ? i + 1 : i];
  }

  // Samples with the least and the largest value.
  extremes(k: number): [number, number] {
    const known = this.spread.get(k);
    if (known) return known;
    const v = this.values(k);
    let a = -1, b = -1;
    for (let i = 0; i < v.length; i++) {
      if (Number.isNaN(v[i])) continue;
      if (a < 0 || v[i] < v[a]) a = i;
      if (b < 0 || v[i] > v[b]) b = i;
    }
    const made: [number, number] = [Math.max(a, 0), Math.max(b, 0)];
    this.spread.set(k, made);
    return made;
  }

  // Replaces the samples of a series, for pages that compute.
  replace(k: number, values: Float64Array): void {
    this.columns[k] = values;
    this.spread.delete(k);
  }

  private timeSpan(): [number, number] | null {
    const used = new Set<number>();
    for (const c of this.page.charts ?? []) if (c.over_time) for (const l of c.lines) {
      if ((l.x ?? null) === null && this.series[l.series]) used.add(this.series[l.series].grid);
    }
    for (const b of this.page.scene?.bodies ?? []) {
      const k = b.pose ? this.find(b.pose + '.x', this.page.machines?.[0]?.of ?? '') : -1;
      if (k >= 0) used.add(this.series[k].grid);
    }
    let low = Infinity, high = -Infinity;
    for (const g of used) {
      const axis = this.axis(g);
      if (axis.length === 0) continue;
      low = Math.min(low, axis[0]);
      high = Math.max(high, axis[axis.length - 1]);
    }
    return high > low ? [low, high] : null;
  }
}

// Data of the page in the document; null where the page has none or the browser cannot inflate.
export async function readPage(element: Element | null): Promise<Data | null> {
  if (!element) return null;
  const page = JSON.parse(element.textContent ?? '') as PageData;
  if (page.format !== 1 || typeof DecompressionStream === 'undefined') return null;
  return new Data(page, page.blob ? await inflate(bytesOfBase64(page.blob)) : new Uint8Array(0));
}
