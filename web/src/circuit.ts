// The circuit diagram: only attributes of the drawn SVG change. Color is pressure, width and moving dots are flow.
import type { App } from './app';
import type { CircuitInfo } from './contract';
import { all, element, icon, one, svgElement, watchVisible } from './dom';
import { expander, head } from './card';
import { colorVariable } from './palette';
import { PressureLegend } from './pressure_legend';
import { format } from './units';

const DOT_PITCH = 14;      // px between moving dots
const LEAST_ARROW = 46;    // px of a piece of line that has an arrowhead

// A sum of series with signs, as in data-flow: "+lift.valve.a.flow -lift.valve.d.flow".
interface Flow { terms: [number, number][]; volume: Float64Array; grid: number; most: number }
interface Line { path: SVGElement; node: string; flow: Flow | null; dots: SVGPathElement | null; arrow: SVGPathElement | null; pilot: boolean; place: string; back: string; last: string }
interface Mover { target: SVGElement; series: number; from: number; to: number; travel: [number, number]; turn: [number, number] | null; about: string; own: string }
interface Box { target: SVGElement; series: number; side: number; scale: number; color: string }
interface Chamber { target: SVGElement; node: string }

export class CircuitView {
  private readonly svg: SVGSVGElement;
  private readonly lines: Line[] = [];
  private readonly movers: Mover[] = [];
  private readonly boxes: Box[] = [];
  private readonly chambers: Chamber[] = [];
  private readonly dots: { target: SVGElement; node: string }[] = [];
  private readonly values: { target: SVGElement; node: string; last: string }[] = [];
  private readonly outputs: { target: SVGElement; series: number; last: string }[] = [];
  private readonly pressures = new Map<string, number>();
  private readonly legend: PressureLegend;
  private readonly scroller: HTMLElement;
  private readonly of: string;
  private mostFlow = 1e-12;
  private zoom = 1;
  private fitted = true;
  private visible = true;

  constructor(private readonly app: App, private readonly card: HTMLElement, info: CircuitInfo) {
    const picture = one<HTMLElement>('.picture', card), svg = picture && one<SVGSVGElement>('svg', picture);
    if (!picture || !svg) throw new Error('no circuit');
    this.svg = svg;
    this.of = app.data.page.machines?.[0]?.of ?? '';
    for (const n of info.nodes) {
      const k = app.data.find(n.pressure ?? n.name + '.pressure', this.of);
      if (k >= 0) this.pressures.set(n.name, k);
    }
    this.scroller = element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Circuit diagram' });
    picture.classList.add('live');
    svg.replaceWith(this.scroller);
    this.scroller.append(svg);
    this.legend = new PressureLegend(app, [...this.pressures.values()]);
    head(card, this.legend.element, this.tools());
    this.bind();
    this.parts();
    this.pointer();
    watchVisible(card, v => { this.visible = v; if (v) this.draw(); });
    new ResizeObserver(() => this.layout()).observe(picture);
    app.clock.frame.add(() => { if (this.visible) this.draw(); });
    app.theme.changed.add(() => this.draw());
    app.units.changed.add(() => this.draw());
    app.selection.changed.add(() => this.showSelection());
    this.layout();
    this.draw();
  }

  private tools(): HTMLElement {
    const button = (label: string, shape: SVGSVGElement, action: () => void) =>
      element('button', { type: 'button', class: 'tool', 'aria-label': label, title: label, onclick: action }, shape);
    return element('div', { class: 'tools' },
      button('Zoom out', icon('M3.5 8h9'), () => this.zoomBy(1 / 1.25)),
      button('Zoom in', icon('M3.5 8h9M8 3.5v9'), () => this.zoomBy(1.25)),
      button('Show the whole circuit', icon('M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10'), () => { this.fitted = true; this.layout(true); }),
      expander(this.card));
  }

