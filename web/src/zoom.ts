// The visible range of an axis. All charts over time share one range, and all charts over frequency share another.
import { fire } from './signal';
import type { Signal } from './signal';

export interface Zoom {
  low: number;
  high: number;
  changed: Signal;
  whole(): boolean;
  include(low: number, high: number): void;   // extends the full range; only before the first zoom
  set(low: number, high: number): void;
  all(): void;
  about(x: number, factor: number): void;     // factor below 1: a smaller range
}
export function makeZoom(start: number, end: number, log: boolean): Zoom {
  const to = (x: number) => log ? Math.log(x) : x, from = (x: number) => log ? Math.exp(x) : x;
  const z: Zoom = {
    low: start, high: end, changed: [],
    whole: () => z.low <= start && z.high >= end,
    include(low, high) {
      z.low = start = Math.min(start, low);
      z.high = end = Math.max(end, high);
    },
    set(low, high) {
      const most = to(end) - to(start), width = Math.max(1e-4 * most, to(high) - to(low)), first = Math.max(to(start), Math.min(to(low), to(end) - width)), whole = width >= most * (1 - 1e-9);
      z.low = whole ? start : from(first);
      z.high = whole ? end : from(first + width);
      fire(z.changed);
    },
    all: () => z.set(start, end),
    about(x, factor) {
      const a = to(z.low), width = (to(z.high) - a) * factor, first = to(x) - (to(x) - a) * factor;
      z.set(from(first), from(first + width));
    },
  };
  return z;
}
