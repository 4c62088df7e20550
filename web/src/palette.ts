// Colors: the scale of pressure, and one color for each group of the machine on the whole page.
import type { Data } from './decode';
import type { LineInfo } from './contract';

// Lightness changes in one direction only, so that high pressures stand out. Steps are equal in OKLab.
const LIGHT = ['#74b7df', '#519ae2', '#716ed3', '#96359d', '#9a0b35', '#710f16'], DARK = ['#284d83', '#4b5db5', '#955dcd', '#e6659e', '#fe955c', '#fbd26b'];
const STEPS = 128;
type Triple = [number, number, number];
const linear = (c: number) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const gamma = (c: number) => c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055;
const product = (m: number[], [a, b, c]: number[]) => [0, 3, 6].map(i => m[i] * a + m[i + 1] * b + m[i + 2] * c);
export const channels = (hex: string): Triple => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)) as Triple;
export const hexOf = (rgb: number[]) => '#' + rgb.map(v => Math.round(v).toString(16).padStart(2, '0')).join('');

// OKLab of a color #rrggbb, and back (Ottosson 2020).
export function labOf(hex: string): Triple {
  const cones = product([0.4122214708, 0.5363325363, 0.0514459929, 0.2119034982, 0.6806995451, 0.1073969566, 0.0883024619, 0.2817188376, 0.6299787005], channels(hex).map(v => linear(v / 255)));
  return product([0.2104542553, 0.793617785, -0.0040720468, 1.9779984951, -2.428592205, 0.4505937099, 0.0259040371, 0.7827717662, -0.808675766], cones.map(Math.cbrt)) as Triple;
}
export function hexOfLab(lab: Triple): string {
  const cones = product([1, 0.3963377774, 0.2158037573, 1, -0.1055613458, -0.0638541728, 1, -0.0894841775, -1.291485548], lab).map(v => v ** 3);
  return hexOf(product([4.0767416621, -3.3077115913, 0.2309699292, -1.2684380046, 2.6097574011, -0.3413193965, -0.0041960863, -0.7034186147, 1.707614701], cones)
    .map(v => 255 * gamma(Math.min(1, Math.max(0, v)))));
}

export let ramp: string[] = [];
let low = 0, high = 1;
export function setPressures(range: { low: number; high: number } | undefined): void {
  low = range?.low ?? 0;
  high = Math.max(range?.high ?? 1, low + 1);
}
export function pressureRange(): [number, number] { return [low, high]; }
export function paintRamp(dark: boolean): void {
  const stops = (dark ? DARK : LIGHT).map(labOf);
  ramp = Array.from({ length: STEPS }, (_, i) => {
    const x = i / (STEPS - 1) * (stops.length - 1), j = Math.min(Math.floor(x), stops.length - 2);
    return hexOfLab(stops[j].map((v, c) => v + (stops[j + 1][c] - v) * (x - j)) as Triple);
  });
}
// The position on the scale, 0 to 1, of a pressure in Pa.
export function pressureShare(pressure: number): number { return Math.min(1, Math.max(0, (pressure - low) / (high - low))); }
// Color of a pressure in Pa; empty for a missing value.
export function pressureColor(pressure: number): string { return Number.isNaN(pressure) ? '' : ramp[Math.round(pressureShare(pressure) * (STEPS - 1))]; }

// Styles of lines. A color is the name of a variable of the style sheet: g0 to g9, or neutral.
const COLORS = 10;
export type Dash = 'solid' | 'dashed' | 'dotted';
export interface LineStyle { color: string; dash: Dash; width: number }
export const DASHES: Record<Dash, number[] | undefined> = { solid: undefined, dashed: [6, 4], dotted: [1.5, 4] };
export interface Palette { ofPart(part: string | undefined): string; ofLines(lines: LineInfo[]): LineStyle[] }

export function makePalette(data: Data): Palette {
  const groups = new Map<string, number>(), parts = new Map<string, number>();
  // Groups with cylinders or motors have colors, in the order of the groups. Other groups, such as a pump with its valves, are neutral.
  const { groups: all = [], scene } = data.page, moving = new Set([...scene?.cylinders ?? [], ...scene?.motors ?? []].map(c => c.name)), some = all.some(g => g.parts.some(p => moving.has(p)));
  let next = 0;
  for (const g of all) {
    const color = !some || g.parts.some(p => moving.has(p)) ? next++ % COLORS : -1;
    groups.set(g.name, color);
    for (const p of g.parts) if (!parts.has(p)) parts.set(p, color);
  }
  // The group of a part, or of the part that contains it.
  const number = (part: string | undefined): number => {
    if (!part) return -1;
    const dot = part.lastIndexOf('.');
    return parts.get(part) ?? groups.get(part) ?? (dot > 0 ? number(part.slice(0, dot)) : -1);
  };
  const name = (color: number) => color < 0 ? 'neutral' : 'g' + color;
  return {
    ofPart: part => name(number(part)),
    // Groups give the colors of one chart's lines; lines that would look the same get other colors.
    ofLines: lines => {
      const taken = new Set<string>();
      return lines.map(line => {
        const s = data.series[line.series], { kind } = line, plain = kind === 'line' || kind === 'points' || kind === 'bars' || kind === 'stems';
        let color = !s || kind === 'truth' || kind === 'limit' ? -1 : groups.get(s.group ?? '') ?? number(s.part), dash = dashOf(line, s?.name ?? line.label, s?.part ?? '');
        const grouped = color >= 0;
        if (color < 0) color = kind === 'start' ? 1 : kind === 'estimate' || kind === 'band' || (plain && !groups.size) ? 0 : -1;
        for (let tries = 0; plain && taken.has(color + dash) && tries < 2 * COLORS; tries++) {
          if (grouped && tries < 3) dash = (['solid', 'dashed', 'dotted'] as Dash[])[tries];
          else color = (color + 1) % COLORS;
        }
        if (plain) taken.add(color + dash);
        return { color: kind === 'measured' ? 'measured' : name(color), dash, width: kind === 'measured' ? 3 : dash === 'solid' && kind !== 'truth' && kind !== 'limit' ? 1.8 : 1.4 };
      });
    },
  };
}

// Solid for end A, dashed for end B and for true values, dotted for targets and starting values.
function dashOf(line: LineInfo, name: string, part: string): Dash {
  if (line.kind === 'start' || line.kind === 'limit' || /(^|[._])(target|reference|wanted|setpoint)([._]|$)/.test(name)) return 'dotted';
  return line.kind === 'truth' || /(^|[._])[Bb]$/.test(part) ? 'dashed' : 'solid';
}