  // --- Bindings -------------------------------------------------------------------------------------------------
  private bind(): void {
    const { svg, app } = this, number = (e: SVGElement) => app.data.find(e.dataset.output, this.of);
    const flows = new Map<string, Flow | null>();
    for (const path of all<SVGGeometryElement>('.line', svg)) {
      const text = path.dataset.flow ?? '';
      if (text && !flows.has(text)) flows.set(text, this.makeFlow(text));
      const flow = flows.get(text) ?? null;
      const line: Line = { path, node: path.dataset.node ?? '', flow, dots: null, arrow: null, pilot: path.classList.contains('pilot') || path.classList.contains('drain'), place: '', back: '', last: '' };
      this.lines.push(line);
      if (flow && flow.most > 0) this.decorate(line, path);
    }
    for (const flow of flows.values()) if (flow) this.mostFlow = Math.max(this.mostFlow, flow.most);
    for (const target of all<SVGElement>('.dot', svg)) this.dots.push({ target, node: target.dataset.node ?? '' });
    for (const target of all<SVGElement>('.chamber', svg)) this.chambers.push({ target, node: target.dataset.node ?? '' });
    for (const target of all<SVGElement>('.node-value', svg)) this.values.push({ target, node: target.dataset.node ?? '', last: '' });
    for (const target of all<SVGElement>('.output-value', svg)) this.outputs.push({ target, series: number(target), last: '' });
    for (const target of all<SVGElement>('.box', svg)) {
      const group = target.closest<SVGElement>('[data-group]')?.dataset.group;
      const color = app.palette.ofPart(target.closest<SVGElement>('[data-part]')?.dataset.part ?? group);
      this.boxes.push({ target, series: number(target), side: Number(target.dataset.box), scale: Number(target.dataset.scale) || 1, color: colorVariable(color < 0 ? app.palette.ofPart(group) : color) });
    }
    for (const target of all<SVGElement>('[data-move]', svg)) {
      const pair = (text: string | undefined): [number, number] => {
        const v = (text ?? '').split(/[ ,]+/).map(Number);
        return [v[0] || 0, v[1] || 0];
      };
      const d = target.dataset;
      if (number(target) < 0 || d.move === 'chamber') continue;
      this.movers.push({ target, series: number(target), from: Number(d.from ?? 0), to: Number(d.to ?? 1), travel: pair(d.travel), turn: d.turn ? pair(d.turn) : null,
        about: d.about ?? '0 0', own: target.getAttribute('transform') ?? '' });
    }
  }

  private makeFlow(text: string): Flow | null {
    const { data } = this.app, terms: [number, number][] = [];
    for (const match of text.matchAll(/([+-]?)\s*([^\s+-][^\s]*)/g)) {
      const k = data.find(match[2], this.of);
      if (k < 0) return null;
      terms.push([match[1] === '-' ? -1 : 1, k]);
    }
    if (terms.length === 0) return null;
    const grid = data.series[terms[0][1]].grid, axis = data.axis(grid), volume = new Float64Array(axis.length);
    const rate = (i: number) => terms.reduce((sum, [sign, k]) => sum + sign * (data.values(k)[i] || 0), 0);
    let most = 0, before = rate(0);
    for (let i = 1; i < axis.length; i++) {
      const next = rate(i);
      volume[i] = volume[i - 1] + (before + next) / 2 * (axis[i] - axis[i - 1]);
      most = Math.max(most, Math.abs(next));
      before = next;
    }
    return { terms, volume, grid, most: Math.max(most, Math.abs(rate(0))) };
  }

  // Moving dots over a line, and an arrowhead in the middle of its longest straight piece.
  private decorate(line: Line, path: SVGGeometryElement): void {
    const d = path.getAttribute('d') ?? '';
    line.dots = svgElement('path', { class: 'dots', d });
    path.after(line.dots);
    const piece = longestPiece(d);
    if (!piece || piece.length < LEAST_ARROW) return;
    line.arrow = svgElement('path', { class: 'arrowhead', d: 'M0 -6.5L4.8 4H-4.8Z' });
    line.place = `translate(${piece.x} ${piece.y})rotate(${piece.angle})`;
    line.back = `translate(${piece.x} ${piece.y})rotate(${piece.angle + 180})`;
    line.dots.after(line.arrow);
  }

