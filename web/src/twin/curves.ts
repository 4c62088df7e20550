// Estimated curves of valves: the curve at the cursor with its 95 % band, and the curve at the start. Points of a band count as independent.
import uPlot from 'uplot';
import type { CurveInfo } from './contract';
import type { LiveData } from './live_data';
import * as view from './view';
import { FONT, ink } from '../theme';
import { div, element, span, watchVisible } from '../dom';
import { isPhone } from '../state';
import { on, themeChanged } from '../signal';
import { paced } from './frame';
import { plainUnit } from '../units';
import { swatch, tick } from '../chart';

// Lengths in mm and areas in mm2, as drawings of valves have them.
const SCALES: Record<string, [string, number]> = { m: ['mm', 1e3], 'm^2': ['mm²', 1e6], 'm2': ['mm²', 1e6] };

export function makeCurve(info: CurveInfo, data: LiveData): HTMLElement {
  const [xUnit, xf] = SCALES[info.x_unit ?? ''] ?? [plainUnit(info.x_unit ?? ''), 1], [yUnit, yf] = SCALES[info.unit ?? ''] ?? [plainUnit(info.unit ?? ''), 1], points = info.points.map(p => p.channel ? data.channel(p.channel) : -1);
  const title = `${info.valve}, ${info.from && info.to ? `${info.from} to ${info.to}` : `port ${info.port}`}`, host = div('plot'), solid = { color: 'g0', dash: 'solid', width: 1.8 } as const, dotted = { color: 'g1', dash: 'dotted', width: 1.4 } as const;
  const figure = element('figure', { class: 'card chart upgraded curve' }, div('chart-head', element('figcaption', {}, element('b', {}, title), span('unit', yUnit)), div('legend-live', span('key', swatch(solid, 'line'), 'estimate'), info.start ? span('key', swatch(dotted, 'line'), 'start') : null)), host);
  host.setAttribute('role', 'img');
  host.setAttribute('aria-label', `Curve of ${title}: opening area over the position of the spool`);
  let plot: uPlot | null = null, visible = false;
  const columns = (): uPlot.AlignedData => {
    const i = data.ring.before(view.cursor), value = (j: number) => points[j] >= 0 ? data.at(points[j], view.cursor) : info.points[j].value ?? NaN, sigma = (j: number) => i >= 0 && points[j] >= 0 && data.sigmaOf[points[j]] >= 0 ? data.ring.column(data.sigmaOf[points[j]])[i] : 0;
    const mean = info.weight.map(w => w.reduce((sum, f, j) => sum + (f ? f * value(j) : 0), 0)), half = info.weight.map(w => 1.96 * Math.hypot(...w.map((f, j) => f ? f * sigma(j) : 0)));
    const plain = (v: number) => Number.isFinite(v) ? v * yf : null;
    return [info.x.map(v => v * xf), mean.map(plain), mean.map((v, k) => plain(v - half[k])), mean.map((v, k) => plain(v + half[k])), (info.start ?? []).length ? (info.start as number[]).map(plain) : mean.map(() => null)];
  };
  const build = () => {
    if (plot || host.clientWidth < 10) return;
    const axis: uPlot.Axis = { stroke: () => ink('ink3'), grid: { stroke: () => ink('grid'), width: 1 }, ticks: { show: false }, font: '11px ' + FONT }, none = { stroke: 'transparent', width: 0, points: { show: false } }, height = () => isPhone() ? 180 : 176;
    plot = new uPlot({ width: host.clientWidth, height: height(), padding: [8, 30, 0, 0], legend: { show: false }, cursor: { show: false }, scales: { x: { time: false } },
      series: [{}, { stroke: () => ink('g0'), width: 1.8, points: { show: false } }, { ...none }, { ...none }, { stroke: () => ink('g1'), width: 1.4, dash: [1.5, 4], points: { show: false } }], bands: [{ series: [3, 2], fill: () => ink('g0') + '33' }],
      axes: [{ ...axis, size: 26, gap: 4, values: (_, v) => v.map((x, i) => tick(x) + (i === v.length - 1 ? ' ' + xUnit : '')) }, { ...axis, size: 54, gap: 8, values: (_, v) => v.map(tick) }] }, columns(), host);
    new ResizeObserver(() => { if (host.clientWidth > 10) plot?.setSize({ width: host.clientWidth, height: height() }); }).observe(host);
  };
  const draw = () => {
    if (!visible) return;
    build();
    plot?.setData(columns());
  };
  watchVisible(figure, v => {
    visible = v;
    draw();
  }, '100px');
  on([view.cursorChanged], paced(draw, () => 1000));
  on([themeChanged], () => plot?.redraw(false));
  return figure;
}
