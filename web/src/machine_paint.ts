// What both pictures of the machine use: colors of shapes, hits, arrows, labels, traces, scale bar.
import type { App } from './app';
import type { Camera, Spot } from './camera';
import type { Pose } from './pose';
import type { CylinderInfo, SceneInfo, Vector } from './contract';
import { add, dot, placed, scaled, size, subtract, turn, unit } from './pose';
import { FONT } from './theme';
import { colorVariable } from './palette';
import { formatAlone } from './units';

export interface Hit { part: string; outline?: Spot[]; from?: Spot; to?: Spot; reach?: number }
export interface Picture {
  app: App;
  g: CanvasRenderingContext2D;
  camera: Camera;
  scene: SceneInfo;
  poses: Pose[];
  hits: Hit[];
  of: string;       // machine whose pressures fill the chambers
  ghost: boolean;   // only outlines
}

const NAMED: Record<string, [string, string]> = {
  body: ['--body', '--bodyline'], accent: ['--body2', '--bodyline'], base: ['--base', '--base2'], dark: ['--base2', '--base3'],
  glass: ['--glass', '--base2'], steel: ['--steel', '--steelline'],
};
// Fill and line of a color of a scene.
export function shapeColors(p: Picture, color: string | undefined): [string, string] {
  if (color && /^#[0-9a-f]{6}$/i.test(color)) return [color, p.app.theme.dark ? lighter(color, 0.45) : lighter(color, -0.5)];
  const [fill, line] = NAMED[color ?? 'body'] ?? NAMED.body;
  return [p.app.theme.color(fill), p.app.theme.color(line)];
}
const mixed = new Map<string, string>();
// A color mixed with white (positive part) or black (negative part).
export function lighter(hex: string, part: number): string {
  const key = hex + part.toFixed(2);
  let made = mixed.get(key);
  if (!made) {
    const to = part > 0 ? 255 : 0, f = Math.abs(part);
    made = '#' + [1, 3, 5].map(i => {
      const v = parseInt(hex.slice(i, i + 2), 16);
      return Math.round(v + (to - v) * f).toString(16).padStart(2, '0');
    }).join('');
    mixed.set(key, made);
  }
  return made;
}

export function tracePath(g: CanvasRenderingContext2D, points: Spot[], closed: boolean): void {
  g.beginPath();
  points.forEach((p, i) => { if (i) g.lineTo(p[0], p[1]); else g.moveTo(p[0], p[1]); });
  if (closed) g.closePath();
}
// A closed polygon with rounded corners, radius in px.
export function roundPath(g: CanvasRenderingContext2D, points: Spot[], radius: number): void {
  const n = points.length, start: Spot = [(points[n - 1][0] + points[0][0]) / 2, (points[n - 1][1] + points[0][1]) / 2];
  g.beginPath();
  g.moveTo(start[0], start[1]);
  for (let i = 0; i < n; i++) {
    const a = points[i], b = points[(i + 1) % n], before = points[(i + n - 1) % n];
    const room = 0.5 * Math.min(Math.hypot(a[0] - b[0], a[1] - b[1]), Math.hypot(a[0] - before[0], a[1] - before[1]));
    g.arcTo(a[0], a[1], (a[0] + b[0]) / 2, (a[1] + b[1]) / 2, Math.min(radius, room));
  }
  g.closePath();
}

// Parts of a cylinder along its axis, m from its first end.
export interface CylinderParts { length: number; axis: Vector; from: Vector; start: number; end: number; piston: number; thick: number; width: number; rod: number }
export function cylinderParts(p: Picture, c: CylinderInfo): CylinderParts {
  const from = placed(p.poses, c.a), to = placed(p.poses, c.b), d = subtract(to, from), length = size(d);
  const closed = c.closed && c.closed > 0 ? c.closed : length * 0.6, stroke = c.stroke && c.stroke > 0 ? c.stroke : closed * 0.7;
  const width = Math.min(c.diameter, closed * 0.4), thick = Math.min(0.35 * width, 0.12 * closed);
  const start = Math.min(0.45 * width, 0.1 * closed), end = Math.max(closed - 0.55 * width, 0.8 * closed);
  const part = Math.min(1, Math.max(0, (length - closed) / stroke));
  return { length, axis: unit(d), from, start, end, piston: start + part * (end - start - thick), thick, width,
    rod: Math.min(c.rod ?? 0.5 * width, 0.62 * width) };
}
// Fill colors of the two chambers.
export function chamberColors(p: Picture, c: CylinderInfo): [string, string] {
  const color = (i: number) => {
    const chamber = c.chambers?.[i];
    return (chamber && p.app.pressure.color(p.app.data.at(p.app.data.find(chamber.pressure, p.of), p.app.clock.now))) || p.app.theme.color('--notebg');
  };
  return [color(0), color(1)];
}

// Distance of a place from a line piece, px.
export function distance(at: Spot, a: Spot, b: Spot): number {
  const dx = b[0] - a[0], dy = b[1] - a[1], n = dx * dx + dy * dy;
  const f = n > 0 ? Math.min(1, Math.max(0, ((at[0] - a[0]) * dx + (at[1] - a[1]) * dy) / n)) : 0;
  return Math.hypot(a[0] + f * dx - at[0], a[1] + f * dy - at[1]);
}
export function inside(at: Spot, outline: Spot[]): boolean {
  let odd = false;
  for (let i = 0, j = outline.length - 1; i < outline.length; j = i++) {
    const [xi, yi] = outline[i], [xj, yj] = outline[j];
    if (yi > at[1] !== yj > at[1] && at[0] < (xj - xi) * (at[1] - yi) / (yj - yi) + xi) odd = !odd;
  }
  return odd;
}
// The part at a place of the picture: the uppermost one that was drawn; lines have some reach.
export function partAt(hits: Hit[], at: Spot, touch: boolean): string {
  let best = '', nearest = Infinity;
  for (const h of hits) if (h.from && h.to) {
    const d = distance(at, h.from, h.to) - (h.reach ?? 0);
    if (d < (touch ? 14 : 5) && d <= nearest) { nearest = Math.max(d, 0); best = h.part; }
  }
  if (best) return best;
  for (let i = hits.length - 1; i >= 0; i--) {
    const outline = hits[i].outline;
    if (outline && inside(at, outline)) return hits[i].part;
  }
  return '';
}

// --- Texts: placed last, in px. ---
export interface Label { text: string; at: Spot; direction: Spot; color?: string; faint?: boolean; dot?: string; strong?: boolean }

export function paintLabels(p: Picture, labels: Label[], chosen: Map<string, number>): void {
  const { g, app } = p, taken: [number, number, number, number][] = [];
  g.textBaseline = 'middle';
  g.lineJoin = 'round';
  g.textAlign = 'left';
  g.font = '600 12px ' + FONT;
  for (const label of labels) {
    const width = g.measureText(label.text).width + (label.dot ? 13 : 0), [dx, dy] = label.direction;
    const places: Spot[] = [[dx, dy], [-dx, -dy], [dx, 0], [0, dy], [-dx, 0], [0, -dy], [1, 0], [-1, 0]];
    const box = (i: number): [number, number, number, number] => {
      const [ux, uy] = places[i], gap = (label.strong ? 16 : 9) + (i > 1 ? 3 : 0);
      const cx = label.at[0] + ux * (gap + width / 2 * Math.abs(ux)), cy = label.at[1] + uy * (gap + 6 * Math.abs(uy));
      return [cx - width / 2, cy - 8, cx + width / 2, cy + 8];
    };
    const cost = (i: number): number => {
      const [x0, y0, x1, y1] = box(i);
      let sum = i * 0.4;
      for (const t of taken) if (x0 < t[2] + 3 && x1 > t[0] - 3 && y0 < t[3] && y1 > t[1]) sum += 12;
      if (x0 < 4 || x1 > p.camera.width - 4 || y0 < 4 || y1 > p.camera.height - 4) sum += 30;
      for (const h of p.hits) {
        if (h.outline && h.outline.length < 200) for (const q of [[x0, y0], [x1, y1], [(x0 + x1) / 2, (y0 + y1) / 2]] as Spot[]) { if (inside(q, h.outline)) sum += 1; }
        else if (h.from && h.to && distance([(x0 + x1) / 2, (y0 + y1) / 2], h.from, h.to) < (h.reach ?? 0) + 8) sum += 3;
      }
      return sum;
    };
    // The place of the last frame stays unless another one is clearly better: labels must not jump.
    let best = Math.min(chosen.get(label.text) ?? 0, places.length - 1), least = cost(best) - 2.5;
    for (let i = 0; i < places.length; i++) {
      const c = i === best ? least : cost(i);
      if (c < least) { least = c; best = i; }
    }
    chosen.set(label.text, best);
    const b = box(best), x = b[0] + (label.dot ? 13 : 0), y = (b[1] + b[3]) / 2;
    taken.push(b);
    g.globalAlpha = label.faint ? 0.35 : 0.88;
    g.strokeStyle = app.theme.color('--card');
    g.lineWidth = 4;
    g.strokeText(label.text, x, y);
    g.globalAlpha = label.faint ? 0.4 : 1;
    g.fillStyle = label.color ?? app.theme.color('--ink');
    g.fillText(label.text, x, y);
    if (label.dot) {
      g.fillStyle = label.dot;
      g.beginPath();
      g.arc(b[0] + 5, y, 4, 0, 7);
      g.fill();
    }
    g.globalAlpha = 1;
  }
}

// Names of cylinders, beside their middles. A machine without cylinders shows the names of bodies.
export function nameLabels(p: Picture): Label[] {
  const { app, scene, camera } = p, labels: Label[] = [], cylinders = scene.cylinders ?? [];
  const perGroup = new Map<string, number>();
  for (const c of cylinders) {
    const name = app.selection.groupName(c.name);
    perGroup.set(name, (perGroup.get(name) ?? 0) + 1);
  }
  for (const c of cylinders) {
    const a = camera.project(placed(p.poses, c.a)), b = camera.project(placed(p.poses, c.b)), n = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
    let direction: Spot = [(b[1] - a[1]) / n, -(b[0] - a[0]) / n];
    if (direction[1] > 0.2 || (Math.abs(direction[1]) <= 0.2 && direction[0] < 0)) direction = [-direction[0], -direction[1]];
    const group = app.selection.groupName(c.name), color = app.palette.ofPart(c.name);
    labels.push({ text: group && perGroup.get(group) === 1 ? group : c.name, at: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], direction, strong: true,
      dot: color < 0 ? undefined : app.theme.color(colorVariable(color)), faint: app.selection.any && !app.selection.hasPart(c.name) });
  }
  if (cylinders.length === 0) scene.bodies.forEach((body, i) => {
    if (!body.pose) return;
    const points = body.shapes.flatMap(s => s.kind === 'outline' ? s.points : s.kind === 'capsule' ? [s.a, s.b] : [s.center]);
    if (points.length === 0) return;
    const middle = scaled(points.reduce((a, b) => add(a, b), [0, 0, 0] as Vector), 1 / points.length);
    const at = camera.project(placed(p.poses, { body: i, at: middle }));
    labels.push({ text: body.name, at, direction: [0, -1], faint: app.selection.any && !app.selection.hasPart(body.part ?? body.name) });
  });
  return labels;
}

