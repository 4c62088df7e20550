// A chart over the time of the machine: mean, extremes and 95 % band of each line, from the history and from the stream.
import uPlot from 'uplot';
import type { AlarmRule, History } from './contract';
import type { LineKind } from '../contract';
import type { LineStyle } from '../palette';
import type { LiveData } from './live_data';
import type { Piece } from './pieces';
import type { Scale } from '../units';
import * as view from './view';
import { DASHES } from '../palette';
import { FONT, ink } from '../theme';
import { LIVE_GAP } from './live_data';
import { addSamples, before, emptyPiece, join, nearestPoint, pieceOfBins } from './pieces';
import { button, div, element, press, span, watchVisible, write } from '../dom';
import { digitsFor, format, shown, unitOf } from '../units';
import { get, query, reasonOf, Refused } from './api';
import { hasSeries, isSelecting } from '../selection';
import { isPhone } from '../state';
import { on, selectionChanged, themeChanged, unitsChanged } from '../signal';
import { paced } from './frame';
import { swatch, tick } from '../chart';
import { tickTexts, timeStep, timeTicks } from './time_axis';

export interface TrendLine { k: number; kind: LineKind; label: string; band: boolean; style: LineStyle }
export interface TrendInfo { title: string; axis: Scale; section: string; lines: TrendLine[]; limits: { value: number; text: string; alarm: boolean }[] }
export interface Trend {
  figure: HTMLElement;
  info: TrendInfo;
  isConcerned(): boolean;
  showSelection(filtering: boolean): void;
  follow(): void;      // updates the curves after the interval has moved or samples have arrived
  renew(): void;       // loads the history again, after a lost connection
}
interface Loaded { from: number; to: number; width: number; at: number; pieces: Map<string, Piece> }

const POINTS = 300;          // bins of an interval
const PATIENCE = 160;        // time for which the interval must not change before the history is requested, ms

export function limitsOf(rules: AlarmRule[] | undefined, channels: string[]): TrendInfo['limits'] {
  return (rules ?? []).filter(r => channels.includes(r.channel)).flatMap(r => [r.above, r.below].flatMap(value => value == null ? [] : [{ value, text: r.name, alarm: true }]));
}

