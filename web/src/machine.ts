// The card with the moving machine: canvas over the still picture, tools, pointer and readout.
import type { App } from './app';
import type { SceneInfo, Vector } from './contract';
import { Camera } from './camera';
import type { Spot, ViewName } from './camera';
import { all, element, icon, one, watchVisible } from './dom';
import { expander, head } from './card';
import { nameLabels, paintLabels, paintLoads, paintScale, paintTrace, partAt } from './machine_paint';
import type { Hit, Picture } from './machine_paint';
import { paintPlane } from './machine_plane';
import { makeSolid, paintSpace } from './machine_space';
import type { Solid } from './machine_space';
import { Poses, placed, size, subtract } from './pose';
import { format } from './units';

const TRACE_POINTS = 500;

export class MachineView {
  readonly canvas: HTMLCanvasElement;
  private readonly g: CanvasRenderingContext2D;
  private readonly camera: Camera;
  private readonly machines: { poses: Poses; of: string; label: string }[];
  private readonly solid: Solid | null;
  private readonly readout = element('dl', { class: 'readout' });
  private readonly cells: { name: HTMLElement; value: HTMLElement }[] = [];
  private readonly pointChoice: HTMLSelectElement | null;
  private readonly show = { path: true, loads: true, pins: false, names: true };
  private readonly chosen = new Map<string, number>();
  private point = '';
  private trace: Vector[] = [];
  private traceTimes = new Float64Array(0);
  private hits: Hit[] = [];
  private fitted = true;
  private visible = true;

  constructor(private readonly app: App, private readonly card: HTMLElement, private readonly scene: SceneInfo) {
    const picture = one<HTMLElement>('.picture', card) ?? element('div', { class: 'picture' });
    const machines = app.data.page.machines ?? [{ label: '', of: '' }];
    this.machines = machines.slice(0, 2).map(m => ({ poses: new Poses(app.data, scene, m.of), of: m.of, label: m.label }));
    this.camera = new Camera(scene);
    this.solid = scene.planar ? null : makeSolid({ scene });
    this.canvas = element('canvas', { tabindex: 0, role: 'img', 'aria-label': this.description() });
    const g = this.canvas.getContext('2d');
    if (!g) throw new Error('no canvas');
    this.g = g;
    const points = scene.points ?? [];
    this.point = scene.traces?.find(t => points.some(q => q.name === t)) ?? points[0]?.name ?? '';
    this.pointChoice = points.length > 1 ? element('select', { 'aria-label': 'Point of the readout and the path', onchange: () => this.choosePoint(this.pointChoice?.value ?? '') },
      ...points.map(q => element('option', { value: q.name }, q.name))) : null;
    if (this.pointChoice) this.pointChoice.value = this.point;
    head(card, this.tools());
    picture.classList.add('live');
    const overlay = element('div', { class: 'overlay' }, this.point ? element('div', { class: 'point' }, this.pointChoice ?? this.point) : null, this.readout);
    picture.append(this.canvas, overlay);
    if (this.machines.length > 1) overlay.append(element('p', { class: 'ghost-note' }, element('span', { class: 'ghost-line' }), this.machines[1].label));
    this.growBounds();
    this.makeTrace();
    this.pointer();
    watchVisible(card, v => { this.visible = v; if (v) this.draw(); });
    new ResizeObserver(() => this.resize()).observe(picture);
    app.clock.frame.add(() => { if (this.visible) this.draw(); });
    for (const changes of [app.selection.changed, app.theme.changed, app.units.changed]) changes.add(() => this.draw());
    this.resize();
  }

  private description(): string {
    const bodies = this.scene.bodies.filter(b => b.pose).length, cylinders = (this.scene.cylinders ?? []).length;
    return `Machine at the time of the cursor: ${bodies} ${bodies === 1 ? 'body' : 'bodies'}, ${cylinders} ${cylinders === 1 ? 'cylinder' : 'cylinders'}.`;
  }

  private tools(): HTMLElement {
    const { scene } = this, box = element('div', { class: 'tools' });
    const toggle = (name: keyof typeof this.show, label: string) => {
      const button = element('button', { type: 'button', class: 'toggle', 'aria-pressed': String(this.show[name]), onclick: () => {
        this.show[name] = !this.show[name];
        button.setAttribute('aria-pressed', String(this.show[name]));
        this.draw();
      } }, label);
      box.append(button);
    };
    if (this.point) toggle('path', 'Path');
    if ((scene.loads ?? []).length) toggle('loads', 'Loads');
    if ((scene.joint_loads ?? []).length) toggle('pins', 'Pins');
    toggle('names', 'Names');
    box.append(element('span', { class: 'gap' }));
    if (!scene.planar) {
      const views: [ViewName, string][] = [['iso', 'Iso'], ['front', 'Front'], ['side', 'Side'], ['top', 'Top']];
      const select = element('select', { class: 'views-menu', 'aria-label': 'Standard view', onchange: () => {
        this.camera.look(select.value as ViewName);
        this.fit();
      } }, ...views.map(([value, label]) => element('option', { value }, label)));
      box.append(select);
    }
    const button = (label: string, shape: SVGSVGElement, action: () => void) =>
      box.append(element('button', { type: 'button', class: 'tool', 'aria-label': label, title: label, onclick: action }, shape));
    button('Zoom out', icon('M3.5 8h9'), () => this.zoom(1 / 1.35));
    button('Zoom in', icon('M3.5 8h9M8 3.5v9'), () => this.zoom(1.35));
    button('Show the whole machine', icon('M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10'), () => this.fit());
    box.append(expander(this.card));
    return box;
  }

