// One chart: title, legend with values at the cursor, and uPlot in place of the still picture.
import uPlot from 'uplot';
import type { App } from './app';
import type { ChartInfo, LineInfo } from './contract';
import { element, icon, one, svgElement, watchVisible } from './dom';
import { DASHES, colorVariable } from './palette';
import type { LineStyle } from './palette';
import { FONT } from './theme';
import type { Window } from './window';
import { format, digitsFor, plainUnit } from './units';
import { chartCsv, chartSvg } from './chart_file';
import { fileName, saveFile } from './dom';

type Column = (number | null)[] | Float64Array;
export interface Plotted { line: LineInfo; style: LineStyle; x: Float64Array; y: Float64Array; upper: Float64Array | null; shown: boolean }

export class Chart {
  readonly lines: Plotted[] = [];
  readonly free: boolean;            // x of a line runs back and forth: a curve in the plane
  private plot: uPlot | null = null;
  private readonly host = element('div', { class: 'plot' });
  private readonly values: HTMLElement[] = [];
  private readonly buttons: HTMLButtonElement[] = [];
  private readonly unit = element('span', { class: 'unit' });
  private readonly own: number[] = [];      // series of uPlot for each line
  private visible = false;
  private built = false;
  private hover = NaN;               // x under the pointer in charts without time

  constructor(private readonly app: App, readonly figure: HTMLElement, readonly info: ChartInfo, readonly window: Window | null) {
    const styles = app.palette.ofLines(info.lines), { data } = app;
    info.lines.forEach((line, i) => {
      const s = data.series[line.series];
      if (!s) return;
      const x = line.x !== undefined && line.x !== null ? data.values(line.x) : data.axis(s.grid);
      this.lines.push({ line, style: styles[i], x, y: data.values(line.series), upper: line.upper !== undefined ? data.values(line.upper) : null, shown: true });
    });
    this.free = this.lines.some(l => !rising(l.x));
    this.frame();
    watchVisible(figure, v => {
      this.visible = v;
      if (v) this.build();
      if (v) this.drawCursor();
    }, '300px');
    if (info.over_time) app.clock.frame.add(() => { if (this.visible) this.drawCursor(); });
    window?.changed.add(() => this.plot?.setScale('x', { min: window.low, max: window.high }));
    app.theme.changed.add(() => this.plot?.redraw(false));
    app.selection.changed.add(() => this.plot?.redraw(false));
    app.units.changed.add(() => this.refresh());
  }

  // Whether a line of the chart belongs to the selection.
  get concerned(): boolean { return this.lines.some(l => this.app.selection.hasSeries(this.app.data.series[l.line.series])); }

  private get firstSeries() { return this.app.data.series[this.lines[0]?.line.series ?? 0]; }
  private unitText(): string {
    const s = this.firstSeries;
    return s ? this.app.units.unit(s) : plainUnit(this.info.y.unit);
  }
  private shown(l: Plotted, value: number): number { return this.app.units.shown(this.app.data.series[l.line.series], value); }

  // Title and legend; the still picture stays for prints.
  private frame(): void {
    const { figure, info } = this, caption = one<HTMLElement>('figcaption', figure), still = one<SVGSVGElement>(':scope > svg, :scope > .plot > svg', figure);
    still?.classList.add('still');
    for (const extra of Array.from(figure.children)) if (extra !== caption && extra !== still && !extra.classList.contains('keep')) extra.classList.add('still');
    const title = element('figcaption', { class: 'live-caption' }, element('b', {}, info.title), this.unit), legend = element('div', { class: 'legend-live' });
    caption?.classList.add('still');
    for (const l of this.lines) {
      const value = element('b'), button = element('button', { type: 'button', 'aria-pressed': 'true', onclick: () => this.toggle(l, button) }, swatch(l), l.line.label, value);
      this.values.push(value);
      this.buttons.push(button);
      legend.append(button);
    }
    const menu = element('details', { class: 'menu chart-menu' }, element('summary', { class: 'tool', 'aria-label': `Save the chart ${info.title}`, title: 'Save this chart' }, icon('M8 2.5v7.5M4.8 7L8 10.2 11.2 7M3 13.2h10')),
      element('div', { class: 'sheet' }, ...(['CSV', 'SVG', 'PNG'] as const).map(kind => element('button', { type: 'button', onclick: () => {
        menu.open = false;
        void this.save(kind);
      } }, kind))));
    figure.prepend(element('div', { class: 'chart-head' }, title, legend, menu), this.host);
    figure.classList.add('upgraded');
    this.showUnit();
  }
  private showUnit(): void { this.unit.textContent = [this.unitText(), this.info.note].filter(Boolean).join(', '); }

