// Samples as CSV. A value is exact to half a step of its column: 1/131068 of the range of the series.
import { data } from './state';
import { useSi, shown } from './units';
import type { AxisInfo } from './contract';

// A field of a CSV file. Fields with commas, quotes or line breaks are quoted.
export function csvField(text: string): string { return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text; }
const number = (value: number) => Number.isNaN(value) ? '' : String(+value.toPrecision(8));
const named = (name: string, s: { si?: string; unit?: string }) => {
  const unit = (useSi ? s.si : s.unit) ?? s.unit;
  return csvField(unit && unit !== '1' ? `${name} [${unit}]` : name);
};

// Series as columns; rows are the samples of all grids in order. A row has values in the columns whose grid has a sample at this x. x: values of
// x that replace the values of the grid.
export function csvOf(numbers: number[], axis: AxisInfo, x?: Float64Array): string {
  const grids = [...new Set(numbers.map(k => data.series[k].grid))], places = grids.map(g => ({ points: x ?? data.axis(g), next: 0, row: -1 }));
  const rows = [[named(axis.name ?? 'x', axis), ...numbers.map(k => {
    const s = data.series[k], name = s.name ?? s.label ?? s.part ?? '';
    return named(s.of ? `${name} (${s.of})` : name, s);
  })].join(',')];
  const columns = numbers.map(k => ({ s: data.series[k], values: data.values(k), place: places[grids.indexOf(data.series[k].grid)] }));
  for (;;) {
    let first = Infinity;
    for (const p of places) if (p.next < p.points.length) first = x ? p.points[p.next] : Math.min(first, p.points[p.next]);
    if (first === Infinity) return rows.join('\n') + '\n';
    for (const p of places) p.row = p.next < p.points.length && p.points[p.next] <= first ? p.next++ : -1;
    rows.push([number(shown(axis, first)), ...columns.map(c => c.place.row < 0 ? '' : number(shown(c.s, c.values[c.place.row])))].join(','));
  }
}
