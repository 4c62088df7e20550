// The values at the cursor: sensors with their estimates, virtual sensors, parameters with 95 % intervals and the change since the start.
import type { Channel, Origin } from './contract';
import type { LiveData } from './live_data';
import type { Scale } from '../units';
import * as view from './view';
import { button, div, element, span, watchVisible, write } from '../dom';
import { digitsFor, format, shown, unitOf } from '../units';
import { halfText } from './trend';
import { hasSeries, isSelecting } from '../selection';
import { momentText } from './time_axis';
import { on, selectionChanged, unitsChanged } from '../signal';
import { paced } from './frame';

interface Row { row: HTMLElement; ks: number[]; group: HTMLElement; draw(): void; units(): void }

export function makeValuesNow(data: LiveData, reveal: (k: number) => void): HTMLElement {
  const time = span(''), body = element('tbody'), rows: Row[] = [], { channels, series } = data;
  const card = element('section', { class: 'card', id: 'values', 'aria-label': 'Values' }, div('head', element('h2', {}, 'Values ', time)), element('div', { class: 'table', tabindex: 0, role: 'region', 'aria-label': 'Values at the cursor' }, element('table', {}, body)));
  const th = (text: string) => element('th', { scope: 'col' }, text);
  const group = (title: string, ...heads: string[]) => body.appendChild(element('tr', { class: 'group' }, element('th', { scope: 'col' }, title), ...heads.map(th)));
  const digitsOf = (s: Scale & { low: number; high: number }) => digitsFor(Math.max(Math.abs(shown(s, s.low)) || 0, Math.abs(shown(s, s.high)) || 0));
  const text = (k: number) => {
    const v = data.at(k, view.cursor);
    return Number.isNaN(v) ? '–' : format(shown(series[k], v), digitsOf(series[k]));
  };
  // Half of the 95 % interval.
  const half = (k: number) => {
    const i = data.ring.before(view.cursor), c = data.sigmaOf[k], sigma = i >= 0 && c >= 0 ? data.ring.column(c)[i] : NaN, s = series[k];
    return Number.isNaN(sigma) || Number.isNaN(data.at(k, view.cursor)) ? NaN : Math.abs(shown(s, 1.96 * sigma) - shown(s, 0));
  };
  const interval = (k: number) => {
    const h = half(k);
    return Number.isNaN(h) ? '' : '± ' + halfText(h, digitsOf(series[k]));
  };
  const add = (k: number, ks: number[], head: HTMLElement, cells: ((k: number) => string)[]) => {
    const unit = span('unit'), tds = cells.map((_, i) => element('td', { class: i ? '' : 'value' })), row = element('tr', {}, element('th', { scope: 'row' }, button('name', { title: 'Show the chart' }, () => reveal(k), series[k].name ?? ''), unit), ...tds);
    body.append(row);
    rows.push({ row, ks, group: head, draw() { tds.forEach((td, i) => write(td, cells[i](k))); }, units() { unit.textContent = unitOf(series[k]); } });
  };
  const of = (...list: Origin[]) => channels.map((c, k) => ({ c, k })).filter(({ c }) => list.includes(c.of));
  const partner = (c: Channel, kind: Origin) => channels.findIndex(o => o.of === kind && o.name !== undefined && o.name === c.name);
  const sensors = of('measured'), virtual = of('estimate').filter(({ c }) => partner(c, 'measured') < 0), parameters = of('parameter'), inputs = of('input');
  if (sensors.length) {
    const head = group('Sensors', 'Measured', 'Estimate', '95 %');
    for (const { c, k } of sensors) {
      const e = partner(c, 'estimate');
      add(k, [k, e], head, [text, () => e < 0 ? '' : text(e), () => e < 0 ? '' : interval(e)]);
    }
  }
  if (virtual.length) {
    const head = group('Virtual sensors', '', 'Estimate', '95 %');
    for (const { k } of virtual) add(k, [k], head, [() => '', text, interval]);
  }
  if (parameters.length) {
    const head = group('Parameters', 'Start', 'Estimate', '95 %');
    for (const { c, k } of parameters) add(k, [k], head, [() => c.start === undefined ? '' : format(shown(series[k], c.start), digitsOf({ ...series[k], low: Math.min(c.start, series[k].low || c.start), high: Math.max(c.start, series[k].high || c.start) })), text, interval]);
  }
  if (inputs.length) {
    const head = group('Inputs', 'Now', '', '');
    for (const { k } of inputs) add(k, [k], head, [text, () => '', () => '']);
  }
  card.hidden = !rows.length;
  let visible = true;
  const draw = () => {
    if (!visible) return;
    write(time, view.mode === 'live' ? 'now' : `at ${momentText(view.clockOf(view.cursor), view.span < 20 ? 0.01 : 1)}`);
    for (const r of rows) if (!r.row.hidden) r.draw();
  };
  const select = () => {
    const filtering = isSelecting() && rows.some(r => r.ks.some(k => hasSeries(series[k])));
    for (const r of rows) r.row.hidden = filtering && !r.ks.some(k => hasSeries(series[k]));
    for (const { group: head } of rows) head.hidden = rows.every(r => r.group !== head || r.row.hidden);
    draw();
  };
  const drawPaced = paced(draw, () => view.mode === 'live' ? 200 : 50);
  watchVisible(card, v => {
    visible = v;
    draw();
  });
  on([view.cursorChanged], drawPaced);
  on([view.modeChanged], draw);
  on([selectionChanged], select);
  on([unitsChanged], () => {
    for (const r of rows) r.units();
    draw();
  });
  for (const r of rows) r.units();
  select();
  return card;
}