  private toggle(l: Plotted, button: HTMLButtonElement): void {
    l.shown = !l.shown;
    button.setAttribute('aria-pressed', String(l.shown));
    const k = this.own[this.lines.indexOf(l)];
    this.plot?.setSeries(k, { show: l.shown });
    if (l.upper) this.plot?.setSeries(k + 1, { show: l.shown });
  }

  private height(): number { return this.app.phone() ? 190 : this.lines.length > 5 ? 216 : this.free ? 260 : 176; }

  private build(): void {
    if (this.built || this.host.clientWidth < 10) return;
    this.built = true;
    const plot = new uPlot(this.options(), this.columns(), this.host);
    this.plot = plot;
    if (!this.free) this.bindPointer(plot); else this.bindHover(plot);
    new ResizeObserver(() => {
      if (this.host.clientWidth > 10) plot.setSize({ width: this.host.clientWidth, height: this.height() });
    }).observe(this.host);
    this.drawCursor();
  }

  // New units or new samples.
  refresh(): void {
    for (const l of this.lines) {
      l.y = this.app.data.values(l.line.series);
      if (l.line.upper !== undefined) l.upper = this.app.data.values(l.line.upper);
    }
    this.showUnit();
    this.plot?.setData(this.columns());
    if (this.window) this.plot?.setScale('x', { min: this.window.low, max: this.window.high });
    this.drawCursor();
  }

  // Columns of uPlot. Lines on different grids are joined; a missing value is a gap.
  private columns(): uPlot.AlignedData {
    this.own.length = 0;
    let next = 1;
    for (const l of this.lines) {
      this.own.push(next);
      next += l.upper ? 2 : 1;
    }
    const factor = this.info.x.factor ?? 1, xs = (v: Float64Array): Float64Array => factor === 1 ? v : v.map(a => a * factor);
    const ys = (l: Plotted, v: Float64Array): Column => {
      const values = v.map(a => this.shown(l, a));
      return values.some(a => Number.isNaN(a)) ? Array.from(values, a => Number.isNaN(a) ? null : a) : values;
    };
    if (this.free) {
      const facets: unknown[] = [null];
      for (const l of this.lines) {
        facets.push([xs(l.x), ys(l, l.y)]);
        if (l.upper) facets.push([xs(l.x), ys(l, l.upper)]);
      }
      return facets as unknown as uPlot.AlignedData;
    }
    const tables: uPlot.AlignedData[] = [];
    for (const l of this.lines) tables.push([xs(l.x), ys(l, l.y), ...(l.upper ? [ys(l, l.upper)] : [])]);
    if (tables.length === 0) return [[]];
    const common = this.lines.every(l => l.x === this.lines[0].x);
    return common ? [tables[0][0], ...tables.flatMap(t => t.slice(1))] as uPlot.AlignedData : uPlot.join(tables);
  }

  private faded(l: Plotted): boolean {
    const { selection, data } = this.app;
    return selection.any && this.concerned && !selection.hasSeries(data.series[l.line.series]);
  }
  private stroke(l: Plotted): string {
    const color = this.app.theme.color(l.line.kind === 'measured' ? '--measured' : colorVariable(l.style.color));
    return this.faded(l) ? color + '2e' : color;
  }

