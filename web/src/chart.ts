// One chart: title, legend with values at the cursor, and uPlot, which replaces the static picture.
import uPlot from 'uplot';
import type { ChartInfo, LineInfo } from './contract';
import type { LineStyle } from './palette';
import type { Zoom } from './zoom';
import { button, div, element, fileName, icon, one, press, saveFile, span, svgElement, watchVisible, write } from './dom';
import { csvOf } from './csv';
import { data, isPhone, palette } from './state';
import { DASHES } from './palette';
import { digitsFor, digitsOf, format, shown, unitOf } from './units';
import { FONT, ink } from './theme';
import { hasSeries, isConcern, isSelecting, marked } from './selection';
import { end, now, seek } from './clock';
import { on, selectionChanged, themeChanged, timeChanged, unitsChanged } from './signal';
import { svgFile } from './picture_file';

type Column = (number | null)[] | Float64Array;
export interface Plotted { line: LineInfo; style: LineStyle; x: Float64Array; isShown: boolean }
export interface Chart {
  figure: HTMLElement;
  info: ChartInfo;
  lines: Plotted[];
  zoom: Zoom | null;
  isConcerned(): boolean;                    // whether a line belongs to the selection
  showSelection(filtering: boolean): void;   // filtering: hides lines that do not belong to the selection
  refresh(): void;                           // draws again after a change of units or samples
  hover(x: number): void;                    // x under the pointer, in charts without time
  hoverAll(x: number): void;
}