// Half of an interval, with at most one decimal more than the value, but at least one digit that is not zero.
export function halfText(half: number, digits: number): string {
  const own = digitsFor(half);
  return format(half, own < 0 || digits < 0 ? own : Math.min(Math.max(0, own - 1), Math.max(digits + 1, own - 2)));
}
export function makeTrend(machine: string, info: TrendInfo, data: LiveData): Trend {
  const { axis, lines } = info, ys = (v: number) => shown(axis, v), values = lines.map(() => element('b')), isShown = lines.map(() => true), stored = lines.filter(l => data.channels[l.k].history === 'rows');
  const figure = element('figure', { class: 'card chart upgraded trend' }), unit = span('unit'), host = div('plot'), note = element('p', { class: 'trend-note', hidden: true });
  const buttons = lines.map((l, i) => {
    const made = button('', { 'aria-pressed': 'true' }, () => {
      isShown[i] = !isShown[i];
      press(made, isShown[i]);
      for (let s = 0; s < 5; s++) plot?.setSeries(1 + 5 * i + s, { show: isShown[i] });
    }, swatch(l.style, l.kind), l.label, values[i]);
    return made;
  });
  figure.append(div('chart-head', element('figcaption', {}, element('b', {}, info.title), unit), div('legend-live', ...buttons)), host, note);
  host.setAttribute('role', 'img');
  host.setAttribute('aria-label', `Chart of ${info.title}: ${lines.map(l => l.label).join(', ')}`);
  let plot: uPlot | null = null, visible = false, near = false, loaded: Loaded | null = null, asked: AbortController | null = null, timer = 0, drawn: Piece[] = [], failedAt = -Infinity, digits = 2;

  // --- Data of the visible interval
  const width = () => Math.max(50, host.clientWidth - 60);
  function pieces(): Piece[] {
    const from = view.left(), to = view.right, times = data.ring.times(), n = times.length, start = n ? times[0] : Infinity, a = Math.max(0, data.ring.before(from)), b = n ? data.ring.before(to) + 1 : 0;
    const bin = Math.max(1e-9, 1.6 * view.span / width());
    return lines.map(l => {
      const old = loaded?.pieces.get(data.channels[l.k].channel), p = old ? before(old, start) : emptyPiece();
      if (n && to > start) addSamples(p, times, data.ring.column(l.k), data.sigmaOf[l.k] >= 0 ? data.ring.column(data.sigmaOf[l.k]) : null, a, Math.min(n, b + 1), bin, LIVE_GAP);
      return p;
    });
  }
  function columns(): uPlot.AlignedData {
    drawn = pieces();
    const { t, of } = join(drawn), list: (number | null | undefined)[][] = [];
    lines.forEach((l, i) => {
      const mean = of('mean', i), sigma = of('sigma', i), by = (f: number) => mean.map((m, j) => m == null || sigma[j] == null ? m : ys(m + f * 1.96 * (sigma[j] as number)));
      list.push(mean.map(m => m == null ? m : ys(m)), l.band ? by(-1) : mean.map(() => null), l.band ? by(1) : mean.map(() => null), of('low', i).map(m => m == null ? m : ys(m)), of('high', i).map(m => m == null ? m : ys(m)));
    });
    return [t, ...list] as uPlot.AlignedData;
  }

  // --- History: requested when the loaded data do not cover the interval, its resolution or the time before the ring
  function lacks(): boolean {
    if (!stored.length || Number.isNaN(view.right) || view.first > view.right) return false;
    const from = Math.max(view.left(), view.first), times = data.ring.times(), to = Math.min(view.right, times.length ? times[0] : Infinity), bin = view.span / POINTS;
    if (from >= to) return false;
    return !loaded || from < loaded.from - 2 * bin || to > loaded.to + Math.max(2 * bin, 0.7) || loaded.width > 1.7 * bin || loaded.width < bin / 3;
  }
  async function load(): Promise<void> {
    timer = 0;
    if (!near || document.hidden || !lacks()) return;
    asked?.abort();
    const mine = asked = new AbortController(), room = 0.15 * view.span, from = view.left() - room, to = Math.min(view.newest, view.right + room);
    try {
      const answer = await get<History>(`machines/${encodeURIComponent(machine)}/history?` + query({ channels: stored.map(l => data.channels[l.k].channel).join(','), from, to, points: Math.round(1.3 * POINTS) }), mine.signal);
      if (mine !== asked) return;
      loaded = { from, to, width: view.span / POINTS, at: performance.now(), pieces: new Map(answer.series.map(s => [s.channel, pieceOfBins(s, LIVE_GAP)])) };
      say('');
    } catch (error) {
      if (mine.signal.aborted && mine !== asked) return;
      failedAt = performance.now();
      if (!(error instanceof Refused && error.status === 0)) say(`The history cannot be read: ${reasonOf(error)}`);
    }
    if (mine === asked) asked = null;
    figure.classList.remove('loading');
    draw();
  }
  const say = (text: string) => {
    note.hidden = !text;
    write(note, text);
  };
  const want = () => {
    if (timer || asked || !lacks() || performance.now() - failedAt < 3000) return;
    figure.classList.add('loading');
    timer = setTimeout(() => void load(), PATIENCE);
  };

  // --- uPlot
  const height = () => isPhone() ? 180 : 176;
  const inkOf = (l: TrendLine) => ink(l.style.color) + (isSelecting() && trend.isConcerned() && !hasSeries(data.series[l.k]) ? '2e' : '');
  function options(): uPlot.Options {
    const axisStyle: uPlot.Axis = { stroke: () => ink('ink3'), grid: { stroke: () => ink('grid'), width: 1 }, ticks: { show: false }, font: '11px ' + FONT }, nothing = () => null;
    const series: uPlot.Series[] = [{}], bands: uPlot.Band[] = [];
    lines.forEach((l, i) => {
      const at = 1 + 5 * i, hidden: uPlot.Series = { stroke: 'transparent', width: 0, points: { show: false } };
      series.push({ stroke: () => inkOf(l), width: l.style.width, dash: DASHES[l.style.dash], points: { show: false } }, { ...hidden }, { ...hidden }, { ...hidden }, { ...hidden });
      bands.push({ series: [at + 4, at + 3], fill: () => inkOf(l) + '40' }, { series: [at + 2, at + 1], fill: () => inkOf(l) + '33' });
    });
    return {
      width: host.clientWidth, height: height(), padding: [8, 16, 0, 0], legend: { show: false }, series, bands,
      scales: { x: { time: false, auto: false, range: () => [view.left(), view.right] as uPlot.Range.MinMax }, y: { range: (_, a, b) => range(a ?? 0, b ?? 1) } },
      axes: [{ ...axisStyle, size: 26, gap: 4,
        splits: (u: uPlot) => {
          const [a, b] = [u.scales.x.min ?? 0, u.scales.x.max ?? 1].map(view.clockOf), step = timeStep(b - a, Math.max(2, u.bbox.width / devicePixelRatio / 74));
          return timeTicks(a, b, step).map(t => t - view.offset);
        },
        values: (u: uPlot, v: number[]) => tickTexts(v.map(view.clockOf), timeStep((u.scales.x.max ?? 1) - (u.scales.x.min ?? 0), Math.max(2, u.bbox.width / devicePixelRatio / 74))) }, { ...axisStyle, size: 54, gap: 8, values: (_, v) => v.map(tick) }],
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false, setScale: false },
        bind: { mousedown: nothing, mouseup: nothing, click: nothing, dblclick: nothing, mousemove: nothing, mouseleave: nothing, mouseenter: nothing } },
      hooks: { drawClear: [paintGaps], draw: [paintLimits], ready: [() => drawCursor()], setSize: [() => queueMicrotask(drawCursor)] },
    };
  }
  // Range of y, with limits that are near, and zero if it is near.
  function range(a: number, b: number): uPlot.Range.MinMax {
    const room = 0.6 * (b - a);
    for (const { value } of info.limits) {
      const v = ys(value);
      if (v > b && v < b + room) b = v;
      if (v < a && v > a - room) a = v;
    }
    if (a >= 0 && a < 0.4 * b) return uPlot.rangeNum(0, b, { min: { pad: 0, soft: 0, mode: 1 }, max: { pad: 0.08, soft: 0, mode: 2 } });
    const more = b - a > 1e-9 * Math.max(Math.abs(a), Math.abs(b)) ? 0 : 0.05 * Math.abs(a) || 1;
    return uPlot.rangeNum(a - more, b + more, 0.1, false);
  }
  // Hatches times without data of any line.
  function paintGaps(u: uPlot): void {
    const t = u.data[0] as number[], g = u.ctx, { left, top, width: wide, height: tall } = u.bbox, right = left + wide, px = (x: number) => Math.min(right, Math.max(left, u.valToPos(x, 'x', true))), d = devicePixelRatio;
    const gap = (from: number, to: number) => {
      const a = px(from), b = px(to);
      if (b - a < 3 * d) return;
      g.save();
      g.beginPath();
      g.rect(a, top, b - a, tall);
      g.clip();
      g.strokeStyle = ink('line2');
      g.globalAlpha = 0.55;
      g.lineWidth = d;
      g.beginPath();
      for (let x = Math.floor((a - tall) / (7 * d)) * 7 * d; x < b; x += 7 * d) {
        g.moveTo(x, top + tall);
        g.lineTo(x + tall, top);
      }
      g.stroke();
      g.restore();
      g.fillStyle = ink('ink3');
      g.font = `${11 * d}px ${FONT}`;
      const text = 'no data', w = g.measureText(text).width;
      if (b - a < w + 20 * d) return;
      g.textAlign = 'center';
      g.fillStyle = ink('card');
      g.fillRect((a + b - w) / 2 - 5 * d, top + tall / 2 - 9 * d, w + 10 * d, 18 * d);
      g.fillStyle = ink('ink3');
      g.textBaseline = 'middle';
      g.fillText(text, (a + b) / 2, top + tall / 2);
    };
    const has = (i: number) => lines.some((_, k) => u.data[1 + 5 * k][i] != null);
    let last = view.first < view.right ? Math.max(view.left(), view.first) : NaN, begun = false;
    t.forEach((x, i) => {
      if (!has(i)) return;
      if (begun ? missing(x, last) : !loaded && stored.length ? false : x - last > LIVE_GAP + 2 * view.span / POINTS) gap(last, x);
      last = x;
      begun = true;
    });
    if (begun && view.right - last > Math.max(LIVE_GAP, 2 * view.span / POINTS) && (!stored.length || loaded || view.mode === 'live')) gap(last, Math.min(view.right, Math.max(view.newest, last)));
  }
  // Whether there are no data between two times: both are farther apart than samples and bins.
  const missing = (x: number, before: number) => x - before > Math.max(LIVE_GAP, 2.1 * (loaded?.width ?? 0), 2.1 * 1.6 * view.span / width());
  function paintLimits(u: uPlot): void {
    const g = u.ctx, d = devicePixelRatio, { left, top, width: wide, height: tall } = u.bbox;
    for (const { value, text, alarm } of info.limits) {
      const y = u.valToPos(ys(value), 'y', true);
      if (!(y >= top - 1 && y <= top + tall + 1)) continue;
      g.save();
      g.strokeStyle = g.fillStyle = ink(alarm ? 'bad' : 'ink3');
      g.lineWidth = d;
      g.setLineDash([2 * d, 3 * d]);
      g.beginPath();
      g.moveTo(left, y);
      g.lineTo(left + wide, y);
      g.stroke();
      g.font = `${11 * d}px ${FONT}`;
      g.textAlign = 'left';
      g.textBaseline = 'alphabetic';
      g.fillText(text, left + 4 * d, y - top < 16 * d ? y + 12 * d : y - 4 * d);
      g.restore();
    }
  }

  // --- Cursor and values
  function drawCursor(): void {
    const x = view.cursor;
    plot?.setCursor({ left: view.mode !== 'live' && x >= view.left() && x <= view.right ? Math.max(0, plot.valToPos(x, 'x')) : -10, top: 0 }, false);
    lines.forEach((l, i) => {
      const p = drawn[i], j = p ? nearestPoint(p.t, x) : -1, ok = j >= 0 && Math.abs(p.t[j] - x) <= Math.max(LIVE_GAP, 2 * view.span / width()), mean = ok ? p.mean[j] : NaN, sigma = ok && l.band ? p.sigma[j] : NaN;
      write(values[i], Number.isNaN(mean) ? '–' : format(ys(mean), digits) + (sigma > 0 ? ` ± ${halfText(Math.abs(ys(1.96 * sigma) - ys(0)), digits)}` : ''));
    });
  }
  function measure(): void {
    let most = 0;
    for (const p of drawn) for (const y of p.mean) if (Math.abs(ys(y)) > most) most = Math.abs(ys(y));
    digits = digitsFor(most);
  }
  function draw(): void {
    if (!visible || !plot) return;
    plot.setData(columns(), true);
    measure();
    drawCursor();
  }
  const drawPaced = paced(draw, () => Math.min(1000, Math.max(110, 1000 * view.span / width())));
  let lastSpan = NaN, lastMode: view.Mode = 'live';
  const follow = () => {
    if (!near) return;
    want();
    if (!visible) return;
    // A change by the user is drawn in the next frame; samples are drawn when they move the curve by a pixel.
    if (view.mode !== 'live' || view.span !== lastSpan || lastMode !== view.mode) {
      lastSpan = view.span;
      lastMode = view.mode;
      quick();
    } else drawPaced();
  };
  const quick = paced(draw, () => 30);

  function build(): void {
    if (plot || host.clientWidth < 10 || Number.isNaN(view.right)) return;
    plot = new uPlot(options(), columns(), host);
    measure();
    bindPointer(plot);
    new ResizeObserver(() => { if (host.clientWidth > 10) plot?.setSize({ width: host.clientWidth, height: height() }); }).observe(host);
    drawCursor();
  }

  // --- Pointer. Dragging moves the cursor. Shift and dragging, two fingers, or Ctrl and the wheel change the interval. A double click shows the whole history.
  function bindPointer(u: uPlot): void {
    const { over } = u, fingers = new Map<number, number>(), at = (x: number) => u.posToVal(x, 'x'), px = (e: MouseEvent) => Math.min(over.clientWidth, Math.max(0, e.clientX - over.getBoundingClientRect().left));
    let zooming = false, start = 0;
    over.addEventListener('pointerdown', e => {
      if (e.button) return;
      over.setPointerCapture(e.pointerId);
      fingers.set(e.pointerId, start = px(e));
      zooming = e.shiftKey;
      if (!zooming && fingers.size === 1) view.seek(at(px(e)));
    });
    over.addEventListener('pointermove', e => {
      const was = fingers.get(e.pointerId);
      if (was === undefined) return;
      fingers.set(e.pointerId, px(e));
      const other = [...fingers].find(([id]) => id !== e.pointerId)?.[1];
      if (other !== undefined) {
        const middle = at((was + other) / 2);
        view.zoomAbout(middle, Math.abs(was - other) / Math.max(8, Math.abs(px(e) - other)));
      } else if (zooming) u.setSelect({ left: Math.min(start, px(e)), width: Math.abs(px(e) - start), top: 0, height: over.clientHeight }, false);
      else view.seek(at(px(e)));
    });
    const release = (e: PointerEvent) => {
      fingers.delete(e.pointerId);
      if (!zooming) return;
      zooming = false;
      u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      if (Math.abs(px(e) - start) > 4) {
        const [a, b] = [start, px(e)].sort((x, y) => x - y).map(at);
        view.pause();
        view.show(a, b);
      }
    };
    over.addEventListener('pointerup', release);
    over.addEventListener('pointercancel', release);
    over.addEventListener('dblclick', view.showAll);
    over.addEventListener('wheel', e => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      view.zoomAbout(at(px(e)), Math.exp(e.deltaY / 400));
    }, { passive: false });
  }

  const trend: Trend = {
    figure, info,
    isConcerned: () => lines.some(l => hasSeries(data.series[l.k])),
    showSelection(filtering) { lines.forEach((l, i) => { buttons[i].hidden = filtering && !hasSeries(data.series[l.k]); }); },
    follow() {
      if (near && !plot) build();
      follow();
    },
    renew() {
      loaded = null;
      failedAt = -Infinity;
      want();
    },
  };
  watchVisible(figure, v => {
    near = v;
    if (v) {
      build();
      want();
    }
  }, '200px');
  watchVisible(figure, v => {
    visible = v;
    if (v) draw();
  });
  const showUnit = () => {
    unit.textContent = unitOf(axis);
    draw();
  };
  on([unitsChanged], showUnit);
  on([themeChanged, selectionChanged], () => plot?.redraw(false));
  showUnit();
  return trend;
}
