// The shown range of an axis. Charts with the same axis share it: all charts over time, all charts over frequency.
import { Listeners } from './dom';

export class Window {
  low: number;
  high: number;
  readonly changed = new Listeners();

  constructor(public start: number, public end: number, readonly log: boolean) {
    this.low = start;
    this.high = end;
  }
  get whole(): boolean { return this.low <= this.start && this.high >= this.end; }
  // Extends the full range, before the first zoom.
  include(low: number, high: number): void {
    this.low = this.start = Math.min(this.start, low);
    this.high = this.end = Math.max(this.end, high);
  }
  set(low: number, high: number): void {
    const to = (x: number) => this.log ? Math.log(x) : x, from = (x: number) => this.log ? Math.exp(x) : x;
    const most = to(this.end) - to(this.start), width = Math.min(most, Math.max(most * 1e-4, to(high) - to(low)));
    const first = Math.max(to(this.start), Math.min(to(low), to(this.end) - width));
    const whole = width >= most * (1 - 1e-9);
    this.low = whole ? this.start : from(first);
    this.high = whole ? this.end : from(first + width);
    this.changed.call();
  }
  showAll(): void { this.set(this.start, this.end); }
  // Zooms about a value; factor below 1 shows less.
  zoom(about: number, factor: number): void {
    const to = (x: number) => this.log ? Math.log(x) : x, from = (x: number) => this.log ? Math.exp(x) : x;
    const a = to(this.low), b = to(this.high), c = to(about), width = Math.min((b - a) * factor, to(this.end) - to(this.start));
    const first = c - (c - a) / (b - a) * width;
    this.set(from(first), from(first + width));
  }
}
