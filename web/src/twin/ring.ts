// The samples of the last minutes: times and columns in memory of fixed size. A full ring drops its oldest samples.
export interface Ring {
  readonly count: number;
  push(t: number, values: ArrayLike<number | null>): void;   // a time that does not increase clears the ring; null: missing
  clear(): void;
  times(): Float64Array;                                     // views, valid until the next push
  column(k: number): Float64Array;
  before(t: number): number;                                 // index of the last sample up to t; -1: none
}

// The columns have twice the capacity: when they are full, the newer half moves to the front. Thus the samples are always contiguous.
export function makeRing(width: number, capacity: number): Ring {
  const t = new Float64Array(2 * capacity), columns = Array.from({ length: width }, () => new Float64Array(2 * capacity));
  let from = 0, end = 0;
  return {
    get count() { return end - from; },
    push(time, values) {
      if (end > from && !(time > t[end - 1])) from = end = 0;
      if (end === 2 * capacity) {
        for (const c of [t, ...columns]) c.copyWithin(0, capacity);
        from = 0;
        end = capacity;
      }
      t[end] = time;
      columns.forEach((c, k) => { c[end] = values[k] ?? NaN; });
      end++;
      from = Math.max(from, end - capacity);
    },
    clear() { from = end = 0; },
    times: () => t.subarray(from, end),
    column: k => columns[k].subarray(from, end),
    before(time) {
      let a = from - 1, b = end;
      while (b - a > 1) {
        const m = (a + b) >> 1;
        if (t[m] <= time) a = m; else b = m;
      }
      return a - from;
    },
  };
}
