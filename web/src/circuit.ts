// The circuit diagram. Only attributes of the static SVG change. Colors show pressures; line widths and moving dots show flows.
import type { CircuitInfo } from './contract';
import type { Flow } from './circuit_flow';
import { all, div, element, one, press, span, svgElement, watchVisible, write } from './dom';
import { clearSelection, groupOf, hasPart, isSelecting, selectGroup, selectPart, selectedGroup, selectedPart } from './selection';
import { data, isPhone, palette } from './state';
import { expander, head, zoomTools } from './card';
import { digitsFor, format, shown, unitOf, withUnit } from './units';
import { ink } from './theme';
import { makeFlow, rateOf } from './circuit_flow';
import { makeLegend } from './pressure_legend';
import { now, playing } from './clock';
import { on, selectionChanged, themeChanged, timeChanged, unitsChanged } from './signal';
import { pressureColor } from './palette';

const DOT_PITCH = 14;      // distance between moving dots, px
const LEAST_ARROW = 40;    // shortest piece of line with an arrowhead, px

export function makeCircuit(card: HTMLElement, info: CircuitInfo): SVGSVGElement | null {
  const picture = one('.picture', card), found = picture && one<SVGSVGElement>('svg', picture);
  if (!picture || !found) return null;
  const svg: SVGSVGElement = found, pressures = new Map<string, number>(), updates: (() => void)[] = [], texts: (() => void)[] = [], colors = new Map<string, string>();
  for (const n of info.nodes) {
    const k = data.find(n.pressure ?? n.name + '.pressure');
    if (k >= 0) pressures.set(n.name, k);
  }
  const color = (node: string) => {
    let made = colors.get(node);
    if (made === undefined) {
      const k = pressures.get(node);
      colors.set(node, made = k === undefined ? '' : pressureColor(data.at(k, now)));
    }
    return made;
  };
  const numbers = (text = '') => text.split(/[ ,]+/).map(Number), dataset = (e: SVGElement) => ({ node: '', ...e.dataset } as Record<string, string>);

  // --- Lines
  const flows = new Map<string, Flow | null>();
  let mostFlow = 1e-12;
  const lines = all<SVGPathElement>('.line', svg);
  for (const path of lines) {
    const { node, flow: text = '' } = dataset(path), d = path.getAttribute('d') ?? '', thin = path.matches('.pilot, .drain');
    if (!flows.has(text)) flows.set(text, makeFlow(text));
    const flow = flows.get(text) ?? null, piece = longestPiece(d);
    mostFlow = Math.max(mostFlow, flow?.most ?? 0);
    const dots = flow?.most ? svgElement('path', { class: 'dots', d }) : null, arrow = dots && piece.length >= LEAST_ARROW ? svgElement('path', { class: 'arrowhead', d: 'M0-6.5L4.8 4H-4.8Z' }) : null;
    if (dots) path.after(dots);
    if (arrow) dots?.after(arrow);
    let last = '';
    updates.push(() => {
      const c = color(node);
      let width = '', offset = 0, q = 0;
      if (flow) {
        q = rateOf(flow);
        if (!thin) width = (2 + 3.2 * Math.sqrt(Math.min(1, Math.abs(q) / mostFlow))).toFixed(1);
        if (LIVE) mostFlow = Math.max(mostFlow, Math.abs(q) || 0);
        offset = Math.round(-10 * flow.travel() / mostFlow * 40 % (10 * DOT_PITCH)) / 10;
      }
      if (last === (last = c + width + offset)) return;
      path.style.stroke = c;
      path.style.strokeWidth = width;
      const share = Math.min(1, Math.abs(q) / mostFlow * 40), opacity = share < 0.03 ? '0' : share.toFixed(2);
      if (dots) {
        dots.style.strokeDashoffset = String(offset);
        dots.style.opacity = opacity;
      }
      if (arrow) {
        arrow.setAttribute('transform', `translate(${piece.x} ${piece.y})rotate(${piece.angle + (q < 0 ? 180 : 0)})`);
        arrow.style.fill = c;
        arrow.style.opacity = opacity;
      }
    });
    if (node) path.addEventListener('click', e => choose(e, () => selectPart(node)));
  }
  for (const target of all('.dot, .chamber', svg)) if (target.dataset.node) updates.push(() => { target.style.fill = color(dataset(target).node); });
  for (const target of all('.node-value', svg)) {
    const k = pressures.get(dataset(target).node);
    if (k !== undefined) texts.push(() => write(target, withUnit(data.series[k], data.at(k, now))));
  }

  // --- Moving parts: pistons, swash plates, spools, chambers, boxes of valves
  for (const target of all('[data-output]', svg)) {
    const d = dataset(target), k = data.find(d.output), from = +(d.from ?? 0), to = +(d.to ?? 1), share = () => Math.min(1, Math.max(0, (data.at(k, now) - from) / (to - from || 1) || 0));   // 0 at times without a value
    const put = (name: string, range: number[]) => { if (range.length === 2) target.setAttribute(name, (range[0] + (range[1] - range[0]) * share()).toFixed(1)); };
    if (k < 0) continue;
    if (d.move === 'chamber') {
      const ranges = ['x', 'y', 'width', 'height'].map((name): [string, number[]] => [name, d[name] ? numbers(d[name]) : []]);
      updates.push(() => ranges.forEach(([name, range]) => put(name, range)));
    } else if (d.turn) {
      const [a, b] = numbers(d.turn), center = d.center ?? '0 0';
      updates.push(() => target.setAttribute('transform', `rotate(${(a + (b - a) * share()).toFixed(1)} ${center})`));
    } else if (d.travel) {
      const [x, y] = numbers(d.travel);
      updates.push(() => target.setAttribute('transform', `translate(${(x * share()).toFixed(1)} ${(y * share()).toFixed(1)})`));
    } else if (d.box) {
      const own = palette.ofPart(target.closest<SVGElement>('[data-part]')?.dataset.part), group = palette.ofPart(target.closest<SVGElement>('[data-group]')?.dataset.group);
      updates.push(() => {
        const x = data.at(k, now) / (+d.scale || 1), side = Math.abs(x) < 0.01 ? 0 : Math.sign(x), strength = +d.box === 0 ? 12 : Math.round(16 + 44 * Math.min(1, Math.abs(x)));
        target.style.fill = side === +d.box ? `color-mix(in srgb,${ink(own === 'neutral' ? group : own)} ${strength}%,${ink('card')})` : '';
      });
    } else if (target.tagName === 'text') {
      updates.push(() => {
        const opening = format(100 * data.at(k, now) / +d.scale, 0);
        write(target, d.scale ? (+opening > 0 ? '+' : '') + opening + ' %' : withUnit(data.series[k], data.at(k, now)));
      });
    }
  }

  // --- More values, where the picture has space: the flow of working and loop lines at the name of the node; flow and
  // power of pumps; lengths of cylinders
  svg.style.setProperty('--least', isPhone() ? '10.5px' : '12px');   // the largest size, see layout()
  for (const update of [...updates, ...texts]) update();
  // Larger texts must not overlap each other.
  for (const name of all<SVGTextElement>('.element > .name', svg)) {
    const value = name.nextElementSibling, x = Number(value?.getAttribute('x')), { x: left, width } = name.getBBox();
    if (value?.matches('.value:not([text-anchor=end])') && value.getAttribute('y') === name.getAttribute('y') && x > left) value.setAttribute('x', String(Math.max(x, left + width + 4)));
  }
  const taken = [...all<SVGGraphicsElement>('text, .body, .box, .chamber, .rod, .ink, .solid', svg).map(e => e.getBBox()), ...[...lines.flatMap(path => pieces(path.getAttribute('d') ?? '')), ...all<SVGRectElement>('.frame, .enclosure', svg).flatMap(e => {
    const { x, y, width, height } = e.getBBox();
    return pieces(`M${x} ${y}H${x + width}V${y + height}H${x}V${y}`);
  })].map(([x, y, u, v]) => new DOMRect(Math.min(x, u) - 2, Math.min(y, v) - 2, Math.abs(u - x) + 4, Math.abs(v - y) + 4))];
  type Place = [number, number, string];
  // value: the text at the cursor, or the widest text of the run, for which there must be space.
  const addValue = (group: Element, kind: string, places: Place[], value: (widest?: boolean) => string) => {
    const text = group.appendChild(svgElement('text', { class: kind }, value(true)));
    for (const [x, y, anchor] of places) {
      for (const [name, v] of Object.entries({ x, y, 'text-anchor': anchor })) text.setAttribute(name, String(v));
      const a = text.getBBox();
      if (taken.some(b => a.x < b.x + b.width + 2 && a.x + a.width > b.x - 2 && a.y + 2 < b.y + b.height && a.y + a.height - 2 > b.y)) continue;
      taken.push(a);
      texts.push(() => write(text, value()));
      return true;
    }
    text.remove();
    return false;
  };
  for (const label of all<SVGTextElement>('.node-name:is(.work, .loop-a, .loop-b)', svg)) {
    const x = Number(label.getAttribute('x')), y = Number(label.getAttribute('y')), anchor = label.getAttribute('text-anchor') ?? 'start', own = label.getBBox();
    const flow = flows.get(dataset(label).flow);
    if (!flow?.most) continue;
    const s = data.series[flow.terms[0][1]];
    addValue(svg, 'now-value', [[x, y + 12, anchor], anchor === 'end' ? [own.x - 8, y, anchor] : [own.x + own.width + 8, y, anchor], [x, y - 12, anchor]],
      widest => `${format(shown(s, widest ? flow.most : Math.abs(rateOf(flow))), Math.max(0, digitsFor(shown(s, flow.most)) - 1))} ${unitOf(s)}`);
  }
  for (const target of all('[data-class]', svg)) {
    const { part, class: kind } = dataset(target), isPump = /pump/.test(kind), texts = all<SVGTextElement>('.name, .value', target), first = texts[0], last = texts[texts.length - 1], box = one<SVGRectElement>('.hit', target)?.getBBox();
    const series = (isPump ? ['flow', 'power'] : kind === 'cylinder' ? ['length'] : []).map(q => data.find(`${part}.${q}`)).filter(k => k >= 0);
    if (!series.length || !first || !box) continue;
    const at = (e: Element, name: string) => Number(e.getAttribute(name)), anchor = last.getAttribute('text-anchor') ?? 'start', end = last.getBBox();
    const places: Place[] = isPump ? [[at(last, 'x'), at(last, 'y') + 12, anchor], [at(first, 'x'), at(first, 'y') - 12, anchor]]
      : [[box.x + box.width, box.y + box.height + 10, 'end'], [box.x, box.y + box.height + 10, 'start'], [end.x + end.width + 8, at(last, 'y'), 'start'], [first.getBBox().x - 8, at(first, 'y'), 'end']];
    for (let n = series.length; n && !addValue(target, 'node-value', places, widest => series.slice(0, n).map(k => withUnit(data.series[k], widest ? data.series[k].high : data.at(k, now))).join(', ')); n--);
  }

  // --- Choice of elements and sections
  let dragged = false;
  function choose(e: Event, act: () => void): void {
    e.stopPropagation();
    if (!dragged) act();
  }
  const parts = all('[data-part]', svg).filter(e => !e.parentElement?.closest('[data-part]')), sections = all('.section', svg);
  svg.setAttribute('role', 'group');
  for (const target of parts) {
    const { part, class: kind } = dataset(target);
    for (const [name, value] of Object.entries({ tabindex: '0', role: 'button', 'aria-label': kind ? `${part}, ${kind}` : part })) target.setAttribute(name, value);
    target.classList.add('selectable');
    target.addEventListener('click', e => choose(e, () => selectPart(part)));
    target.addEventListener('keydown', e => {
      if (e.key !== 'Enter' && e.key !== ' ') return;
      selectPart(part);
      e.preventDefault();
      e.stopPropagation();
    });
  }
  for (const section of sections) {
    const { group } = dataset(section);
    section.style.setProperty('--own', `var(--${palette.ofPart(group)})`);
    const name = one('text', section), x = Number(name?.getAttribute('x'));
    name?.before(svgElement('circle', { class: 'own', cx: x + 4, cy: Number(name.getAttribute('y')) - 4.5, r: 4 }));
    name?.setAttribute('x', String(x + 13));
    section.addEventListener('click', e => choose(e, () => selectGroup(group)));
  }
  svg.addEventListener('click', e => choose(e, clearSelection));
  const showSelection = () => {
    for (const target of parts) {
      const { part } = dataset(target), own = dataset(target).group ?? groupOf(part);
      target.classList.toggle('on', !!selectedPart && hasPart(part));
      target.classList.toggle('off', isSelecting() && !hasPart(part) && own !== (selectedGroup || groupOf(selectedPart)) && own !== '');
      press(target, selectedPart === part);
    }
    for (const section of sections) {
      const { group } = dataset(section);
      section.classList.toggle('on', isSelecting() && group === (selectedGroup || groupOf(selectedPart)));
    }
    for (const line of lines) line.classList.toggle('on', !!selectedPart && hasPart(dataset(line).node));
    draw();
  };

  // --- Zoom and drag
  const scroller = element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Circuit diagram' });
  let zoom = 1, fitted = true;
  const layout = (least = isPhone() ? 0.95 : 0.76) => {
    const { width, height } = svg.viewBox.baseVal, w = scroller.clientWidth - 4, h = scroller.clientHeight - 4;
    if (w < 2) return;
    if (fitted) zoom = Math.min(1.35, Math.max(least, Math.min(w / width, h > 60 ? h / height : Infinity)));
    svg.style.width = `${width * zoom}px`;
    svg.style.height = `${height * zoom}px`;
    svg.style.setProperty('--least', `${Math.min(12, 10 / zoom)}px`);   // texts have at least 10 px
    placeLegend();
  };
  const zoomBy = (factor: number, x = scroller.clientWidth / 2, y = scroller.clientHeight / 2) => {
    const before = zoom, left = scroller.scrollLeft + x, top = scroller.scrollTop + y;
    fitted = false;
    zoom = Math.min(4, Math.max(0.15, zoom * factor));
    layout();
    scroller.scrollTo(left * zoom / before - x, top * zoom / before - y);
  };
  let from: number[] | null = null;
  scroller.addEventListener('pointerdown', e => {
    dragged = false;
    from = e.pointerType === 'mouse' ? [e.clientX, e.clientY, scroller.scrollLeft, scroller.scrollTop] : null;
  });
  scroller.addEventListener('pointermove', e => {
    if (!from || !(e.buttons & 1)) return;
    const dx = e.clientX - from[0], dy = e.clientY - from[1];
    dragged ||= Math.abs(dx) + Math.abs(dy) > 4;
    if (dragged) scroller.scrollTo(from[2] - dx, from[3] - dy);
  });
  scroller.addEventListener('wheel', e => {
    if (!e.ctrlKey && !e.metaKey) return;
    const box = scroller.getBoundingClientRect();
    e.preventDefault();
    zoomBy(Math.exp(-e.deltaY / 400), e.clientX - box.left, e.clientY - box.top);
  }, { passive: false });

  // --- Frame
  const [legend, drawLegend] = pressures.size ? makeLegend([...pressures.values()]) : [div(''), () => {}], tools = div('tools', ...zoomTools(zoomBy, () => {
    fitted = true;
    layout(0.05);
  }), expander(card));
  // The scale is in a free lower corner of the picture, or in the head if no corner is free.
  function placeLegend(): void {
    picture?.append(legend);
    const boxes = all('.hit, .frame, .line, text', svg).map(e => e.getBoundingClientRect());
    for (const side of isPhone() ? [] : ['right', 'left']) {
      legend.className = `ramp corner ${side}`;
      const a = legend.getBoundingClientRect();
      if (!boxes.some(b => b.left < a.right + 8 && b.right > a.left - 8 && b.top < a.bottom && b.bottom > a.top - 8)) return;
    }
    legend.className = 'ramp';
    tools.before(legend);
  }
  let visible = true, frames = 0;
  function draw(): void {
    colors.clear();
    for (const update of updates) update();
    if (!playing || frames++ % 3 === 0) for (const update of texts) update();   // while the machine moves, numbers change every third frame
    drawLegend();
  }
  picture.classList.add('live');
  svg.replaceWith(scroller);
  scroller.append(svg);
  head(card, span('hint', 'Color: pressure, dots: flow'), tools);
  const content = svg.getBBox();
  svg.setAttribute('viewBox', [content.x - 2, content.y - 2, content.width + 4, content.height + 4].join(' '));
  watchVisible(card, v => {
    if (v && !visible) draw();
    visible = v;
  });
  new ResizeObserver(() => layout()).observe(picture);
  on([timeChanged], () => { if (visible) draw(); });
  on([themeChanged, unitsChanged], draw);
  on([selectionChanged], showSelection);
  draw();
  return svg;
}

// The straight pieces of a path of M, L, H and V: their ends.
function pieces(d: string): number[][] {
  const found: number[][] = [];
  let x = 0, y = 0;
  for (const [, command, rest] of d.matchAll(/([MLHV])([^A-Za-z]*)/g)) {
    const v = rest.trim().split(/[ ,]+/).map(Number);
    for (let i = 0; i < v.length; i += command === 'M' || command === 'L' ? 2 : 1) {
      const nx = command === 'V' ? x : v[i], ny = command === 'V' ? v[i] : command === 'H' ? y : v[i + 1];
      if (command !== 'M' || i) found.push([x, y, nx, ny]);
      x = nx;
      y = ny;
    }
  }
  return found;
}
// The middle of the longest piece, and its direction in degrees clockwise from up.
export function longestPiece(d: string): { x: number; y: number; angle: number; length: number } {
  const best = { x: 0, y: 0, angle: 0, length: 0 };
  for (const [x, y, u, v] of pieces(d)) {
    const length = Math.hypot(u - x, v - y);
    if (length > best.length) Object.assign(best, { x: (x + u) / 2, y: (y + v) / 2, angle: Math.round(Math.atan2(u - x, y - v) * 180 / Math.PI), length });
  }
  return best;
}