  private options(): uPlot.Options {
    const { app, info, window: shared } = this, color = (v: string) => () => app.theme.color(v);
    const axis = (): uPlot.Axis => ({ stroke: color('--ink3'), grid: { stroke: color('--grid'), width: 1 }, ticks: { show: false }, font: '11px ' + FONT });
    const series: uPlot.Series[] = [{}], bands: uPlot.Band[] = [];
    for (const l of this.lines) {
      const kind = l.line.kind, points = kind === 'points' || (kind === 'measured' && l.x.length < 400);
      const base: uPlot.Series = { label: l.line.label, stroke: () => this.stroke(l), width: kind === 'band' ? 0 : l.style.width, dash: DASHES[l.style.dash],
        points: { show: points, size: 4, fill: () => this.stroke(l) }, show: l.shown };
      if (points) base.paths = () => null;
      if (kind === 'bars') {
        base.paths = uPlot.paths.bars?.({ size: [0.86, 80], align: 0 });
        base.fill = () => this.stroke(l) + '66';
      }
      if (this.free) {
        base.facets = [{ scale: 'x', auto: true }, { scale: 'y', auto: true }];
        base.paths = (u, k) => { paintCurve(u, k, this.stroke(l), l.style.width, DASHES[l.style.dash], points); return null; };
        base.points = { show: false };
      }
      series.push(base);
      if (l.upper) {
        series.push({ ...base, label: l.line.label + ' upper' });
        bands.push({ series: [series.length - 1, series.length - 2], fill: () => this.stroke(l) + (l.line.kind === 'band' ? '38' : '26') });
      }
    }
    const log = info.y.scale === 'log', nothing = () => null;
    return {
      mode: this.free ? 2 : 1, width: this.host.clientWidth, height: this.height(), padding: [8, 16, 0, 0], legend: { show: false },
      scales: {
        x: { time: false, distr: info.x.scale === 'log' ? 3 : 1, ...(this.free || !shared ? {} : { auto: false, min: shared.low, max: shared.high }) },
        y: { distr: log ? 3 : 1, ...(log ? {} : { range: (_u: uPlot, a: number | null, b: number | null) => this.range(a ?? 0, b ?? 1) }) },
      },
      axes: [{ ...axis(), size: 26, gap: 4, values: (_u, v) => v.map((x, i) => x === null ? '' : tick(x) + (i === v.length - 1 ? ' ' + plainUnit(info.x.unit) : '')) },
        { ...axis(), size: 54, gap: 8, values: (_u, v) => v.map(x => x === null ? '' : tick(x)) }],
      cursor: { y: false, points: { size: 7, width: 2, fill: color('--card') }, drag: { x: false, y: false, setScale: false },
        bind: { mousedown: nothing, mouseup: nothing, click: nothing, dblclick: nothing, mousemove: nothing, mouseleave: nothing, mouseenter: nothing } },
      hooks: { drawClear: [u => this.paintBehind(u)], draw: [u => this.paintFront(u)] },
      series, bands,
    };
  }

  // Range of y: with zero where zero is near, with limits that are near.
  private range(a: number, b: number): uPlot.Range.MinMax {
    if (this.lines.some(l => l.line.kind === 'bars')) a = Math.min(a, 0);
    for (const limit of this.info.limits ?? []) {
      const v = this.limitValue(limit.value), room = 0.6 * Math.max(b - a, 1e-300);
      if (v > b && v < b + room) b = v;
      if (v < a && v > a - room) a = v;
    }
    if (a >= 0 && a < 0.4 * b) return uPlot.rangeNum(0, b, { min: { pad: 0, soft: 0, mode: 1 }, max: { pad: 0.08, soft: 0, mode: 2 } });
    return a < b ? uPlot.rangeNum(a, b, 0.1, false) : uPlot.rangeNum(a - (Math.abs(a) || 1) * 0.05, b + (Math.abs(b) || 1) * 0.05, 0.1, false);
  }
  private limitValue(si: number): number {
    const s = this.firstSeries;
    return s ? this.app.units.shown(s, si) : si;
  }

