// Files of charts: CSV of the samples, and SVG without a browser's canvas.
import type { App } from './app';
import type { ChartInfo } from './contract';
import type { Plotted } from './chart';
import type { Window } from './window';
import { DASHES, colorVariable } from './palette';
import { plainUnit } from './units';

// A field of a CSV file. Quotes protect commas, quotes and line breaks.
export function csvField(text: string): string { return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text; }

// Digits for a value of a column: the column has 65534 steps.
function number(value: number): string { return Number.isNaN(value) ? '' : String(+value.toPrecision(7)); }

// Series as columns; rows are the samples of all grids in order.
export function csvOf(app: App, numbers: number[], xName: string, xUnit: string, xFactor: number, x?: Float64Array): string {
  const { data, units } = app, grids = [...new Set(numbers.map(k => data.series[k].grid))];
  const head = [xUnit ? `${xName} [${xUnit}]` : xName, ...numbers.map(k => {
    const s = data.series[k], unit = units.si ? s.si : s.unit, of = s.of ? `${s.name} (${s.of})` : s.name;
    return unit && unit !== '1' ? `${of} [${unit}]` : of;
  })];
  const rows: string[] = [head.map(csvField).join(',')];
  const shown = numbers.map(k => {
    const s = data.series[k], values = data.values(k);
    return (i: number) => number(units.shown(s, values[i]));
  });
  if (grids.length === 1 || x) {
    const axis = x ?? data.axis(grids[0] ?? 0);
    for (let i = 0; i < axis.length; i++) rows.push([number(axis[i] * xFactor), ...shown.map(f => f(i))].join(','));
    return rows.join('\n') + '\n';
  }
  // Several grids: each row has the columns of the grids with a sample there.
  const places = grids.map(g => ({ axis: data.axis(g), next: 0 }));
  for (;;) {
    let at = Infinity;
    for (const p of places) if (p.next < p.axis.length) at = Math.min(at, p.axis[p.next]);
    if (at === Infinity) break;
    const here = places.map(p => p.next < p.axis.length && p.axis[p.next] <= at ? p.next : -1);
    rows.push([number(at * xFactor), ...numbers.map((k, j) => {
      const i = here[grids.indexOf(data.series[k].grid)];
      return i < 0 ? '' : shown[j](i);
    })].join(','));
    places.forEach((p, j) => { if (here[j] >= 0) p.next++; });
  }
  return rows.join('\n') + '\n';
}

export function chartCsv(app: App, info: ChartInfo, lines: Plotted[]): string {
  const numbers: number[] = [];
  for (const l of lines) for (const k of [l.line.series, l.line.upper]) if (k !== undefined && !numbers.includes(k)) numbers.push(k);
  const own = lines[0]?.line.x, curve = own !== undefined && own !== null && lines.every(l => l.line.x === own);
  return csvOf(app, numbers, info.x.name, info.x.unit, info.x.factor ?? 1, curve ? app.data.values(own) : undefined);
}

// Steps of 1, 2 or 5 times a power of ten between two values.
function ticks(low: number, high: number, count: number, log: boolean): number[] {
  const made: number[] = [];
  if (log) {
    for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.log10(high) + 1e-9; e++) made.push(10 ** e);
    if (made.length > 1) return made;
  }
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough)), step = (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1) * power;
  made.length = 0;
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) made.push(i * step);
  return made;
}
function xml(text: string): string { return text.replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] ?? c); }