// Arrows of applied loads, longest 70 px for the largest load of the run.
export function paintLoads(p: Picture, loads: boolean, pins: boolean): Label[] {
  const { app, scene, camera } = p, labels: Label[] = [], now = app.clock.now;
  const largest = (names: (string | undefined)[]) => Math.max(1e-30, ...names.map(n => {
    const s = app.data.series[app.data.find(n, p.of)];
    return s ? Math.max(Math.abs(s.low), Math.abs(s.high)) : 0;
  }));
  if (loads) {
    const list = scene.loads ?? [], most = largest(list.map(l => l.output));
    for (const l of list) {
      const k = app.data.find(l.output, p.of), value = app.data.at(k, now);
      if (k < 0 || !(Math.abs(value) > 0.004 * most)) continue;
      const series = app.data.series[k], shown = app.units.shown(series, value);
      const pose = p.poses[l.at.body], direction = l.follows_body === false || !pose ? l.direction : turn(pose.turn, l.direction);
      const tip = camera.project(placed(p.poses, l.at));
      const label = `${formatAlone(Math.abs(shown))} ${app.units.unit(series)}`;
      if (l.kind === 'torque') labels.push(...paintTorque(p, tip, value, direction, label));
      else labels.push(...paintArrow(p, tip, scaled(direction, Math.sign(value)), Math.abs(value) / most, label, '--load'));
    }
  }
  if (pins) {
    const list = scene.joint_loads ?? [], most = largest(list.map(l => l.size ?? l.x));
    for (const l of list) {
      const joint = scene.joints?.find(j => j.name === l.joint);
      if (!joint) continue;
      const parts = [l.x, l.y, l.z].map(n => n ? app.data.at(app.data.find(n, p.of), now) : 0) as Vector;
      const k = app.data.find(l.size ?? l.x, p.of);
      if (k < 0) continue;
      const series = app.data.series[k], total = l.size ? app.data.at(k, now) : size(parts);
      const at = camera.project(placed(p.poses, joint.a)), text = `${formatAlone(app.units.shown(series, total))} ${app.units.unit(series)}`;
      if (size(parts) > 0 && parts.every(v => !Number.isNaN(v))) labels.push(...paintArrow(p, at, unit(parts), total / most, text, '--pinload'));
      else labels.push({ text, at, direction: [1, 0], color: app.theme.color('--pinload') });
    }
  }
  return labels;
}
function paintArrow(p: Picture, tip: Spot, direction: Vector, share: number, text: string, variable: string): Label[] {
  const { g, camera } = p, flat: Spot = [dot(direction, camera.right), -dot(direction, camera.up)], n = Math.hypot(flat[0], flat[1]);
  if (n < 0.08) return [{ text, at: tip, direction: [1, 0] }];
  const u: Spot = [flat[0] / n, flat[1] / n], length = (22 + 56 * Math.min(1, share)) * Math.max(n, 0.4);
  const start: Spot = [tip[0] - u[0] * length, tip[1] - u[1] * length];
  g.strokeStyle = g.fillStyle = p.app.theme.color(variable);
  g.lineWidth = 2;
  g.lineCap = 'butt';
  g.beginPath();
  g.moveTo(start[0], start[1]);
  g.lineTo(tip[0] - u[0] * 8, tip[1] - u[1] * 8);
  g.stroke();
  g.beginPath();
  g.moveTo(tip[0], tip[1]);
  for (const s of [-1, 1]) g.lineTo(tip[0] - u[0] * 11 + u[1] * 4.5 * s, tip[1] - u[1] * 11 - u[0] * 4.5 * s);
  g.fill();
  return [{ text, at: start, direction: [-u[0], -u[1]], color: p.app.theme.color(variable) }];
}
function paintTorque(p: Picture, at: Spot, value: number, axis: Vector, text: string): Label[] {
  const { g } = p, radius = 16, way = value * dot(axis, p.camera.toward) >= 0 ? -1 : 1, end = -0.6 + way * 4.2;
  g.strokeStyle = g.fillStyle = p.app.theme.color('--load');
  g.lineWidth = 2;
  g.beginPath();
  g.arc(at[0], at[1], radius, -0.6, end, way < 0);
  g.stroke();
  const tip: Spot = [at[0] + radius * Math.cos(end), at[1] + radius * Math.sin(end)], t: Spot = [-Math.sin(end) * way, Math.cos(end) * way];
  g.beginPath();
  g.moveTo(tip[0] + t[0] * 7, tip[1] + t[1] * 7);
  for (const s of [-1, 1]) g.lineTo(tip[0] - t[0] * 3 + t[1] * 4.5 * s, tip[1] - t[1] * 3 - t[0] * 4.5 * s);
  g.fill();
  return [{ text, at: [at[0], at[1] - radius], direction: [0, -1] }];
}

