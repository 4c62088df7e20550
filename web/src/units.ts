// Units and digits of shown numbers. A switch selects SI units for the whole page.
import { Listeners } from './dom';
import type { SeriesInfo } from './contract';

export class Units {
  si = false;
  readonly changed = new Listeners();

  set(si: boolean): void {
    this.si = si;
    this.changed.call();
  }
  factor(s: SeriesInfo): number { return this.si ? 1 : s.factor; }
  offset(s: SeriesInfo): number { return this.si ? 0 : s.offset ?? 0; }
  unit(s: SeriesInfo): string { return plainUnit(this.si ? s.si : s.unit); }
  shown(s: SeriesInfo, value: number): number { return value * this.factor(s) + this.offset(s); }
  // Digits after the point for all values of the series, from its largest value.
  digits(s: SeriesInfo): number {
    return digitsFor(Math.max(Math.abs(this.shown(s, s.low)), Math.abs(this.shown(s, s.high))));
  }
  // A value in SI as text without unit.
  text(s: SeriesInfo, value: number): string { return format(this.shown(s, value), this.digits(s)); }
}

// "1" is the unit of pure numbers: nothing is written for it. Powers are raised: m3/s, m^2.
export function plainUnit(unit: string): string {
  if (unit === '1') return '';
  return unit.replace(/([a-zA-Z])\^?([23])(?![0-9])/g, (_, letter: string, power: string) => letter + (power === '2' ? '²' : '³'));
}

// Digits after the point that show 3 to 4 significant digits of the largest value; -1: powers of ten.
export function digitsFor(largest: number): number {
  if (!(largest > 0) || !Number.isFinite(largest)) return 0;
  const exponent = Math.floor(Math.log10(largest) + 1e-12);
  if (exponent >= 6 || exponent < -3) return -1;
  return Math.max(0, 2 - exponent + (largest < 4 && exponent >= 0 ? 1 : 0));
}

// A number with a true minus sign and no negative zero.
export function format(value: number, digits: number): string {
  if (Number.isNaN(value)) return '–';
  let text: string;
  if (digits < 0) {
    text = value === 0 ? '0' : value.toExponential(2).replace('e+', 'e');
  } else {
    text = value.toFixed(digits);
    if (Number(text) === 0) text = text.replace('-', '');
  }
  return text.replace(/-/g, '−');
}

// A number with its own digits.
export function formatAlone(value: number): string { return format(value, digitsFor(Math.abs(value))); }

// A time with digits that suit the length of the run.
export function timeDigits(length: number): number {
  return length > 0 ? Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(length)))) : 2;
}
