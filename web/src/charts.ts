// All charts of the page, their common windows, and the filter of groups.
import type { App } from './app';
import { all, choice, element, one } from './dom';
import type { Choice } from './dom';
import { Chart } from './chart';
import { colorVariable } from './palette';
import { Window } from './window';
import { timeDigits } from './units';

export class Charts {
  readonly list: Chart[] = [];
  readonly time: Window;
  private readonly windows = new Map<string, Window>();
  private readonly filter: Choice | null = null;
  private readonly note = element('span', { class: 'selected-note', role: 'status' });

  constructor(private readonly app: App) {
    const { data, clock } = app, infos = data.page.charts ?? [];
    this.time = new Window(clock.start, clock.end, false);
    for (const figure of all<HTMLElement>('figure[data-chart]')) {
      const info = infos[Number(figure.dataset.chart)];
      if (!info || info.lines.every(l => !data.series[l.series])) continue;
      this.list.push(new Chart(app, figure, info, this.windowOf(info)));
    }
    for (const window of this.windows.values()) {
      const members = this.list.filter(c => c.window === window);
      for (const c of members) c.hoverAll = x => { for (const m of members) m.setHover(x); };
    }
    const box = one<HTMLElement>('#charts');
    if (box && this.list.length) {
      const bar = element('div', { class: 'chart-bar' }), groups = (data.page.groups ?? []).filter(g => data.series.some(s => s.group === g.name));
      if (groups.length > 1) {
        this.filter = choice('Show outputs of', [{ value: '', label: 'All', face: ['All'] }, ...groups.map(g => ({ value: g.name, label: g.label,
          face: [element('i', { style: `background:var(${colorVariable(app.palette.ofPart(g.name))})` }), g.label] }))],
        value => { if (value) app.selection.selectGroup(value); else app.selection.clear(); });
        bar.append(this.filter.element);
      }
      bar.append(this.note, element('span', { class: 'hint' }, app.hasTime ? 'Drag moves the cursor, ' : '', element('kbd', {}, 'Shift'), ' drag zooms'));
      for (const window of [this.time, ...this.windows.values()]) {
        const label = window === this.time ? `Show all ${+clock.length.toFixed(timeDigits(clock.length))} s` : 'Show all';
        const button = element('button', { type: 'button', class: 'button', hidden: true, onclick: () => window.showAll() }, label);
        window.changed.add(() => { button.hidden = window.whole; });
        bar.append(button);
      }
      box.before(bar);
      const column = element('div', { class: 'chart-column' });
      bar.replaceWith(column);
      column.append(bar, box);
    }
    app.selection.changed.add(() => this.showSelection());
    this.showSelection();
  }

  private windowOf(info: Chart['info']): Window | null {
    if (info.over_time) return this.time;
    const { data } = this.app, factor = info.x.factor ?? 1;
    let low = Infinity, high = -Infinity;
    for (const l of info.lines) {
      const s = data.series[l.series];
      if (!s) continue;
      const x = l.x !== undefined && l.x !== null ? data.values(l.x) : data.axis(s.grid);
      for (let i = 0; i < x.length; i++) {
        if (i && !(x[i] >= x[i - 1])) return null;
        low = Math.min(low, x[i] * factor);
        high = Math.max(high, x[i] * factor);
      }
      if (l.kind === 'bars' && x.length > 1) {
        low -= (x[1] - x[0]) / 2 * factor;
        high += (x[x.length - 1] - x[x.length - 2]) / 2 * factor;
      }
    }
    if (!(high > low)) return null;
    const key = `${info.x.name}\n${info.x.unit}\n${info.x.scale ?? ''}`, known = this.windows.get(key);
    if (known) { known.include(low, high); return known; }
    const made = new Window(low, high, info.x.scale === 'log');
    this.windows.set(key, made);
    return made;
  }

  private showSelection(): void {
    const { selection } = this.app, any = this.list.some(c => c.concerned);
    for (const c of this.list) c.showSelection(any);
    this.filter?.show(selection.part ? 'none' : selection.group);
    this.note.replaceChildren();
    if (selection.part) {
      this.note.append(element('b', {}, selection.part), any ? '' : ' has no chart',
        element('button', { type: 'button', class: 'clear', 'aria-label': 'Clear the selection', onclick: () => selection.clear() }, '×'));
    }
  }

  // The chart of an output or of a part; undefined: none.
  find(output: string | undefined, owner: string | undefined): Chart | undefined {
    const { series } = this.app.data;
    return this.list.find(c => output !== undefined && c.info.lines.some(l => series[l.series]?.name === output)) ??
      this.list.find(c => owner !== undefined && c.info.lines.some(l => series[l.series]?.part === owner));
  }
  // Brings a chart into view and marks it for a moment.
  reveal(chart: Chart): void {
    chart.figure.hidden = false;
    chart.figure.classList.add('flash');
    setTimeout(() => chart.figure.classList.remove('flash'), 1600);
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    chart.figure.scrollIntoView({ block: 'nearest', behavior: calm ? 'auto' : 'smooth' });
  }
}