export function makeChart(figure: HTMLElement, info: ChartInfo, zoom: Zoom | null): Chart {
  const styles = palette.ofLines(info.lines), { x: xAxis, y: yAxis, over_time: timed } = info, values: HTMLElement[] = [], buttons: HTMLElement[] = [];
  const lines = info.lines.flatMap((line, i): Plotted[] => data.series[line.series] ? [{ line, style: styles[i], x: line.x != null ? data.values(line.x) : data.axis(data.series[line.series].grid), isShown: true }] : []);
  const free = !zoom, xs = (v: number) => shown(xAxis, v), ys = (v: number) => shown(yAxis, v), digits = () => digitsOf(yAxis);
  const upperOf = ({ line }: Plotted) => line.kind === 'band' || line.kind === 'bars' ? line.upper : undefined, edges = (l: Plotted) => [l.line.kind === 'bars' ? l.line.lower ?? l.line.series : l.line.series, upperOf(l)].filter(k => k !== undefined);
  let plot: uPlot | null = null, visible = false, hovered = NaN;

  // --- Title and legend; the static picture remains for prints.
  const unit = span('unit'), host = div('plot');
  for (const child of figure.children) child.classList.add('still');
  lines.forEach((l, i) => {
    const value = element('b'), b = button('', { 'aria-pressed': 'true' }, () => {
      l.isShown = !l.isShown;
      press(b, l.isShown);
      own(i).forEach(k => plot?.setSeries(k, { show: l.isShown }));
    }, swatch(l.style, l.line.kind), l.line.label, value);
    values.push(value);
    buttons.push(b);
  });
  const sheet = element('details', { class: 'menu chart-menu' }, element('summary', { class: 'tool', 'aria-label': `Save the chart ${info.title}`, title: 'Save this chart' }, icon('M8 2.5v7.5M4.8 7L8 10.2 11.2 7M3 13.2h10')),
    div('sheet', ...['CSV', 'SVG', 'PNG'].map(kind => button('', {}, () => {
      sheet.open = false;
      save(kind);
    }, kind))));
  figure.prepend(div('chart-head', element('figcaption', {}, element('b', {}, info.title), unit), div('legend-live', ...buttons.filter((_, i) => lines[i].line.label)), sheet), host);
  figure.classList.add('upgraded');

  // --- Data. Lines on different grids are joined; a missing value is a gap. Estimated curves move with the cursor.
  const column = (k: number, moves: [number, number][]): Column => {
    const v = data.values(k).map((y, j) => ys(moves.reduce((sum, [by, weight]) => sum + data.values(weight)[j] * (data.at(by, now) - data.at(by, end)), y)));
    return v.some(Number.isNaN) ? Array.from(v, a => Number.isNaN(a) ? null : a) : v;
  };
  // Series of uPlot of a line.
  const own = (i: number) => {
    const first = 1 + lines.slice(0, i).reduce((sum, l) => sum + edges(l).length, 0);
    return edges(lines[i]).map((_, k) => first + k);
  };
  const columns = (): uPlot.AlignedData => {
    const tables = lines.map(l => [l.x.map(xs), ...edges(l).map(k => column(k, l.line.moves ?? []))] as uPlot.AlignedData);
    if (free) return [null, ...tables.flatMap(([x, ...y]) => y.map(v => [x, v]))] as unknown as uPlot.AlignedData;
    return lines.every(l => l.x === lines[0].x) ? [tables[0][0], ...tables.flatMap(([, ...y]) => y)] : uPlot.join(tables);
  };
  const inkOf = (l: Plotted) => ink(l.style.color) + (isSelecting() && chart.isConcerned() && !hasSeries(data.series[l.line.series]) ? '2e' : '');

  // --- Options of uPlot
  const height = () => isPhone() ? 190 : lines.length > 5 ? 216 : free ? 260 : 176;
  const options = (): uPlot.Options => {
    const axis: uPlot.Axis = { stroke: () => ink('ink3'), grid: { stroke: () => ink('grid'), width: 1 }, ticks: { show: false }, font: '11px ' + FONT }, nothing = () => null;
    const series: uPlot.Series[] = [{}], bands: uPlot.Band[] = [];
    for (const l of lines) for (const [i] of edges(l).entries()) {
      // Samples of an envelope are extremes of intervals; as dots they would look like two bands.
      const { kind } = l.line, points = !data.grids[data.series[l.line.series].grid].envelope && (l.line.points || kind === 'points' || (kind === 'measured' && l.x.length < 400)), hidden = edges(l).length > 1;
      series.push({ stroke: () => inkOf(l), width: hidden ? 0 : l.style.width, dash: DASHES[l.style.dash], show: l.isShown,
        ...(free ? { facets: [{ scale: 'x', auto: true }, { scale: 'y', auto: true }] } : {}),
        points: { show: points && !free && !hidden, size: 4, fill: () => inkOf(l) },
        ...(free ? { paths: (u: uPlot, k: number) => paintCurve(u, k, inkOf(l), l.style, points) } : points || kind === 'bars' ? { paths: nothing } : {}),
        ...(kind === 'stems' ? { paths: uPlot.paths.bars?.({ size: [0.86, 80] }), fill: () => inkOf(l) + '66' } : {}) });
      if (i && kind === 'band') bands.push({ series: [series.length - 1, series.length - 2], fill: () => inkOf(l) + '33' });
    }
    const spread = (list: Float64Array[], f: (v: number) => number) => list.reduce(([a, b], v) => v.reduce(([c, d], x) => Number.isNaN(x) ? [c, d] : [Math.min(c, f(x)), Math.max(d, f(x))], [a, b]), [Infinity, -Infinity]);
    // Ranges with equal scales. The larger range fills its side of the chart.
    const equal = (which: 0 | 1): uPlot.Range.MinMax => {
      const marks = info.marks ?? [], all = [spread([...lines.map(l => l.x), Float64Array.from(marks, m => m.x)], xs), spread([...lines.map(l => data.values(l.line.series)), Float64Array.from(marks, m => m.y ?? NaN)], ys)];
      const room = [host.clientWidth - 80, height() - 44], perPx = 1.08 * Math.max(...all.map(([a, b], i) => (b - a) / room[i])), [a, b] = all[which], half = perPx * room[which] / 2;
      return [(a + b) / 2 - half, (a + b) / 2 + half];
    };
    const [first, last] = spread(lines.map(l => l.x), x => x);  // equal values: the data have one row
    const scaleOf = (a: ChartInfo['x']) => ({ time: false, distr: (a.scale === 'log' ? 3 : 1) as uPlot.Scale.Distr });
    return {
      mode: free ? 2 : 1, width: host.clientWidth, height: height(), padding: [8, timed ? 16 : 30, 0, 0], legend: { show: false }, series, bands,
      scales: { x: { ...scaleOf(xAxis), ...(zoom ? { auto: false, min: xs(zoom.low), max: xs(zoom.high) } : info.equal_scales ? { range: () => equal(0) } : first === last ? { range: () => [xs(xAxis.low ?? first - 1), xs(xAxis.high ?? last + 1)] } : {}) }, y: { ...scaleOf(yAxis), ...(yAxis.scale === 'log' ? {} : free && info.equal_scales ? { range: () => equal(1) } : { range: (_: uPlot, a: number | null, b: number | null) => range(a ?? 0, b ?? 1) }) } },
      axes: [{ ...axis, size: 26, gap: 4, values: (_, v) => v.map((x, i) => tick(x) + (i === v.length - 1 ? ' ' + unitOf(xAxis) : '')) }, { ...axis, size: 54, gap: 8, values: (_, v) => v.map(tick) }],
      cursor: { y: false, points: { size: 7, width: 2, fill: () => ink('card') }, drag: { x: false, y: false, setScale: false },
        bind: { mousedown: nothing, mouseup: nothing, click: nothing, dblclick: nothing, mousemove: nothing, mouseleave: nothing, mouseenter: nothing } },
      hooks: { drawClear: [paintBehind], draw: [paintFront], ready: [() => drawCursor()], setSize: [() => queueMicrotask(drawCursor)] },
    };
  };
  // Range of y. The range includes zero and limits if they are near the data.
  const range = (a: number, b: number): uPlot.Range.MinMax => {
    const room = 0.6 * (b - a);
    for (const v of [...(info.limits ?? []).map(l => ys(l.value)), ...(lines.some(l => l.line.kind === 'stems') ? [0] : [])]) {
      if (v > b && v < b + room) b = v;
      if (v < a && v > a - room) a = v;
    }
    if (a >= 0 && a < 0.4 * b) return uPlot.rangeNum(0, b, { min: { pad: 0, soft: 0, mode: 1 }, max: { pad: 0.08, soft: 0, mode: 2 } });
    const more = b - a > 1e-9 * Math.max(Math.abs(a), Math.abs(b)) ? 0 : 0.05 * Math.abs(a) || 1;
    return uPlot.rangeNum(a - more, b + more, 0.1, false);
  };
  // Paints intervals of findings, and error bars.
  function paintBehind(u: uPlot): void {
    const g = u.ctx, { left, top, width, height: tall } = u.bbox, px = (v: number) => u.valToPos(xs(v), 'x', true);
    if (timed) for (const f of data.page.findings ?? []) {
      if (f.from === undefined || f.to === undefined || (f !== marked && (!isConcern(f) || !lines.some(l => data.series[l.line.series].name === f.output)))) continue;
      const tone = f.severity === 'serious' ? 'bad' : isConcern(f) ? 'warn' : 'note', a = Math.max(left, px(f.from)), b = Math.min(left + width, Math.max(px(f.to), a + 1));
      for (const [name, size] of [[tone + 'bg', tall], [tone, 2 * devicePixelRatio]] as const) {
        g.fillStyle = ink(name);
        if (b > a) g.fillRect(a, top, b - a, size);
      }
    }
    for (const l of lines) if (l.line.kind === 'bars' && l.isShown) {
      const [low, high] = edges(l).map(k => data.values(k));
      g.beginPath();
      l.x.forEach((x, i) => {
        g.moveTo(px(x), u.valToPos(ys(low[i]), 'y', true));
        g.lineTo(px(x), u.valToPos(ys(high?.[i] ?? low[i]), 'y', true));
      });
      g.strokeStyle = inkOf(l);
      g.lineWidth = 1.5 * devicePixelRatio;
      g.stroke();
    }
  }
  // Paints limits and marks.
  function paintFront(u: uPlot): void {
    const g = u.ctx, d = devicePixelRatio, { left, top, width, height: tall } = u.bbox, right = left + width, bottom = top + tall;
    g.save();
    g.font = `${11 * d}px ${FONT}`;
    g.lineWidth = d;
    const rule = (x0: number, y0: number, x1: number, y1: number, text: string, tx: number, ty: number) => {
      g.strokeStyle = g.fillStyle = ink('ink3');
      g.setLineDash([2 * d, 3 * d]);
      g.beginPath();
      g.moveTo(x0, y0);
      g.lineTo(x1, y1);
      g.stroke();
      g.setLineDash([]);
      put(text, tx, ty, tx > (left + right) / 2);
    };
    // Writes a text where no other text is: at this place, or a line or more below. Texts without a place are omitted.
    const taken: number[][] = [], put = (text: string, x: number, y: number, isRight: boolean) => {
      const w = g.measureText(text).width, a = isRight ? x - w : x, high = 12 * d;
      for (let i = 0; i < 5; i++, y += high) if (y < bottom && !taken.some(t => a < t[1] && a + w > t[0] && Math.abs(y - t[2]) < high)) {
        taken.push([a, a + w, y]);
        g.textAlign = isRight ? 'right' : 'left';
        return g.fillText(text, x, y);
      }
    };
    for (const { value, text = '' } of info.limits ?? []) {
      const y = u.valToPos(ys(value), 'y', true);
      if (y >= top - 1 && y <= bottom + 1) rule(left, y, right, y, text, right - 2 * d, y - top < 16 * d ? y + 12 * d : y - 4 * d);
    }
    for (const { x, y, text = '', shape } of info.marks ?? []) {
      const px = u.valToPos(xs(x), 'x', true), py = y === undefined ? bottom : u.valToPos(ys(y), 'y', true), side = px < left + 0.6 * width ? 1 : -1;
      if (px < left - 1 || px > right + 1 || !(py >= top - 1 && py <= bottom + 1)) continue;
      if (y === undefined) {
        rule(px, top, px, bottom, text, px + 5 * d * side, top + 11 * d);
        continue;
      }
      g.strokeStyle = g.fillStyle = ink('ink');
      g.beginPath();
      if (shape === 'cross') for (const s of [-1, 1]) {
        g.moveTo(px - 4 * d, py - 4 * d * s);
        g.lineTo(px + 4 * d, py + 4 * d * s);
      } else g.arc(px, py, 4 * d, 0, 7);
      g.stroke();
      put(text, px + 8 * d * side, py - 6 * d, side < 0);
    }
    g.restore();
  }

  // --- Cursor and values of the legend
  const drawCursor = () => {
    const x = timed ? now : hovered;
    if (free) return;
    plot?.setCursor({ left: zoom && x >= zoom.low && x <= zoom.high ? Math.max(0, plot.valToPos(xs(x), 'x')) : -10, top: 0 }, false);
    lines.forEach((l, i) => write(values[i], Number.isNaN(x) ? '' : format(ys(data.at(l.line.series, x)), digits())));
  };
  const build = () => {
    if (plot || host.clientWidth < 10 || !lines.length) return;
    plot = new uPlot(options(), columns(), host);
    if (free) bindHover(plot); else bindPointer(plot);
    new ResizeObserver(() => { if (host.clientWidth > 10) plot?.setSize({ width: host.clientWidth, height: height() }); }).observe(host);
    drawCursor();
  };

  // --- Pointer. Dragging moves the cursor. Shift and dragging, two fingers, or Ctrl and the wheel change the zoom. A double click shows all.
  function bindPointer(u: uPlot): void {
    const { over } = u, fingers = new Map<number, number>(), at = (left: number) => u.posToVal(left, 'x') / (xs(1) - xs(0)) - xs(0);
    const px = (e: MouseEvent) => Math.min(over.clientWidth, Math.max(0, e.clientX - over.getBoundingClientRect().left)), move = (e: MouseEvent) => timed ? seek(at(px(e))) : chart.hoverAll(at(px(e)));
    let zooming = false, first = 0;
    over.addEventListener('pointerdown', e => {
      if (e.button) return;
      over.setPointerCapture(e.pointerId);
      fingers.set(e.pointerId, first = px(e));
      zooming = e.shiftKey;
      if (!zooming && fingers.size === 1) move(e);
    });
    over.addEventListener('pointermove', e => {
      const before = fingers.get(e.pointerId);
      if (before === undefined) {
        if (!timed) move(e);
        return;
      }
      fingers.set(e.pointerId, px(e));
      const other = [...fingers].find(([id]) => id !== e.pointerId)?.[1];
      if (other !== undefined) zoom?.about(at((px(e) + other) / 2), Math.abs(before - other) / Math.max(8, Math.abs(px(e) - other)));
      else if (zooming) u.setSelect({ left: Math.min(first, px(e)), width: Math.abs(px(e) - first), top: 0, height: over.clientHeight }, false);
      else move(e);
    });
    const release = (e: PointerEvent) => {
      fingers.delete(e.pointerId);
      if (!zooming) return;
      zooming = false;
      u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      if (Math.abs(px(e) - first) > 4) zoom?.set(at(Math.min(first, px(e))), at(Math.max(first, px(e))));
    };
    over.addEventListener('pointerup', release);
    over.addEventListener('pointercancel', release);
    over.addEventListener('dblclick', () => zoom?.all());
    over.addEventListener('wheel', e => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      zoom?.about(at(px(e)), Math.exp(e.deltaY / 400));
    }, { passive: false });
  }
  // Curves in the plane: marks the point nearest to the pointer and shows its values in the legend.
  function bindHover(u: uPlot): void {
    const mark = element('i', { class: 'hover-mark', hidden: true });
    u.over.append(mark);
    u.over.addEventListener('pointermove', e => {
      const box = u.over.getBoundingClientRect();
      let least = 40;
      mark.hidden = true;
      for (const v of values) v.textContent = '';
      lines.forEach((l, k) => {
        const y = data.values(l.line.series);
        if (l.isShown) l.x.forEach((x, i) => {
          const left = u.valToPos(xs(x), 'x'), top = u.valToPos(ys(y[i]), 'y'), d = Math.hypot(left + box.left - e.clientX, top + box.top - e.clientY);
          if (!(d < least)) return;
          least = d;
          mark.hidden = false;
          Object.assign(mark.style, { left: left + 'px', top: top + 'px' });
          for (const v of values) v.textContent = '';
          values[k].textContent = `${format(xs(x))} ${unitOf(xAxis)}, ${format(ys(y[i]), digitsFor(Math.abs(ys(y[i]))))} ${unitOf(yAxis)}`;
        });
      });
    });
  }

  // --- Files. SVG: the static picture; PNG: the visible picture with title and legend.
  function save(kind: string): void {
    const name = fileName(`${data.page.title} ${info.title}`), still = one<SVGSVGElement>(':scope > svg.still, .still > svg', figure);
    if (kind === 'CSV') {
      const curve = lines[0]?.line.x, numbers = [...new Set(lines.flatMap(l => [l.line.series, ...edges(l)]))];
      saveFile(name + '.csv', csvOf(numbers, xAxis, curve != null ? data.values(curve) : undefined), 'text/csv');
    } else if (kind === 'SVG') {
      if (still) saveFile(name + '.svg', svgFile(still), 'image/svg+xml');
    } else if (plot) {
      const d = devicePixelRatio, from = plot.ctx.canvas, canvas = element('canvas', { width: from.width, height: from.height + 44 * d }), g = canvas.getContext('2d') as CanvasRenderingContext2D;
      g.fillStyle = ink('card');
      g.fillRect(0, 0, canvas.width, canvas.height);
      g.drawImage(from, 0, 44 * d);
      g.scale(d, d);
      g.fillStyle = ink('ink');
      g.font = '600 13px ' + FONT;
      g.fillText(`${info.title}  ${unit.textContent}`, 12, 18);
      g.font = '12px ' + FONT;
      let x = 12;
      for (const l of lines) if (l.isShown && l.line.label) {
        g.fillStyle = ink(l.style.color);
        g.fillText('— ' + l.line.label, x, 36);
        x += g.measureText('— ' + l.line.label).width + 16;
      }
      canvas.toBlob(blob => { if (blob) saveFile(name + '.png', blob); });
    }
  }

  const chart: Chart = {
    figure, info, lines, zoom,
    isConcerned: () => lines.some(l => hasSeries(data.series[l.line.series])),
    showSelection(filtering) {
      figure.hidden = filtering && !chart.isConcerned();
      lines.forEach((l, i) => { buttons[i].hidden = filtering && !hasSeries(data.series[l.line.series]); });
    },
    refresh() {
      unit.textContent = [unitOf(yAxis), info.note].filter(Boolean).join(', ');
      plot?.setData(columns());
      if (zoom) plot?.setScale('x', { min: xs(zoom.low), max: xs(zoom.high) });
      drawCursor();
    },
    hover(x) {
      hovered = x;
      if (visible) drawCursor();
    },
    hoverAll: x => chart.hover(x),
  };
  watchVisible(figure, v => { if (v) build(); }, '300px');
  watchVisible(figure, v => {
    if (!(visible = v)) return;
    drawCursor();
    if (moving) chart.refresh();
  });
  const moving = lines.some(l => l.line.moves);
  on([timeChanged], () => {
    if (visible && timed) drawCursor();
    if (visible && moving) plot?.setData(columns());
  });
  on([themeChanged, selectionChanged], () => plot?.redraw(false));
  on([unitsChanged], chart.refresh);
  if (zoom) on([zoom.changed], () => plot?.setScale('x', { min: xs(zoom.low), max: xs(zoom.high) }));
  chart.refresh();
  return chart;
}

