// The table of outputs: value at the cursor, its place between the extremes, and the extremes with their times.
import type { App } from './app';
import type { Charts } from './charts';
import type { LineStyle } from './palette';
import { element, watchVisible } from './dom';
import { swatch } from './chart';
import { timeDigits } from './units';

interface Row { series: number; row: HTMLElement; value: HTMLElement; mark: HTMLElement; least: HTMLButtonElement; most: HTMLButtonElement; group: HTMLElement; extra: boolean; style: LineStyle; last: string }

export class Values {
  private readonly rows: Row[] = [];
  private readonly time = element('span');
  private readonly body = element('tbody');
  private visible = true;
  private frames = 0;

  constructor(private readonly app: App, readonly card: HTMLElement, charts: Charts) {
    card.replaceChildren(element('div', { class: 'head' }, element('h2', {}, 'Values at ', this.time), element('span', { class: 'hint' }, 'Min and max jump to their time')),
      element('div', { class: 'table', tabindex: 0, role: 'region', 'aria-label': 'Values at the cursor' }, element('table', {}, element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'Quantity'), element('th', { scope: 'col', class: 'right' }, 'Now'),
        element('th', { scope: 'col', class: 'range' }, element('span', { class: 'unseen' }, 'Place between min and max')), element('th', { scope: 'col', class: 'right' }, 'Min'), element('th', { scope: 'col', class: 'right' }, 'Max'))), this.body)));
    const done = new Set<number>();
    for (const chart of charts.list) {
      if (!chart.info.over_time) continue;
      const fresh = chart.lines.filter(l => !done.has(l.line.series) && l.line.kind !== 'band' && (l.line.x === undefined || l.line.x === null));
      if (fresh.length === 0) continue;
      const group = this.addGroup(chart.info.title);
      for (const l of fresh) {
        done.add(l.line.series);
        this.addRow(l.line.series, l.line.label, l.style, group, false, l.line.kind);
      }
    }
    // Series without a chart appear while their part is selected.
    const more = app.data.series.map((s, k) => ({ s, k })).filter(({ s, k }) => !done.has(k) && s.part && s.quantity !== 'pose' && !s.of && app.data.grids[s.grid].series === undefined);
    const grids = new Set([...done].map(k => app.data.series[k].grid)), extra = more.filter(({ s }) => grids.has(s.grid));
    if (extra.length) {
      const group = this.addGroup('Further values');
      for (const { s, k } of extra) this.addRow(k, s.name, { color: app.palette.ofPart(s.part), dash: 'solid', width: 1 }, group, true, 'line');
    }
    card.hidden = this.rows.length === 0;
    watchVisible(card, v => { this.visible = v; if (v) this.draw(true); });
    app.clock.frame.add(() => this.draw(false));
    app.units.changed.add(() => this.showUnits());
    app.selection.changed.add(() => this.showSelection());
    this.showUnits();
    this.showSelection();
  }

  private addGroup(title: string): HTMLElement {
    const unit = element('span'), row = element('tr', { class: 'group' }, element('th', { colspan: 5, scope: 'rowgroup' }, title, unit));
    this.body.append(row);
    return row;
  }
  private addRow(series: number, label: string, style: LineStyle, group: HTMLElement, extra: boolean, kind: string): void {
    const value = element('td', { class: 'value' }), mark = element('i'), button = (end: 0 | 1) => element('button', { type: 'button', onclick: () => {
      const { data } = this.app;
      this.app.clock.seek(data.axis(data.series[series].grid)[data.extremes(series)[end]]);
    } });
    const least = button(0), most = button(1);
    const row = element('tr', {}, element('th', { scope: 'row' }, swatch({ style, line: { kind } }), label), value, element('td', { class: 'range' }, element('span', {}, mark)), element('td', { class: 'right' }, least), element('td', { class: 'right' }, most));
    this.body.append(row);
    this.rows.push({ series, row, value, mark, least, most, group, extra, style, last: '' });
  }

  showUnits(): void {
    const { data, units, clock } = this.app, digits = timeDigits(clock.length), common = new Map<HTMLElement, string | null>();
    for (const r of this.rows) {
      const unit = units.unit(data.series[r.series]), known = common.get(r.group);
      common.set(r.group, known === undefined || known === unit ? unit : null);
    }
    for (const [group, unit] of common) {
      const place = group.querySelector('span');
      if (place) place.textContent = unit ?? '';
    }
    for (const r of this.rows) {
      const s = data.series[r.series], v = data.values(r.series), axis = data.axis(s.grid), own = common.get(r.group) === null ? ' ' + units.unit(s) : '';
      ([[r.least, 0, 'Minimum'], [r.most, 1, 'Maximum']] as const).forEach(([button, end, word]) => {
        const i = data.extremes(r.series)[end], time = axis[i].toFixed(digits), text = units.text(s, v[i]);
        button.textContent = text;
        button.title = `at ${time} s`;
        button.setAttribute('aria-label', `${word} ${text} ${units.unit(s)} of ${s.name}, go to ${time} s`);
      });
      r.value.dataset.unit = own;
      r.last = '';
    }
    this.draw(true);
  }

  private showSelection(): void {
    const { selection, data } = this.app, any = this.rows.some(r => selection.hasSeries(data.series[r.series])), filter = selection.any && any;
    for (const r of this.rows) r.row.hidden = filter ? !selection.hasSeries(data.series[r.series]) : r.extra;
    for (const group of new Set(this.rows.map(r => r.group))) group.hidden = this.rows.every(r => r.group !== group || r.row.hidden);
    this.draw(true);
  }

  // While the machine moves, numbers change every third frame: they stay readable and cost little.
  draw(at_once: boolean): void {
    const { data, clock, units } = this.app;
    if (!this.visible || (!at_once && clock.playing && this.frames++ % 3)) return;
    const time = clock.now.toFixed(timeDigits(clock.length)) + ' s';
    if (this.time.textContent !== time) this.time.textContent = time;
    for (const r of this.rows) {
      if (r.row.hidden) continue;
      const s = data.series[r.series], x = data.at(r.series, clock.now), text = units.text(s, x) + (r.value.dataset.unit ?? '');
      if (text === r.last) continue;
      r.value.textContent = r.last = text;
      r.mark.style.left = `${(100 * (x - s.low) / (s.high - s.low || 1)).toFixed(1)}%`;
    }
  }
}