  // Elements and sections can be chosen by pointer and keyboard.
  private parts(): void {
    for (const target of all<SVGElement>('[data-part]', this.svg)) {
      if (target.parentElement?.closest('[data-part]')) continue;
      const part = target.dataset.part ?? '', kind = target.dataset.class;
      target.setAttribute('tabindex', '0');
      target.setAttribute('role', 'button');
      target.setAttribute('aria-pressed', 'false');
      if (!target.hasAttribute('aria-label')) target.setAttribute('aria-label', kind ? `${part}, ${kind}` : part);
      target.classList.add('selectable');
      target.addEventListener('click', e => { e.stopPropagation(); if (!this.dragged) this.app.selection.selectPart(part); });
      target.addEventListener('keydown', e => {
        if (e.key !== 'Enter' && e.key !== ' ') return;
        this.app.selection.selectPart(part);
        e.preventDefault();
        e.stopPropagation();
      });
    }
    for (const line of this.lines) if (line.node) {
      line.path.addEventListener('click', e => { e.stopPropagation(); if (!this.dragged) this.app.selection.selectPart(line.node); });
    }
    for (const section of all<SVGElement>('.section', this.svg)) {
      const color = this.app.palette.ofPart(section.dataset.group);
      section.style.setProperty('--own', `var(${colorVariable(color)})`);
      section.addEventListener('click', () => {
        if (this.dragged || !section.dataset.group) return;
        const { selection } = this.app;
        if (selection.group === section.dataset.group) selection.clear(); else selection.selectGroup(section.dataset.group);
      });
    }
    this.svg.addEventListener('click', e => { if (e.target === this.svg && !this.dragged) this.app.selection.clear(); });
  }

  private showSelection(): void {
    const { selection } = this.app;
    for (const target of all<SVGElement>('[data-part]', this.svg)) {
      const on = selection.hasPart(target.dataset.part);
      target.classList.toggle('on', on);
      if (target.hasAttribute('aria-pressed')) target.setAttribute('aria-pressed', String(selection.part === target.dataset.part));
    }
    for (const section of all<SVGElement>('.section', this.svg)) {
      const own = section.dataset.group ?? '', on = selection.group === own || (selection.part !== '' && selection.groupName(selection.part) === own);
      section.classList.toggle('on', selection.any && on);
      section.classList.toggle('off', selection.any && !on && own !== '');
    }
    for (const line of this.lines) line.path.classList.toggle('on', selection.part !== '' && selection.hasPart(line.node));
    this.draw();
  }