// The chart as a file of its own, in the colors of the page, with the shown range of x.
export function chartSvg(app: App, info: ChartInfo, lines: Plotted[], window: Window | null): string {
  const width = 760, height = 320, left = 64, right = width - 20, top = 62, bottom = height - 42, { theme, units, data } = app;
  const factor = info.x.factor ?? 1, logX = info.x.scale === 'log', logY = info.y.scale === 'log', color = (v: string) => theme.color(v);
  let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
  for (const l of lines) for (const v of l.x) { x0 = Math.min(x0, v * factor); x1 = Math.max(x1, v * factor); }
  if (window) { x0 = window.low; x1 = window.high; }
  for (const l of lines) {
    const s = data.series[l.line.series];
    for (const column of [l.y, l.upper]) if (column) for (let i = 0; i < column.length; i++) {
      const x = l.x[i] * factor, y = units.shown(s, column[i]);
      if (x >= x0 && x <= x1 && !Number.isNaN(y) && (!logY || y > 0)) { y0 = Math.min(y0, y); y1 = Math.max(y1, y); }
    }
  }
  if (!(x1 > x0)) { x0 -= 1; x1 += 1; }
  if (!(y1 > y0)) { const m = Number.isFinite(y0) ? y0 : 0; y0 = m - 1; y1 = m + 1; }
  if (!logY) {
    if (y0 >= 0 && y0 < 0.4 * y1) y0 = 0; else y0 -= 0.06 * (y1 - y0);
    y1 += 0.06 * (y1 - y0);
  }
  const along = (v: number, a: number, b: number, log: boolean) => log ? (Math.log(v) - Math.log(a)) / (Math.log(b) - Math.log(a)) : (v - a) / (b - a);
  const px = (v: number) => +(left + along(v, x0, x1, logX) * (right - left)).toFixed(2), py = (v: number) => +(bottom - along(v, y0, y1, logY) * (bottom - top)).toFixed(2);
  const text = (x: number, y: number, s: string, anchor: string, more = '') => `<text x="${x}" y="${y}" text-anchor="${anchor}" ${more}>${xml(s)}</text>`;
  const unit = lines[0] ? units.unit(data.series[lines[0].line.series]) : plainUnit(info.y.unit), parts: string[] = [];
  parts.push(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="${color('--ink2')}">`);
  parts.push(`<rect width="${width}" height="${height}" fill="${color('--card')}"/>`, text(16, 24, info.title, 'start', `font-weight="bold" font-size="14" fill="${color('--ink')}"`), text(right, 24, unit, 'end'));
  for (const v of ticks(x0, x1, 8, logX)) parts.push(`<path d="M${px(v)} ${top}V${bottom}" stroke="${color('--grid')}"/>`, text(px(v), bottom + 18, String(+v.toPrecision(6)), 'middle'));
  for (const v of ticks(y0, y1, 5, logY)) parts.push(`<path d="M${left} ${py(v)}H${right}" stroke="${color('--grid')}"/>`, text(left - 8, py(v) + 4, String(+v.toPrecision(6)), 'end'));
  parts.push(text((left + right) / 2, height - 8, info.x.unit ? `${info.x.name}, ${plainUnit(info.x.unit)}` : info.x.name, 'middle'));
  parts.push(`<clipPath id="c"><rect x="${left}" y="${top}" width="${right - left}" height="${bottom - top}"/></clipPath><g clip-path="url(#c)" fill="none" stroke-linejoin="round">`);
  const first = lines[0] && data.series[lines[0].line.series];
  for (const limit of info.limits ?? []) {
    const y = py(first ? units.shown(first, limit.value) : limit.value);
    parts.push(`<path d="M${left} ${y}H${right}" stroke="${color('--ink3')}" stroke-dasharray="2 3"/>`, text(right - 4, y - 4, limit.text, 'end', `fill="${color('--ink3')}"`));
  }
  for (const l of lines) {
    const s = data.series[l.line.series], ink = color(l.line.kind === 'measured' ? '--measured' : colorVariable(l.style.color));
    const path = (column: Float64Array, backwards: boolean) => {
      let d = '', open = false;
      for (let n = 0; n < column.length; n++) {
        const i = backwards ? column.length - 1 - n : n, y = units.shown(s, column[i]);
        if (Number.isNaN(y)) { open = false; continue; }
        d += `${open || backwards ? 'L' : 'M'}${px(l.x[i] * factor)} ${py(y)}`;
        open = true;
      }
      return d;
    };
    if (l.upper) parts.push(`<path d="${path(l.y, false)}${path(l.upper, true)}Z" fill="${ink}" fill-opacity="0.2"/>`);
    else if (l.line.kind === 'points') parts.push(`<path d="${path(l.y, false).replace(/L/g, 'M').replace(/M(\S+) (\S+?)(?=M|$)/g, 'M$1 $2h0')}" stroke="${ink}" stroke-width="5" stroke-linecap="round"/>`);
    else if (l.line.kind === 'bars') {
      const step = l.x.length > 1 ? (px(l.x[1] * factor) - px(l.x[0] * factor)) * 0.86 : 20;
      for (let i = 0; i < l.x.length; i++) parts.push(`<path d="M${px(l.x[i] * factor)} ${py(Math.max(y0, 0))}V${py(units.shown(s, l.y[i]))}" stroke="${ink}" stroke-opacity="0.6" stroke-width="${step.toFixed(2)}"/>`);
    } else parts.push(`<path d="${path(l.y, false)}" stroke="${ink}" stroke-width="${l.style.width}"${DASHES[l.style.dash] ? ` stroke-dasharray="${DASHES[l.style.dash]?.join(' ')}"` : ''}/>`);
  }
  parts.push('</g>');
  for (const mark of info.marks ?? []) {
    const y = first ? units.shown(first, mark.y) : mark.y;
    parts.push(`<circle cx="${px(mark.x * factor)}" cy="${py(y)}" r="4" fill="none" stroke="${color('--ink')}"/>`, text(px(mark.x * factor) + 8, py(y) - 6, mark.text, 'start'));
  }
  let at = left;
  for (const l of lines) {
    const ink = color(l.line.kind === 'measured' ? '--measured' : colorVariable(l.style.color));
    parts.push(`<path d="M${at} 44h18" stroke="${ink}" stroke-width="2"${DASHES[l.style.dash] ? ` stroke-dasharray="${DASHES[l.style.dash]?.join(' ')}"` : ''}/>`, text(at + 24, 48, l.line.label, 'start'));
    at += 44 + 6.6 * l.line.label.length;
  }
  parts.push('</svg>');
  return parts.join('\n');
}
