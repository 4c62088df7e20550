// Units and digits of displayed numbers. A switch selects SI units for the whole page.
import { fire, unitsChanged } from './signal';

// A series or an axis: displayed number = value * factor + offset.
export interface Scale { si?: string; unit?: string; factor?: number; offset?: number }
export let useSi = false;
export function setSi(si: boolean): void {
  useSi = si;
  fire(unitsChanged);
}
export function shown(s: Scale, value: number): number { return useSi ? value : value * (s.factor ?? 1) + (s.offset ?? 0); }
export function unitOf(s: Scale): string { return plainUnit((useSi ? s.si : s.unit) ?? s.unit ?? ''); }
// The number of decimals for all values of a series, from its largest value.
export function digitsOf(s: Scale & { low?: number; high?: number }): number {
  return digitsFor(Math.max(Math.abs(shown(s, s.low ?? 0)), Math.abs(shown(s, s.high ?? 0))));
}
// The text of a value in SI units, without the unit.
export function valueText(s: Scale & { low?: number; high?: number }, value: number): string { return format(shown(s, value), digitsOf(s)); }
export function withUnit(s: Scale & { low?: number; high?: number }, value: number): string { return `${valueText(s, value)} ${unitOf(s)}`; }

// The unit "1" of dimensionless numbers is not written. Powers are superscripts: m3/s, m^2.
export function plainUnit(unit: string): string {
  return unit === '1' ? '' : unit.replace(/([a-zA-Z])\^?([23])(?!\d)/g, (_, letter: string, power: string) => letter + (power === '2' ? '²' : '³'));
}
// The number of decimals with which the largest value has 3 to 4 significant digits; -1: powers of ten.
export function digitsFor(largest: number): number {
  if (!(largest > 0) || largest === Infinity) return 0;
  const exponent = Math.floor(Math.log10(largest) + 1e-12);
  return exponent >= 6 || exponent < -3 ? -1 : Math.max(0, 2 - exponent + (largest < 4 && exponent >= 0 ? 1 : 0));
}
// A number with a true minus sign and no negative zero.
export function format(value: number, digits = digitsFor(Math.abs(value))): string {
  if (Number.isNaN(value)) return '–';
  let text = digits < 0 ? value === 0 ? '0' : value.toExponential(2).replace('e+', 'e') : value.toFixed(digits);
  if (Number(text) === 0) text = text.replace('-', '');
  return text.replace(/-/g, '−');
}
// The number of decimals of times, from the length of the run.
export function timeDigits(length: number): number { return length > 0 ? Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(length) + 0.05))) : 2; }
// Returns 1, 2 or 5 times a power of ten, at least `rough`.
export function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough)), f = rough / power;
  return (f > 5 ? 10 : f > 2 ? 5 : f > 1 ? 2 : 1) * power;
}