  // Extends the bounds over the run, with the corners of all shapes.
  private growBounds(): void {
    const { start, length } = this.app.clock;
    for (const machine of this.machines) for (let i = 0; i <= 60; i++) {
      const poses = machine.poses.all(start + length * i / 60);
      this.scene.bodies.forEach((body, k) => {
        for (const shape of body.shapes) {
          const corners = shape.kind === 'outline' ? shape.points : shape.kind === 'capsule' ? [shape.a, shape.b] : [shape.center];
          for (const v of corners) this.camera.include(placed(poses, { body: k, at: v }));
        }
      });
      for (const c of this.scene.cylinders ?? []) for (const end of [c.a, c.b]) this.camera.include(placed(poses, end));
    }
  }

  private choosePoint(name: string): void {
    this.point = name;
    this.makeTrace();
    this.draw();
  }

  private makeTrace(): void {
    const point = this.scene.points?.find(q => q.name === this.point), { start, length } = this.app.clock;
    this.trace = [];
    if (!point || !this.app.hasTime) return;
    this.traceTimes = Float64Array.from({ length: TRACE_POINTS }, (_, i) => start + length * i / (TRACE_POINTS - 1));
    this.trace = Array.from(this.traceTimes, t => this.pointAt(point.body, point.at, t));
  }
  private pointAt(body: number, at: Vector, time: number): Vector {
    const pose = this.machines[0].poses.body(body, time);
    return placed([pose], { body: 0, at });
  }

  private resize(): void {
    const box = this.canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
    if (box.width < 2 || box.height < 2) return;
    this.canvas.width = Math.round(box.width * ratio);
    this.canvas.height = Math.round(box.height * ratio);
    this.camera.resize(box.width, box.height, this.fitted);
    this.draw();
  }
  private fit(): void {
    this.fitted = true;
    this.camera.fit();
    this.draw();
  }
  private zoom(factor: number, x?: number, y?: number): void {
    this.fitted = false;
    this.camera.zoomAt(factor, x, y);
    this.draw();
  }