  // Intervals of findings.
  private paintBehind(u: uPlot): void {
    if (!this.info.over_time) return;
    const { app } = this, g = u.ctx, { left, top, width, height } = u.bbox;
    for (const f of app.data.page.findings ?? []) {
      if (f.from === undefined || f.to === undefined || f.severity === 'good' || f.severity === 'note') continue;
      if (!this.lines.some(l => app.data.series[l.line.series].name === f.output)) continue;
      const a = Math.max(left, u.valToPos(f.from, 'x', true)), b = Math.min(left + width, Math.max(u.valToPos(f.to, 'x', true), u.valToPos(f.from, 'x', true) + 1));
      if (b <= a) continue;
      g.fillStyle = app.theme.color(f.severity === 'serious' ? '--badbg' : '--warnbg');
      g.fillRect(a, top, b - a, height);
      g.fillStyle = app.theme.color(f.severity === 'serious' ? '--bad' : '--warn');
      g.fillRect(a, top, b - a, 2 * devicePixelRatio);
    }
  }
  // Limits and marks.
  private paintFront(u: uPlot): void {
    const g = u.ctx, d = devicePixelRatio, { left, top, width, height } = u.bbox, ink = this.app.theme.color('--ink3');
    g.save();
    g.font = `${11 * d}px ${FONT}`;
    g.lineWidth = d;
    for (const limit of this.info.limits ?? []) {
      const y = u.valToPos(this.limitValue(limit.value), 'y', true);
      if (!(y >= top - 1 && y <= top + height + 1)) continue;
      g.strokeStyle = g.fillStyle = ink;
      g.setLineDash([2 * d, 3 * d]);
      g.beginPath();
      g.moveTo(left, y);
      g.lineTo(left + width, y);
      g.stroke();
      g.textAlign = 'right';
      g.fillText(limit.text, left + width - 2 * d, y - top < 16 * d ? y + 12 * d : y - 4 * d);
    }
    g.setLineDash([]);
    for (const mark of this.info.marks ?? []) {
      const x = u.valToPos(mark.x * (this.info.x.factor ?? 1), 'x', true), y = u.valToPos(this.limitValue(mark.y), 'y', true);
      if (x < left || x > left + width || !(y >= top && y <= top + height)) continue;
      g.strokeStyle = g.fillStyle = this.app.theme.color('--ink');
      g.beginPath();
      g.arc(x, y, 4 * d, 0, 7);
      g.stroke();
      const right = x < left + 0.6 * width;
      g.textAlign = right ? 'left' : 'right';
      g.fillText(mark.text, x + (right ? 8 : -8) * d, y - 6 * d);
    }
    g.restore();
  }

  // Cursor and values of the legend.
  drawCursor(): void {
    const { app, plot, window: shared } = this, x = this.info.over_time ? app.clock.now : this.hover, factor = this.info.x.factor ?? 1;
    if (this.free) return;
    if (plot) {
      const at = x * factor, inside = shared ? at >= shared.low - 1e-12 && at <= shared.high + 1e-12 : true;
      plot.setCursor({ left: Number.isNaN(x) || !inside ? -10 : Math.max(0, plot.valToPos(at, 'x')), top: 0 }, false);
    }
    this.lines.forEach((l, i) => {
      const s = app.data.series[l.line.series], value = this.info.over_time ? app.data.at(l.line.series, x) : this.valueAt(l, x);
      const text = Number.isNaN(x) ? '' : format(app.units.shown(s, value), app.units.digits(s));
      if (this.values[i].textContent !== text) this.values[i].textContent = text;
    });
  }
  private valueAt(l: Plotted, x: number): number {
    let best = NaN, least = Infinity;
    for (let i = 0; i < l.x.length; i++) {
      const d = Math.abs(l.x[i] - x);
      if (d < least) { least = d; best = l.y[i]; }
    }
    return best;
  }
  // Sets the value of x under the pointer, shared by charts of the same axis.
  setHover(x: number): void {
    this.hover = x;
    if (this.visible) this.drawCursor();
  }