  // --- Zoom and drag --------------------------------------------------------------------------------------------
  private natural(): [number, number] {
    const box = this.svg.viewBox.baseVal;
    return [box?.width || this.svg.clientWidth || 1, box?.height || this.svg.clientHeight || 1];
  }
  private layout(whole = false): void {
    const [width, height] = this.natural(), w = this.scroller.clientWidth, h = this.scroller.clientHeight;
    if (w < 2) return;
    if (this.fitted) {
      const fit = Math.min(w / width, h > 40 ? h / height : Infinity), least = whole ? 0.05 : this.app.phone() ? 0.92 : 0.62;
      this.zoom = Math.min(1.6, Math.max(least, fit));
    }
    this.svg.style.width = `${(width * this.zoom).toFixed(1)}px`;
    this.svg.style.height = `${(height * this.zoom).toFixed(1)}px`;
  }
  private zoomBy(factor: number, x = this.scroller.clientWidth / 2, y = this.scroller.clientHeight / 2): void {
    const before = this.zoom, s = this.scroller;
    this.fitted = false;
    this.zoom = Math.min(4, Math.max(0.15, this.zoom * factor));
    const ratio = this.zoom / before, left = (s.scrollLeft + x) * ratio - x, top = (s.scrollTop + y) * ratio - y;
    this.layout();
    s.scrollTo(left, top);
  }
  private dragged = false;
  private pointer(): void {
    const s = this.scroller;
    let from: [number, number, number, number] | null = null;
    s.addEventListener('pointerdown', e => {
      this.dragged = false;
      if (e.pointerType === 'mouse' && e.button === 0) from = [e.clientX, e.clientY, s.scrollLeft, s.scrollTop];
    });
    s.addEventListener('pointermove', e => {
      if (!from || !(e.buttons & 1)) return;
      if (Math.abs(e.clientX - from[0]) + Math.abs(e.clientY - from[1]) > 4) this.dragged = true;
      if (this.dragged) s.scrollTo(from[2] - e.clientX + from[0], from[3] - e.clientY + from[1]);
    });
    for (const name of ['pointerup', 'pointercancel', 'pointerleave'] as const) s.addEventListener(name, () => { from = null; });
    s.addEventListener('wheel', e => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      const box = s.getBoundingClientRect();
      this.zoomBy(Math.exp(-e.deltaY / 400), e.clientX - box.left, e.clientY - box.top);
    }, { passive: false });
  }

  // --- One frame ------------------------------------------------------------------------------------------------
  draw(): void {
    const { app } = this, { data, clock, theme } = app, now = clock.now, colors = new Map<string, string>();
    const color = (node: string): string => {
      let made = colors.get(node);
      if (made === undefined) {
        const k = this.pressures.get(node);
        made = k === undefined ? '' : app.pressure.color(data.at(k, now));
        colors.set(node, made);
      }
      return made;
    };
    for (const line of this.lines) {
      const c = color(line.node);
      let width = '', offset = '', q = 0;
      if (line.flow) {
        for (const [sign, k] of line.flow.terms) q += sign * data.at(k, now);
        if (!line.pilot) width = (2.2 + 3.2 * Math.sqrt(Math.min(1, Math.abs(q) / this.mostFlow))).toFixed(1);
        offset = (-this.volumeAt(line.flow, now) / this.mostFlow * 40 % DOT_PITCH).toFixed(1);
      }
      const state = c + width + offset;
      if (state === line.last) continue;
      line.last = state;
      line.path.style.stroke = c;
      line.path.style.strokeWidth = width;
      const share = Math.min(1, Math.abs(q) / this.mostFlow * 40);
      if (line.dots) {
        line.dots.style.strokeDashoffset = offset;
        line.dots.style.opacity = share < 0.03 ? '0' : (0.95 * share).toFixed(2);
      }
      if (line.arrow) {
        line.arrow.setAttribute('transform', q < 0 ? line.back : line.place);
        line.arrow.style.fill = c;
        line.arrow.style.opacity = share < 0.03 ? '0' : share.toFixed(2);
      }
    }
    for (const d of this.dots) d.target.style.fill = color(d.node);
    for (const c of this.chambers) c.target.style.fill = color(c.node);
    for (const v of this.values) {
      const k = this.pressures.get(v.node);
      if (k === undefined) continue;
      const text = `${app.units.text(data.series[k], data.at(k, now))} ${app.units.unit(data.series[k])}`;
      if (text !== v.last) v.target.textContent = v.last = text;
    }
    for (const o of this.outputs) {
      if (o.series < 0) continue;
      const s = data.series[o.series], text = `${app.units.text(s, data.at(o.series, now))} ${app.units.unit(s)}`;
      if (text !== o.last) o.target.textContent = o.last = text;
    }
    for (const m of this.movers) {
      const f = Math.min(1, Math.max(0, (data.at(m.series, now) - m.from) / (m.to - m.from || 1)));
      const transform = m.turn ? `rotate(${format(m.turn[0] + f * (m.turn[1] - m.turn[0]), 1).replace('−', '-')} ${m.about})`
        : `translate(${(m.travel[0] * f).toFixed(1)} ${(m.travel[1] * f).toFixed(1)})`;
      m.target.setAttribute('transform', m.own ? `${m.own} ${transform}` : transform);
    }
    for (const b of this.boxes) {
      const x = b.series < 0 ? 0 : data.at(b.series, now) / b.scale, side = Math.abs(x) < 0.01 ? 0 : Math.sign(x);
      const on = b.series >= 0 && side === b.side, share = on ? (b.side === 0 ? 12 : Math.round(16 + 44 * Math.min(1, Math.abs(x)))) : 0;
      b.target.style.fill = on ? `color-mix(in srgb,${theme.color(b.color)} ${share}%,${theme.color('--card')})` : '';
    }
    this.legend.draw();
  }
  private volumeAt(flow: Flow, time: number): number {
    const axis = this.app.data.axis(flow.grid), n = axis.length - 1;
    if (n < 1) return 0;
    const p = Math.min(n, Math.max(0, (time - axis[0]) / (axis[n] - axis[0] || 1) * n)), i = Math.min(Math.floor(p), n - 1);
    return flow.volume[i] + (flow.volume[i + 1] - flow.volume[i]) * (p - i);
  }

  // The diagram as a file of its own: all styles are written into the elements.
  svgFile(): string {
    const copy = this.svg.cloneNode(true) as SVGSVGElement, [width, height] = this.natural();
    const from: Element[] = [this.svg, ...all('*', this.svg)], to: Element[] = [copy, ...all('*', copy)];
    const names = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-dashoffset', 'stroke-linecap', 'stroke-linejoin', 'opacity', 'display'];
    from.forEach((e, i) => {
      const style = getComputedStyle(e), wanted = e.tagName === 'text' || e.tagName === 'tspan' ? [...names, 'font-family', 'font-size', 'font-weight', 'text-anchor'] : names;
      const text = wanted.map(n => `${n}:${style.getPropertyValue(n)}`).join(';');
      for (const attribute of ['class', 'tabindex', 'role', 'aria-pressed', 'style']) to[i].removeAttribute(attribute);
      to[i].setAttribute('style', text);
    });
    copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    copy.setAttribute('width', String(width));
    copy.setAttribute('height', String(height));
    copy.style.background = this.app.theme.color('--card');
    return new XMLSerializer().serializeToString(copy);
  }
}

