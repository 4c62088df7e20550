// All charts of the page, their common ranges, and the filter of groups.
import type { Chart } from './chart';
import type { ChartInfo } from './contract';
import type { Zoom } from './zoom';
import { all, button, choice, div, element, one, span } from './dom';
import { clearSelection, selectGroup, selectedGroup, selectedPart, isSelecting } from './selection';
import { data, palette } from './state';
import { duration, end, start } from './clock';
import { makeChart } from './chart';
import { makeZoom } from './zoom';
import { on, selectionChanged } from './signal';
import { timeDigits } from './units';

export let charts: Chart[] = [], timeZoom: Zoom;

export function makeCharts(): void {
  const infos = data.page.charts ?? [], zooms = new Map<string, Zoom>();
  timeZoom = makeZoom(start, end, false);
  // The range that a chart shares; null for curves whose x decreases in places.
  const zoomOf = (info: ChartInfo): Zoom | null => {
    const log = info.x.scale === 'log', key = `${info.x.name}\n${info.x.unit}\n${log}`;
    let low = Infinity, high = -Infinity;
    for (const l of info.lines) {
      const x = l.x != null ? data.values(l.x) : data.axis(data.series[l.series]?.grid ?? 0), n = x.length;
      for (let i = 1; i < n; i++) if (!(x[i] >= x[i - 1])) return null;
      const half = l.kind === 'stems' && n > 1 ? (x[1] - x[0]) / 2 : 0;
      low = Math.min(low, x[0] - half);
      high = Math.max(high, x[n - 1] + half);
    }
    if (info.over_time) return timeZoom;
    if (!(high > low)) return null;
    const known = zooms.get(key) ?? makeZoom(low, high, log);
    known.include(low, high);
    zooms.set(key, known);
    return known;
  };
  charts = all<HTMLElement>('figure[data-chart]').flatMap(figure => {
    const info = infos[Number(figure.dataset.chart)];
    return info?.lines.some(l => data.series[l.series]) ? [makeChart(figure, info, zoomOf(info))] : [];
  });
  for (const zoom of zooms.values()) {
    const members = charts.filter(c => c.zoom === zoom);
    for (const c of members) c.hoverAll = x => { for (const m of members) m.hover(x); };
  }

  // --- Bar above the charts
  const box = one('#charts'), note = element('span', { class: 'selected-note', role: 'status' }), groups = (data.page.groups ?? []).filter(g => data.series.some(s => s.group === g.name));
  const [filter, showGroup] = choice('Show outputs of', '', ['', ...groups.map(g => g.name)].map((value, i) => {
    const label = i ? groups[i - 1].label : 'All';
    return { value, label, face: [i ? element('i', { style: `background:var(--${palette.ofPart(value)})` }) : null, label] };
  }), value => { if (value !== selectedGroup || selectedPart) selectGroup(value); });
  if (box && charts.length) {
    const column = div('chart-column', div('chart-bar', groups.length > 1 ? filter : null, note, span('hint', duration() ? 'Drag moves the cursor, ' : '', element('kbd', {}, 'Shift'), ' drag zooms'), ...[timeZoom, ...zooms.values()].map(zoom => {
      const made = button('button', { hidden: true }, zoom.all, zoom === timeZoom ? `Show all ${+duration().toFixed(timeDigits(duration()))} s` : 'Show all');
      on([zoom.changed], () => { made.hidden = zoom.whole(); });
      return made;
    })));
    box.before(column);
    column.append(box);
  }
  const showSelection = () => {
    const any = charts.some(c => c.isConcerned());
    for (const c of charts) c.showSelection(isSelecting() && any);
    showGroup(selectedPart ? 'no group' : selectedGroup);
    note.replaceChildren(...selectedPart ? [element('b', {}, selectedPart), any ? '' : ' has no chart', button('clear', { 'aria-label': 'Clear the selection' }, clearSelection, '×')] : []);
  };
  on([selectionChanged], showSelection);
  showSelection();
}

// The chart of an output or of a part; undefined: none.
export function findChart(output: string | undefined, owner: string | undefined): Chart | undefined {
  const has = (test: (s: typeof data.series[0]) => boolean) => charts.find(c => c.lines.some(l => test(data.series[l.line.series])));
  return (output && has(s => s.name === output)) || (owner && has(s => s.part === owner)) || undefined;
}
// Scrolls to a chart and marks the chart for a moment.
export function revealChart({ figure }: Chart): void {
  figure.hidden = false;
  figure.classList.add('flash');
  setTimeout(() => figure.classList.remove('flash'), 1600);
  figure.scrollIntoView({ block: 'nearest', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
}
