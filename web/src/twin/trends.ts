// The charts of a machine: the charts of the description, then a chart of each other stored channel. Sections and the selected part filter them.
import type { Description, Origin } from './contract';
import type { LineKind } from '../contract';
import type { LineStyle } from '../palette';
import type { LiveData } from './live_data';
import type { Trend, TrendInfo, TrendLine } from './trend';
import * as view from './view';
import { button, choice, div, element, span } from '../dom';
import { clearSelection, isSelecting, selectGroup, selectedGroup, selectedPart } from '../selection';
import { limitsOf, makeTrend } from './trend';
import { on, selectionChanged } from '../signal';
import { palette } from '../state';

const SECTIONS: Record<string, { label: string; of: Origin[] }> = {
  sensors: { label: 'Sensors', of: ['measured', 'compared'] }, estimates: { label: 'Virtual sensors', of: ['estimate', 'truth'] }, parameters: { label: 'Parameters', of: ['parameter'] },
  inputs: { label: 'Inputs', of: ['input'] }, checks: { label: 'Checks', of: ['innovation', 'statistic'] },
};
const LABELS: Partial<Record<Origin, string>> = { measured: 'measured', estimate: 'estimate', parameter: 'estimate', truth: 'true', compared: 'compared', innovation: 'innovation' };

export function infosOf(d: Description, data: LiveData): TrendInfo[] {
  const channels = data.channels, used = new Set<number>(), kindOf = (of: Origin, kind?: string): LineKind => kind === 'measured' || of === 'measured' ? 'measured' : kind === 'truth' || of === 'truth' ? 'truth' : of === 'input' || of === 'statistic' || of === 'innovation' ? 'line' : 'estimate';
  const make = (title: string, entries: { k: number; kind?: string; band?: boolean; label?: string }[], scale?: { si?: string; unit?: string; factor?: number; offset?: number }): TrendInfo => {
    const kinds = entries.map(e => kindOf(channels[e.k].of, e.kind)), styles = palette.ofLines(entries.map((e, i) => ({ series: e.k, kind: kinds[i], label: '' }))).map((style, i): LineStyle => kinds[i] === 'measured' ? style : { ...style, dash: kinds[i] === 'truth' ? 'dashed' : 'solid', color: style.color === 'neutral' && kinds[i] !== 'truth' ? 'g0' : style.color, width: 1.8 }), list = entries.map(e => channels[e.k].of);
    const section = Object.keys(SECTIONS).find(s => list.some(of => SECTIONS[s].of.includes(of))) ?? 'estimates', own = data.series[entries[0].k], start = entries.length === 1 ? channels[entries[0].k].start : undefined;
    const lines = entries.map((e, i): TrendLine => ({ k: e.k, kind: kinds[i], band: e.band ?? !!channels[e.k].sigma, label: e.label ?? LABELS[channels[e.k].of] ?? title, style: styles[i] }));
    for (const e of entries) used.add(e.k);
    return { title, axis: scale?.unit || scale?.si ? scale : own, section, lines: lines.sort((a, b) => Number(b.kind === 'measured') - Number(a.kind === 'measured')),
      limits: [...limitsOf(d.alarms, entries.map(e => channels[e.k].channel)), ...start === undefined ? [] : [{ value: start, text: 'start', alarm: false }]] };
  };
  const infos = (d.charts ?? []).flatMap(c => {
    const entries = c.lines.map(l => ({ ...l, k: data.channel(l.channel) })).filter(l => l.k >= 0);
    return entries.length ? [make(c.title, entries, c)] : [];
  });
  // Channels without a chart: one chart for each name.
  const rest = new Map<string, number[]>();
  channels.forEach((c, k) => {
    if (used.has(k) || c.of === 'view' || (c.history !== 'rows' && c.of !== 'measured' && c.of !== 'estimate')) return;
    const name = `${c.of === 'innovation' ? 'Innovation ' : ''}${c.name ?? c.channel.replace(/^innovation\.|^input\./, '')}`;
    rest.set(name, [...rest.get(name) ?? [], k]);
  });
  for (const [name, list] of rest) infos.push(make(name === 'nis' ? 'Squared innovations (NIS)' : name, list.map(k => ({ k }))));
  const order = Object.keys(SECTIONS);
  return infos.sort((a, b) => order.indexOf(a.section) - order.indexOf(b.section));
}

// Adds the charts to the column. Returns the charts.
export function makeTrends(column: HTMLElement, d: Description, data: LiveData): Trend[] {
  const trends = infosOf(d, data).map(info => makeTrend(d.name, info, data)), box = element('div', { id: 'charts' }), note = element('span', { class: 'selected-note', role: 'status' });
  const present = Object.keys(SECTIONS).filter(s => trends.some(t => t.info.section === s)), empty = element('p', { class: 'card empty-card' }, 'No charts: this machine has neither measurements nor estimates yet.');
  let section = present[0] ?? '';
  const [tabs, showTab] = choice('Charts of', '', [...present.map(s => ({ value: s, label: SECTIONS[s].label, face: [SECTIONS[s].label, span('count', String(trends.filter(t => t.info.section === s).length))] })), { value: 'all', label: 'All', face: ['All'] }], value => {
    section = value;
    show();
  });
  const groups = (d.groups ?? []).filter(g => trends.some(t => t.info.lines.some(l => data.series[l.k].group === g.name)));
  const [filter, showGroup] = choice('Show outputs of', '', ['', ...groups.map(g => g.name)].map((value, i) => {
    const label = i ? groups[i - 1].label : 'All parts';
    return { value, label, face: [i ? element('i', { style: `background:var(--${palette.ofPart(value)})` }) : null, label] };
  }), value => { if (value !== selectedGroup || selectedPart) selectGroup(value); });
  function show(): void {
    const any = trends.some(t => t.isConcerned());
    for (const t of trends) {
      const filtering = isSelecting() && any;
      t.figure.hidden = filtering ? !t.isConcerned() : section !== 'all' && t.info.section !== section;
      t.showSelection(filtering);
    }
    showTab(isSelecting() && any ? 'none' : section);
    showGroup(selectedPart ? 'no group' : selectedGroup);
    note.replaceChildren(...selectedPart ? [element('b', {}, selectedPart), any ? '' : ' has no chart', button('clear', { 'aria-label': 'Clear the selection' }, clearSelection, '×')] : []);
  }
  box.append(...trends.map(t => t.figure));
  column.append(div('chart-bar', present.length > 1 ? tabs : null, groups.length > 1 ? filter : null, note, span('hint', 'Drag moves the cursor, ', element('kbd', {}, 'Shift'), ' drag zooms')), trends.length ? box : empty);
  tabs.addEventListener('click', () => { if (isSelecting()) clearSelection(); });
  on([selectionChanged], show);
  on([view.viewChanged], () => { for (const t of trends) if (!t.figure.hidden) t.follow(); });
  show();
  return trends;
}
// Shows the chart of a channel.
export function revealTrend(trends: Trend[], k: number): void {
  const trend = trends.find(t => t.info.lines.some(l => l.k === k));
  if (!trend) return;
  trend.figure.hidden = false;
  trend.figure.classList.add('flash');
  setTimeout(() => trend.figure.classList.remove('flash'), 1600);
  trend.figure.scrollIntoView({ block: 'nearest', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
}