// The longest straight piece of a path of M, L, H and V: its middle and its direction, degrees clockwise from up.
export function longestPiece(d: string): { x: number; y: number; angle: number; length: number } | null {
  const words = d.match(/[a-zA-Z]|-?[\d.]+(?:e-?\d+)?/g) ?? [];
  let x = 0, y = 0, command = '', best: { x: number; y: number; angle: number; length: number } | null = null, sx = 0, sy = 0;
  for (let i = 0; i < words.length;) {
    if (/[a-zA-Z]/.test(words[i])) command = words[i++];
    let nx = x, ny = y;
    const next = () => Number(words[i++]);
    switch (command) {
      case 'M': x = nx = sx = next(); y = ny = sy = next(); command = 'L'; break;
      case 'm': x = nx = sx = x + next(); y = ny = sy = y + next(); command = 'l'; break;
      case 'L': nx = next(); ny = next(); break;
      case 'l': nx = x + next(); ny = y + next(); break;
      case 'H': nx = next(); break;
      case 'h': nx = x + next(); break;
      case 'V': ny = next(); break;
      case 'v': ny = y + next(); break;
      case 'Z': case 'z': nx = sx; ny = sy; break;
      default: return best;
    }
    const length = Math.hypot(nx - x, ny - y);
    if (length > (best?.length ?? 0)) best = { x: (x + nx) / 2, y: (y + ny) / 2, angle: Math.round(Math.atan2(nx - x, -(ny - y)) * 180 / Math.PI), length };
    x = nx;
    y = ny;
  }
  return best;
}