export function tick(x: number | null): string {
  if (x === null) return '';
  const size = Math.abs(x);
  return (size && (size >= 1e5 || size < 1e-4) ? x.toExponential(2).replace(/\.?0+e/, 'e').replace('e+', 'e') : String(+x.toPrecision(7))).replace(/-/g, '−');
}
// A short line in the style of the series, for legend and table.
export function swatch(style: LineStyle, kind: string): SVGSVGElement {
  const paint = `var(--${style.color})`, dotted = style.dash === 'dotted';
  return svgElement('svg', { class: 'swatch', viewBox: '0 0 18 8', 'aria-hidden': 'true' }, kind === 'points' ? svgElement('circle', { cx: 9, cy: 4, r: 3, style: 'fill:' + paint })
    : kind === 'band' || kind === 'stems' ? svgElement('path', { d: 'M0 0H18V8H0Z', style: 'fill:' + paint, opacity: 0.35 })
      : svgElement('path', { d: 'M1 4H17', style: 'stroke:' + paint, 'stroke-width': 2, 'stroke-linecap': dotted ? 'round' : 'butt', 'stroke-dasharray': style.dash === 'dashed' ? '4.5 2.5' : dotted ? '.1 4' : 'none' }));
}
// A curve in the plane, for charts whose x does not increase.
function paintCurve(u: uPlot, k: number, color: string, style: LineStyle, points: boolean | undefined): null {
  const d = devicePixelRatio, g = u.ctx, [x, y] = (u.data as unknown as (number | null)[][][])[k], { left, top, width, height } = u.bbox;
  g.save();
  g.beginPath();
  g.rect(left, top, width, height);
  g.clip();
  g.strokeStyle = g.fillStyle = color;
  g.lineWidth = style.width * d;
  g.lineJoin = 'round';
  g.setLineDash((DASHES[style.dash] ?? []).map(v => v * d));
  g.beginPath();
  let open = false;
  for (let i = 0; i < x.length; i++) {
    const a = x[i], b = y[i];
    if (a === null || b === null || Number.isNaN(a + b)) { open = false; continue; }
    const px = u.valToPos(a, 'x', true), py = u.valToPos(b, 'y', true);
    if (points) g.moveTo(px + 2.5 * d, py), g.arc(px, py, 2.5 * d, 0, 7);
    else if (open) g.lineTo(px, py); else g.moveTo(px, py);
    open = true;
  }
  if (points) g.fill(); else g.stroke();
  g.restore();
  return null;
}
