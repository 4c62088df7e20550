// Colors: the scale of pressure, and one color for each group of the machine on the whole page.
import type { Data } from './decode';
import type { LineInfo } from './contract';

// Lightness runs in one direction: low pressures recede, high pressures stand out. Steps are equal in OKLab.
const RAMP = {
  light: ['#74b7df', '#519ae2', '#716ed3', '#96359d', '#9a0b35', '#710f16'],
  dark: ['#284d83', '#4b5db5', '#955dcd', '#e6659e', '#fe955c', '#fbd26b'],
};
const STEPS = 128;

type Triple = [number, number, number];
function linear(c: number): number { return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }
function gamma(c: number): number { return c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055; }

// OKLab of a color #rrggbb, and back (Ottosson 2020).
export function labOf(hex: string): Triple {
  const [r, g, b] = [1, 3, 5].map(i => linear(parseInt(hex.slice(i, i + 2), 16) / 255));
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}
export function rgbOf([light, a, b]: Triple): Triple {
  const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3, m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s, -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s]
    .map(v => Math.round(255 * gamma(Math.min(1, Math.max(0, v))))) as Triple;
}

export class PressureScale {
  colors: string[] = [];
  readonly low: number;
  readonly high: number;

  constructor(range: { low: number; high: number } | undefined) {
    this.low = range?.low ?? 0;
    this.high = Math.max(range?.high ?? 1, this.low + 1);
  }
  paint(dark: boolean): void {
    const stops = RAMP[dark ? 'dark' : 'light'].map(labOf);
    this.colors = Array.from({ length: STEPS }, (_, i) => {
      const x = i / (STEPS - 1) * (stops.length - 1), j = Math.min(Math.floor(x), stops.length - 2), f = x - j;
      const mixed = stops[j].map((v, c) => v + (stops[j + 1][c] - v) * f) as Triple;
      return '#' + rgbOf(mixed).map(v => v.toString(16).padStart(2, '0')).join('');
    });
  }
  // Part of the scale, 0 to 1, at a pressure in Pa.
  fraction(pressure: number): number { return Math.min(1, Math.max(0, (pressure - this.low) / (this.high - this.low))); }
  // Color of a pressure in Pa; empty for a missing value.
  color(pressure: number): string {
    return Number.isNaN(pressure) ? '' : this.colors[Math.round(this.fraction(pressure) * (STEPS - 1))];
  }
}

// Styles of lines. A color is the number of a variable of the style sheet (--g0 to --g9), -1 the neutral one.
export const COLORS = 10;
export type Dash = 'solid' | 'dashed' | 'dotted';
export interface LineStyle { color: number; dash: Dash; width: number }
export const DASHES: Record<Dash, number[] | undefined> = { solid: undefined, dashed: [6, 4], dotted: [1.5, 4] };

export class Palette {
  private readonly groups = new Map<string, number>();
  private readonly parts = new Map<string, number>();

  constructor(private readonly data: Data) {
    (data.page.groups ?? []).forEach((g, i) => {
      this.groups.set(g.name, i % COLORS);
      for (const p of g.parts) if (!this.parts.has(p)) this.parts.set(p, i % COLORS);
    });
  }
  // Color of a part or a node: that of its group, else neutral.
  ofPart(part: string | undefined): number {
    if (!part) return -1;
    const known = this.parts.get(part) ?? this.groups.get(part);
    if (known !== undefined) return known;
    const dot = part.lastIndexOf('.');
    return dot > 0 ? this.ofPart(part.slice(0, dot)) : -1;
  }
  // Styles of the lines of one chart. Groups give the color; lines that would look alike get further colors.
  ofLines(lines: LineInfo[]): LineStyle[] {
    const taken = new Set<string>(), styles: LineStyle[] = [];
    const neutral = this.groups.size > 0;
    for (const line of lines) {
      const s = this.data.series[line.series];
      const group = s.group ? this.groups.get(s.group) : undefined;
      let color = group ?? this.ofPart(s.part), dash = dashOf(line, s.name, s.part ?? '', s.quantity ?? '');
      if (line.kind === 'truth' || line.kind === 'limit' || line.kind === 'measured') color = -1;
      if (line.kind === 'estimate' && color < 0) color = 0;
      if (line.kind === 'start' && color < 0) color = 1;
      if (color < 0 && !neutral && (line.kind === 'line' || line.kind === 'points' || line.kind === 'bars')) color = 0;
      const alike = () => color + dash + (line.kind === 'points' || line.kind === 'measured' ? 'p' : '');
      if (line.kind === 'line' || line.kind === 'points') {
        for (let tries = 0; taken.has(alike()) && tries < 2 * COLORS; tries++) {
          if (group !== undefined && tries < 3) dash = (['solid', 'dashed', 'dotted'] as Dash[])[tries];
          else color = (Math.max(color, -1) + 1) % COLORS;
        }
      }
      taken.add(alike());
      styles.push({ color, dash, width: dash === 'solid' && line.kind !== 'truth' && line.kind !== 'limit' ? 1.8 : 1.4 });
    }
    return styles;
  }
}

// Solid for end A, dashed for end B and for true values, dotted for targets and starting values.
function dashOf(line: LineInfo, name: string, part: string, quantity: string): Dash {
  if (line.kind === 'truth') return 'dashed';
  if (line.kind === 'start' || line.kind === 'limit') return 'dotted';
  if (quantity === 'target' || /(^|[._])(target|reference|wanted|setpoint)([._]|$)/.test(name)) return 'dotted';
  return /(^|[._])(B|b)$/.test(part) ? 'dashed' : 'solid';
}

export function colorVariable(color: number): string { return color < 0 ? '--neutral' : '--g' + color; }