  // Drag moves the cursor, Shift and drag or two fingers zoom, Ctrl and wheel zoom, double click shows all.
  private bindPointer(u: uPlot): void {
    const { over } = u, { app, window: shared } = this, fingers = new Map<number, number>(), factor = this.info.x.factor ?? 1;
    let mode: '' | 'move' | 'zoom' = '', first = 0;
    const px = (e: PointerEvent | WheelEvent) => Math.min(over.clientWidth, Math.max(0, e.clientX - over.getBoundingClientRect().left));
    const at = (left: number) => u.posToVal(left, 'x');
    const move = (e: PointerEvent) => {
      if (this.info.over_time) app.clock.seek(at(px(e)) / factor);
      else this.hoverAll(at(px(e)) / factor);
    };
    over.addEventListener('pointerdown', e => {
      if (e.button !== 0) return;
      over.setPointerCapture(e.pointerId);
      fingers.set(e.pointerId, px(e));
      mode = e.shiftKey ? 'zoom' : 'move';
      first = px(e);
      if (mode === 'move' && fingers.size === 1) move(e);
    });
    over.addEventListener('pointermove', e => {
      if (!fingers.has(e.pointerId)) {
        if (!this.info.over_time && e.pointerType === 'mouse') this.hoverAll(at(px(e)) / factor);
        return;
      }
      if (fingers.size === 2 && shared) {
        const [a, b] = [...fingers.values()], before = Math.abs(a - b);
        fingers.set(e.pointerId, px(e));
        const [c, d] = [...fingers.values()], now = Math.abs(c - d);
        if (now > 8) shared.zoom(at((c + d) / 2), before / now);
        return;
      }
      fingers.set(e.pointerId, px(e));
      if (mode === 'move') move(e);
      if (mode === 'zoom') u.setSelect({ left: Math.min(first, px(e)), width: Math.abs(px(e) - first), top: 0, height: over.clientHeight }, false);
    });
    const end = (e: PointerEvent) => {
      if (mode === 'zoom' && shared) {
        u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        const a = Math.min(first, px(e)), b = Math.max(first, px(e));
        if (b - a > 4) shared.set(at(a), at(b));
      }
      mode = '';
      fingers.delete(e.pointerId);
    };
    over.addEventListener('pointerup', end);
    over.addEventListener('pointercancel', end);
    over.addEventListener('dblclick', () => shared?.showAll());
    over.addEventListener('wheel', e => {
      if (!shared || (!e.ctrlKey && !e.metaKey)) return;
      e.preventDefault();
      shared.zoom(at(px(e)), Math.exp(e.deltaY / 400));
    }, { passive: false });
  }
  hoverAll: (x: number) => void = x => this.setHover(x);

  // Curves in the plane: the nearest point under the pointer is marked, its values are in the legend.
  private bindHover(u: uPlot): void {
    const mark = element('i', { class: 'hover-mark', hidden: true }), factor = this.info.x.factor ?? 1;
    u.over.append(mark);
    u.over.addEventListener('pointermove', e => {
      const box = u.over.getBoundingClientRect(), px = e.clientX - box.left, py = e.clientY - box.top;
      let least = 40, found = -1, which = -1;
      this.lines.forEach((l, k) => {
        if (l.shown) for (let i = 0; i < l.x.length; i++) {
          const d = Math.hypot(u.valToPos(l.x[i] * factor, 'x') - px, u.valToPos(this.shown(l, l.y[i]), 'y') - py);
          if (d < least) { least = d; found = i; which = k; }
        }
      });
      mark.hidden = found < 0;
      this.values.forEach(v => { v.textContent = ''; });
      if (found < 0) return;
      const l = this.lines[which], x = l.x[found] * factor, y = this.shown(l, l.y[found]);
      mark.style.left = `${u.valToPos(x, 'x')}px`;
      mark.style.top = `${u.valToPos(y, 'y')}px`;
      this.values[which].textContent = `${format(x, digitsFor(Math.abs(x)))} ${plainUnit(this.info.x.unit)}, ${format(y, digitsFor(Math.abs(y)))} ${this.unitText()}`;
    });
    u.over.addEventListener('pointerleave', () => {
      mark.hidden = true;
      this.values.forEach(v => { v.textContent = ''; });
    });
  }