  draw(): void {
    const { g, camera, app, scene } = this, ratio = devicePixelRatio || 1;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, camera.width, camera.height);
    this.hits = [];
    let main: Picture | null = null;
    this.machines.forEach((machine, i) => {
      const picture: Picture = { app, g, camera, scene, poses: machine.poses.all(app.clock.now), hits: i ? [] : this.hits, of: machine.of, ghost: i > 0 };
      if (i === 0) main = picture;
      if (this.solid) paintSpace(picture, this.solid); else paintPlane(picture);
      if (i === 0 && this.show.path && this.trace.length) paintTrace(picture, this.trace, this.traceTimes);
    });
    if (!main) return;
    const labels = paintLoads(main, this.show.loads, this.show.pins);
    paintLabels(main, this.show.names ? [...nameLabels(main), ...labels] : labels, this.chosen);
    paintScale(main);
    this.drawReadout();
  }

  // Values of the selected part, or of the chosen point.
  private drawReadout(): void {
    const { app } = this, now = app.clock.now, rows: [string, string][] = [];
    if (app.selection.part) {
      rows.push([app.selection.part, '']);
      for (const s of app.data.series) {
        if (s.quantity === 'pose' || !app.selection.hasSeries(s) || (s.of && s.of !== this.machines[0].of) || rows.length > 6) continue;
        rows.push([s.name.startsWith(app.selection.part + '.') ? s.name.slice(app.selection.part.length + 1) : s.name,
          `${app.units.text(s, app.data.at(app.data.find(s.name, s.of), now))} ${app.units.unit(s)}`]);
      }
    } else {
      const point = this.scene.points?.find(q => q.name === this.point);
      if (point) {
        const h = Math.max(1e-6, app.clock.length * 1e-3), at = this.pointAt(point.body, point.at, now);
        const t0 = Math.max(app.clock.start, now - h), t1 = Math.min(app.clock.end, now + h);
        const speed = t1 > t0 ? size(subtract(this.pointAt(point.body, point.at, t1), this.pointAt(point.body, point.at, t0))) / (t1 - t0) : NaN;
        const digits = this.scene.size < 0.5 ? 4 : this.scene.size < 2 ? 3 : 2, { x, y } = this.scene.axes;
        const names = this.scene.planar ? (['x', 'y', 'z'] as const).filter((_, i) => Math.abs(x[i]) + Math.abs(y[i]) > 0.5) : (['x', 'y', 'z'] as const);
        for (const n of names) rows.push([n, `${format(at['xyz'.indexOf(n)], digits)} m`]);
        if (app.hasTime) rows.push(['speed', `${format(speed, digits)} m/s`]);
      }
    }
    while (this.cells.length < rows.length) {
      const name = element('dt'), value = element('dd');
      this.readout.append(name, value);
      this.cells.push({ name, value });
    }
    this.cells.forEach((cell, i) => {
      const row = rows[i];
      cell.name.hidden = cell.value.hidden = !row;
      if (!row) return;
      if (cell.name.textContent !== row[0]) cell.name.textContent = row[0];
      if (cell.value.textContent !== row[1]) cell.value.textContent = row[1];
    });
  }

  // Drag: pan in the plane, orbit in space (with Shift or the right button: pan). Two fingers: pan and zoom. Click: select.
  private pointer(): void {
    const { canvas, camera, app } = this, fingers = new Map<number, Spot>();
    let moved = 0;
    canvas.addEventListener('pointerdown', e => {
      fingers.set(e.pointerId, [e.offsetX, e.offsetY]);
      if (fingers.size === 1) moved = 0;
      if (e.pointerType === 'mouse') canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener('pointermove', e => {
      const before = fingers.get(e.pointerId), at: Spot = [e.offsetX, e.offsetY];
      if (!before) {
        if (e.pointerType === 'mouse') canvas.style.cursor = partAt(this.hits, at, false) ? 'pointer' : '';
        return;
      }
      const others = [...fingers.entries()].filter(([id]) => id !== e.pointerId);
      fingers.set(e.pointerId, at);
      moved += Math.abs(at[0] - before[0]) + Math.abs(at[1] - before[1]);
      if (moved < 4) return;
      if (others.length) {
        const other = others[0][1], was = Math.hypot(before[0] - other[0], before[1] - other[1]), is = Math.hypot(at[0] - other[0], at[1] - other[1]);
        camera.pan((at[0] - before[0]) / 2, (at[1] - before[1]) / 2);
        this.zoom(was > 0 ? is / was : 1, (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
        return;
      }
      if (this.scene.planar && e.pointerType === 'touch') return;   // one finger scrolls the page
      if (!this.scene.planar && !e.shiftKey && e.buttons !== 2) camera.orbit(at[0] - before[0], at[1] - before[1]);
      else camera.pan(at[0] - before[0], at[1] - before[1]);
      if (this.scene.planar || e.shiftKey || e.buttons === 2) this.fitted = false;
      this.draw();
    });
    const end = (e: PointerEvent) => {
      if (e.type === 'pointerup' && fingers.size === 1 && moved < 4) {
        const part = partAt(this.hits, [e.offsetX, e.offsetY], e.pointerType === 'touch');
        if (part) app.selection.selectPart(part); else app.selection.clear();
      }
      fingers.delete(e.pointerId);
    };
    canvas.addEventListener('pointerup', end);
    canvas.addEventListener('pointercancel', end);
    canvas.addEventListener('contextmenu', e => { if (!this.scene.planar) e.preventDefault(); });
    canvas.addEventListener('dblclick', () => this.fit());
    canvas.addEventListener('wheel', e => {
      if (!e.ctrlKey && !e.metaKey && document.activeElement !== canvas) return;
      e.preventDefault();
      this.zoom(Math.exp(-e.deltaY / 400), e.offsetX, e.offsetY);
    }, { passive: false });
    canvas.addEventListener('keydown', e => {
      const by: Record<string, Spot> = { ArrowLeft: [20, 0], ArrowRight: [-20, 0], ArrowUp: [0, 20], ArrowDown: [0, -20] };
      const step = e.altKey || e.ctrlKey || e.metaKey ? undefined : by[e.key];
      if (step && e.shiftKey) {
        if (this.scene.planar) { camera.pan(step[0], step[1]); this.fitted = false; } else camera.orbit(-step[0], -step[1]);
      } else if (e.key === '+' || e.key === '=') return this.zoom(1.2);
      else if (e.key === '-') return this.zoom(1 / 1.2);
      else if (e.key === '0') return this.fit();
      else return;
      e.preventDefault();
      e.stopPropagation();
      this.draw();
    });
  }

  // The picture at the cursor as PNG, on the background of the card.
  png(): Promise<Blob | null> {
    const copy = element('canvas', { width: this.canvas.width, height: this.canvas.height }), g = copy.getContext('2d');
    if (!g) return Promise.resolve(null);
    g.fillStyle = this.app.theme.color('--card');
    g.fillRect(0, 0, copy.width, copy.height);
    g.drawImage(this.canvas, 0, 0);
    return new Promise(done => copy.toBlob(done));
  }
}

// Names of all parts that can be selected: bodies, joints, cylinders and further elements of the scene, then of the circuit.
export function selectableParts(scene: SceneInfo | undefined): string[] {
  const names = new Set<string>();
  for (const b of scene?.bodies ?? []) if (b.pose) names.add(b.part ?? b.name);
  for (const list of [scene?.cylinders, scene?.springs, scene?.rods, scene?.ropes, scene?.joints]) for (const x of list ?? []) names.add(x.name);
  for (const e of all<SVGElement>('#circuit [data-part]')) if (e.dataset.part) names.add(e.dataset.part);
  return [...names];
}