// The path of a point: solid until now, dotted afterwards.
export function paintTrace(p: Picture, points: Vector[], times: Float64Array): void {
  const { g, camera, app } = p, now = app.clock.now;
  let last = 0;
  while (last < times.length - 1 && times[last + 1] <= now) last++;
  const spots = points.map(q => camera.project(q));
  g.lineCap = g.lineJoin = 'round';
  g.lineWidth = 1.3;
  g.strokeStyle = app.theme.color('--ink3');
  g.setLineDash([0.5, 5]);
  tracePath(g, spots.slice(last), false);
  g.stroke();
  g.setLineDash([]);
  g.globalAlpha = 0.55;
  tracePath(g, spots.slice(0, last + 1), false);
  g.stroke();
  g.globalAlpha = 1;
}

// A bar of a round length at the lower left.
export function paintScale(p: Picture): void {
  const { g, camera, app } = p, room = Math.min(110, camera.width * 0.25) / camera.scale, power = 10 ** Math.floor(Math.log10(room));
  const length = [5, 2, 1].map(f => f * power).find(v => v <= room) ?? power, x = 16, y = camera.height - 16, end = x + length * camera.scale;
  g.font = '11px ' + FONT;
  g.lineWidth = 1.2;
  g.lineCap = 'butt';
  g.strokeStyle = app.theme.color('--ink3');
  g.beginPath();
  g.moveTo(x, y - 4);
  g.lineTo(x, y);
  g.lineTo(end, y);
  g.lineTo(end, y - 4);
  g.stroke();
  g.textAlign = 'left';
  g.textBaseline = 'alphabetic';
  g.fillStyle = app.theme.color('--ink2');
  g.fillText(length < 0.01 ? `${+(length * 1000).toPrecision(1)} mm` : length < 1 ? `${+(length * 100).toPrecision(1)} cm` : `${+length.toPrecision(1)} m`, end + 7, y);
}