  async save(kind: 'CSV' | 'SVG' | 'PNG'): Promise<void> {
    const name = fileName(`${this.app.data.page.title} ${this.info.title}`);
    if (kind === 'CSV') return saveFile(name + '.csv', new Blob([chartCsv(this.app, this.info, this.lines)], { type: 'text/csv' }));
    const svg = chartSvg(this.app, this.info, this.lines.filter(l => l.shown), this.window);
    if (kind === 'SVG') return saveFile(name + '.svg', new Blob([svg], { type: 'image/svg+xml' }));
    const picture = new Image();
    picture.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(svg);
    await picture.decode();
    const canvas = element('canvas', { width: picture.naturalWidth * 2, height: picture.naturalHeight * 2 });
    canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(blob => { if (blob) saveFile(name + '.png', blob); });
  }

  // Shows only what belongs to the selection; any: whether some chart of the page does.
  showSelection(any: boolean): void {
    const { selection, data } = this.app, filter = selection.any && any;
    this.figure.hidden = filter && !this.concerned;
    this.lines.forEach((l, i) => { this.buttons[i].hidden = filter && !selection.hasSeries(data.series[l.line.series]); });
    if (!this.figure.hidden) this.build();
  }
}

function rising(x: Float64Array): boolean {
  for (let i = 1; i < x.length; i++) if (!(x[i] >= x[i - 1])) return false;
  return true;
}
function tick(x: number): string {
  const size = Math.abs(x), text = size !== 0 && (size >= 1e5 || size < 1e-4) ? x.toExponential(2).replace(/\.?0+e/, 'e').replace('e+', 'e') : String(+x.toPrecision(7));
  return text.replace(/-/g, '−');
}

// A piece of line in the style of the series, for legend and table.
export function swatch(l: { style: LineStyle; line: { kind: string } }): SVGSVGElement {
  const made = svgElement('svg', { class: 'swatch', viewBox: '0 0 18 8', width: 18, height: 8, 'aria-hidden': 'true' });
  made.style.color = l.line.kind === 'measured' ? 'var(--measured)' : `var(${colorVariable(l.style.color)})`;
  if (l.line.kind === 'points') made.append(svgElement('circle', { cx: 9, cy: 4, r: 3, fill: 'currentColor' }));
  else if (l.line.kind === 'band' || l.line.kind === 'bars') made.append(svgElement('rect', { x: 0, y: 0, width: 18, height: 8, rx: 1, fill: 'currentColor', opacity: 0.35 }));
  else made.append(svgElement('path', { d: 'M1 4H17', fill: 'none', stroke: 'currentColor', 'stroke-width': 2,
    'stroke-linecap': l.style.dash === 'dotted' ? 'round' : 'butt', 'stroke-dasharray': l.style.dash === 'dashed' ? '4.5 2.5' : l.style.dash === 'dotted' ? '0.1 4' : 'none' }));
  return made;
}

// A curve in the plane, for charts whose x does not rise.
function paintCurve(u: uPlot, k: number, color: string, width: number, dash: number[] | undefined, points: boolean): void {
  const d = devicePixelRatio, g = u.ctx, facets = (u.data as unknown as (number | null)[][][])[k], { left, top, width: w, height: h } = u.bbox;
  g.save();
  g.beginPath();
  g.rect(left, top, w, h);
  g.clip();
  g.strokeStyle = g.fillStyle = color;
  g.lineWidth = width * d;
  g.lineJoin = 'round';
  g.setLineDash((dash ?? []).map(v => v * d));
  g.beginPath();
  let open = false;
  for (let i = 0; i < facets[0].length; i++) {
    const x = facets[0][i], y = facets[1][i];
    if (x === null || y === null || Number.isNaN(x) || Number.isNaN(y)) { open = false; continue; }
    const px = u.valToPos(x, 'x', true), py = u.valToPos(y, 'y', true);
    if (points) {
      g.moveTo(px + 2.5 * d, py);
      g.arc(px, py, 2.5 * d, 0, 7);
    } else if (open) g.lineTo(px, py);
    else g.moveTo(px, py);
    open = true;
  }
  if (points) g.fill(); else g.stroke();
  g.restore();
}
