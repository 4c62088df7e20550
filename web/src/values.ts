// The table of outputs: value at the cursor, its position between the extremes, and the extremes with their times.
import type { LineStyle } from './palette';
import type { Scale } from './units';
import { button, div, element, one, span, watchVisible, write } from './dom';
import { charts } from './charts';
import { data, palette } from './state';
import { duration, now, playing, seek } from './clock';
import { format, timeDigits, unitOf, valueText } from './units';
import { hasSeries, isPose, isSelecting } from './selection';
import { on, selectionChanged, timeChanged, unitsChanged } from './signal';
import { swatch } from './chart';

// Fills the card. Series without a chart also have rows, which are visible while their part is selected.
export function makeValues(card: HTMLElement): void {
  const time = element('span'), body = element('tbody'), digits = timeDigits(duration()), rows: { k: number; row: HTMLElement; group: HTMLElement; extra: boolean; unit(): string; draw(): void; units(): void }[] = [];
  const th = (name: string, text: string | Node) => element('th', { scope: 'col', class: name }, text);
  card.replaceChildren(div('head', element('h2', {}, 'Values at ', time), span('hint', 'Min and max jump to their time')), element('div', { class: 'table', tabindex: 0, role: 'region', 'aria-label': 'Values at the cursor' },
    element('table', {}, element('thead', {}, element('tr', {}, th('', 'Quantity'), th('', 'Now'), th('range', span('unseen', 'Place between min and max')), th('', 'Min'), th('', 'Max'))), body)));

  const done = new Set<number>();
  const addGroup = (title: string) => body.appendChild(element('tr', { class: 'group' }, element('th', { colspan: 5, scope: 'rowgroup' }, title, element('span'))));
  const addRow = (k: number, label: string, style: LineStyle, kind: string, group: HTMLElement, axis?: Scale) => {
    const s = data.series[k], value = element('td', { class: 'value' }), mark = element('i'), ends = [0, 1].map(end => button('', {}, () => seek(data.axis(s.grid)[data.extremes(k)[end]])));
    const row = element('tr', {}, element('th', { scope: 'row' }, swatch(style, kind), label), value, element('td', { class: 'range' }, element('span', {}, mark)), ...ends.map(b => element('td', {}, b)));
    // A row of a chart has the unit of the chart.
    const scale = () => axis ? { ...s, ...axis, low: s.low, high: s.high } : s;
    let unit = '';
    done.add(k);
    body.append(row);
    rows.push({ k, row, group, extra: !axis, unit: () => unitOf(scale()), draw() {
      const x = data.at(k, now);
      write(value, valueText(scale(), x) + unit);
      mark.style.left = `${(100 * (x - s.low) / (s.high - s.low || 1)).toFixed(1)}%`;
    }, units() {
      const name = unitOf(scale()), common = rows.every(r => r.group !== group || r.unit() === name), place = one('span', group);
      unit = common ? '' : ' ' + name;
      if (place) place.textContent = common ? name : '';
      ends.forEach((b, end) => {
        const i = data.extremes(k)[end], at = data.axis(s.grid)[i].toFixed(digits), text = valueText(scale(), data.values(k)[i]);
        b.textContent = text;
        b.title = `at ${at} s`;
        b.setAttribute('aria-label', `${end ? 'Maximum' : 'Minimum'} ${text} ${name} of ${label}, go to ${at} s`);
      });
    } });
  };
  for (const { info, lines } of charts) {
    const fresh = lines.filter(l => info.over_time && !done.has(l.line.series) && !/band|bars/.test(l.line.kind) && l.line.x == null), group = fresh.length ? addGroup(info.title) : null;
    for (const l of fresh) if (group && !done.has(l.line.series)) addRow(l.line.series, l.line.label, l.style, l.line.kind, group, info.y);
  }
  const more = data.series.map((s, k) => ({ s, k })).filter(({ s, k }) => !done.has(k) && s.name && s.part && !isPose(s) && !s.of && data.grids[s.grid].series === undefined && duration());
  if (more.length) {
    const group = addGroup('Further values');
    for (const { s, k } of more) addRow(k, s.name ?? '', { color: palette.ofPart(s.part), dash: 'solid', width: 1 }, 'line', group);
  }
  card.hidden = !rows.length;

  // While the machine moves, numbers change only in every third frame, so that users can read them and drawing is fast.
  let visible = true, frames = 0;
  const draw = () => {
    if (!visible || (playing && frames++ % 3)) return;
    write(time, format(now, digits) + ' s');
    for (const r of rows) if (!r.row.hidden) r.draw();
  };
  const showSelection = () => {
    const filtering = isSelecting() && rows.some(r => hasSeries(data.series[r.k]));
    for (const r of rows) r.row.hidden = filtering ? !hasSeries(data.series[r.k]) : r.extra;
    for (const { group } of rows) group.hidden = rows.every(r => r.group !== group || r.row.hidden);
    draw();
  };
  const showUnits = () => {
    for (const r of rows) r.units();
    draw();
  };
  watchVisible(card, v => { visible = v; draw(); });
  on([timeChanged], draw);
  on([unitsChanged], showUnits);
  on([selectionChanged], showSelection);
  showUnits();
  showSelection();
}
