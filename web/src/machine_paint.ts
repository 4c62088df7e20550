// Elements of the machine on a canvas: bodies, cylinders cut open, springs, ropes, pins. Used in the plane and in space.
import type { Camera, Spot } from './camera';
import type { CylinderInfo, Place, SceneInfo, Shape, Vector } from './contract';
import type { Pose } from './pose';
import { add, dot, placed, rotation, scaled, size, subtract, turn, unit, world } from './pose';
import { channels, hexOf, pressureColor } from './palette';
import { dark, ink } from './theme';
import { data } from './state';
import { hasPart, isSelecting, selectedPart } from './selection';
import { now } from './clock';

// A part of the picture that can be selected: an outline, or a line that reacts to the pointer within `reach` px.
export interface Hit { part: string; outline: Spot[]; reach: number }
export interface Picture {
  g: CanvasRenderingContext2D;
  camera: Camera;
  scene: SceneInfo;
  poses: Pose[];
  hits: Hit[];
  of: string;       // machine whose pressures fill the chambers
  ghost: string;    // color of a machine of which only outlines are painted
  space: boolean;   // pins are painted with the joints
}

const NAMED: Record<string, [string, string]> = {
  body: ['body', 'bodyline'], accent: ['accent', 'accentline'], base: ['base', 'base2'], dark: ['base2', 'base3'], glass: ['glass', 'base2'], steel: ['steel', 'pin'], soil: ['soil', 'soilline'],
};
// The fill color and the line color for a color of the scene.
export function shapeColors(color = 'body'): [string, string] {
  if (/^#[0-9a-f]{6}$/i.test(color)) return [color, tint(color, dark ? 0.45 : -0.5)];
  return (NAMED[color] ?? NAMED.body).map(ink) as [string, string];
}
const mixed = new Map<string, string>();
// A color mixed with white (positive part) or black (negative part).
export function tint(hex: string, part: number): string {
  const key = hex + part;
  if (!mixed.has(key)) mixed.set(key, hexOf(channels(hex).map(v => v + ((part > 0 ? 255 : 0) - v) * Math.abs(part))));
  return mixed.get(key) ?? hex;
}

export function trace(g: CanvasRenderingContext2D, points: Spot[], closed = false): void {
  g.beginPath();
  for (const p of points) g.lineTo(p[0], p[1]);
  if (closed) g.closePath();
}
// Strokes the current path.
export function stroke(g: CanvasRenderingContext2D, color: string, width: number, dash: number[] = []): void {
  g.strokeStyle = color;
  g.lineWidth = width;
  g.setLineDash(dash);
  g.stroke();
  if (dash.length) g.setLineDash([]);
}
export function circle(g: CanvasRenderingContext2D, [x, y]: Spot, radius: number): void {
  g.beginPath();
  g.arc(x, y, radius, 0, 7);
}
// Fills and strokes the current path as a piece of a body.
function finish(p: Picture, color: string | undefined, part: string): void {
  const { g } = p, [fill, line] = shapeColors(color), width = Math.min(2.6, Math.max(1, p.scene.size * 0.0046 * p.camera.scale));
  g.lineJoin = 'round';
  if (p.ghost) return stroke(g, ink(p.ghost), 1.3, [5, 3]);
  if (selectedPart === part) stroke(g, ink('focus'), width + 5);
  g.fillStyle = fill;
  g.fill();
  stroke(g, line, width);
}

export function paintShape(p: Picture, pose: Pose, shape: Shape, part: string): void {
  const { g, camera } = p, spot = (v: Vector) => camera.project(world(pose, v));
  let outline: Spot[];
  if (shape.kind === 'line') {
    if (p.ghost) return;
    trace(g, shape.points.map(spot));
    g.lineCap = 'round';
    g.globalAlpha = 0.3;
    stroke(g, shapeColors(shape.color)[1], Math.max(1, shape.width * camera.scale));
    g.globalAlpha = 1;
    return;
  }
  if (shape.kind === 'outline') outline = shape.points.map(spot);
  else if (shape.kind === 'capsule') outline = capsule(spot(shape.a), spot(shape.b), shape.width / 2 * camera.scale, (shape.end_width ?? shape.width) / 2 * camera.scale);
  else if (shape.kind === 'disc') {
    const [x, y] = spot(shape.center), r = shape.radius * camera.scale, axis = turn(pose.turn, unit(shape.axis));
    const flat = Math.abs(dot(axis, camera.toward)), along = unit([dot(axis, camera.right), -dot(axis, camera.up), 0]), half = (shape.thickness ?? 0.2 * shape.radius) / 2 * camera.scale;
    outline = flat > 0.7 ? Array.from({ length: 40 }, (_, i) => [x + r * Math.cos(i * Math.PI / 20), y + r * Math.sin(i * Math.PI / 20)] as Spot)
      : [[1, 1], [1, -1], [-1, -1], [-1, 1]].map(([a, b]) => [x + along[0] * half * a - along[1] * r * b, y + along[1] * half * a + along[0] * r * b] as Spot);
  } else outline = hull(boxCorners(shape).map(spot));
  if (outline.length < 2) return;
  trace(g, outline, true);
  finish(p, shape.color, part);
  p.hits.push({ part, outline, reach: 0 });
}
// The eight corners of a box, in the frame of its body.
export function boxCorners(shape: Extract<Shape, { kind: 'box' }>): Vector[] {
  const own = rotation(...(shape.quaternion ?? [1, 0, 0, 0])), [x, y, z] = shape.size;
  return Array.from({ length: 8 }, (_, i) => add(shape.center, turn(own, [(i & 1 ? 0.5 : -0.5) * x, (i & 2 ? 0.5 : -0.5) * y, (i & 4 ? 0.5 : -0.5) * z])));
}
// Points that surround a shape, in the frame of its body.
export function corners(s: Shape): Vector[] {
  return 'points' in s ? s.points : s.kind === 'capsule' ? [s.a, s.b] : s.kind === 'box' ? boxCorners(s) : [0, 1, 2].flatMap(i => [-1, 1].map(f => s.center.map((v, j) => j === i ? v + 0.8 * f * s.radius : v) as Vector));
}
// Two circles and their tangents.
function capsule(a: Spot, b: Spot, ra: number, rb: number): Spot[] {
  const angle = Math.atan2(b[1] - a[1], b[0] - a[0]), lean = Math.acos(Math.max(-1, Math.min(1, (ra - rb) / (Math.hypot(b[0] - a[0], b[1] - a[1]) || 1)))), points: Spot[] = [];
  for (const [c, r, from, to] of [[a, ra, lean, 2 * Math.PI - lean], [b, rb, -lean, lean]] as const) {
    for (let i = 0; i <= 10; i++) {
      const t = angle + from + (to - from) * i / 10;
      points.push([c[0] + r * Math.cos(t), c[1] + r * Math.sin(t)]);
    }
  }
  return points;
}
// Convex hull (Andrew's monotone chain).
export function hull(points: Spot[]): Spot[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]), chain: Spot[] = [];
  for (const list of [sorted, [...sorted].reverse()]) {
    const first = chain.length;
    for (const q of list) {
      while (chain.length > first + 1) {
        const [a, b] = chain.slice(-2);
        if ((b[0] - a[0]) * (q[1] - a[1]) - (b[1] - a[1]) * (q[0] - a[0]) > 0) break;
        chain.pop();
      }
      chain.push(q);
    }
    chain.pop();
  }
  return chain;
}

// A cylinder in section: chambers in the colors of their pressures, piston, rod. Lengths along the axis in m from its first end.
export function paintCylinder(p: Picture, c: CylinderInfo): void {
  const { g, camera, ghost } = p, a = placed(p.poses, c.a), b = placed(p.poses, c.b), length = size(subtract(b, a)), from = camera.project(a), to = camera.project(b);
  const closed = c.closed || 0.6 * length, share = Math.min(1, Math.max(0, (length - closed) / (c.stroke || 0.7 * closed)));
  const width = Math.min(c.diameter, 0.4 * closed), thick = Math.min(0.35 * width, 0.12 * closed), begin = Math.min(0.45 * width, 0.1 * closed), end = Math.max(closed - 0.55 * width, 0.8 * closed);
  const piston = begin + share * (end - begin - thick), px = Math.hypot(to[0] - from[0], to[1] - from[1]) / (length || 1);
  const d = width * camera.scale, rod = Math.min(c.rod || 0.5 * width, 0.62 * width) * camera.scale, line = Math.min(2.2, Math.max(1, 0.11 * d)), stages = Math.max(1, c.stages ?? 1), on = hasPart(c.name);
  const bar = (x0: number, x1: number, tall: number, fill: string) => {
    g.fillStyle = fill;
    g.fillRect(x0 * px, -tall / 2, (x1 - x0) * px, tall);
  };
  const edge = (x0: number, x1: number, tall: number, color: string, w: number, dash?: number[]) => {
    g.beginPath();
    g.roundRect(x0 * px - line / 2, -tall / 2, (x1 - x0) * px + line, tall, 0.12 * tall);
    stroke(g, color, w, dash);
  };
  g.save();
  g.translate(...from);
  g.rotate(Math.atan2(to[1] - from[1], to[0] - from[0]));
  if (isSelecting() && !on) g.globalAlpha = 0.35;
  if (ghost) edge(begin, end, d, ink(ghost), 1.3, [5, 3]);
  else {
    const steel = ink('steel'), line2 = ink('steelline');
    const chamber = (i: number) => (c.chambers?.[i] && pressureColor(data.at(data.find(c.chambers[i]?.pressure, p.of), now))) || ink('notebg');
    // The rod; telescopic cylinders have stages of decreasing width.
    for (let i = stages - 1; i >= 0; i--) {
      const tall = stages === 1 ? rod : rod * (1.55 - 0.85 * i / (stages - 1)), x1 = end + (length - end) * (i + 1) / stages;
      bar(i ? end : piston, x1, tall, steel);
      edge(i ? end : piston, x1, tall, line2, line);
    }
    if (on) edge(begin, end, d, ink('focus'), line + 5);
    bar(begin, piston, d, chamber(0));
    bar(piston, end, d, chamber(1));
    bar(piston + thick, end, Math.max(0.94 * rod, 1), steel);
    bar(piston, piston + thick, d, line2);
    edge(begin, end, d, line2, line);
    bar(end, end + Math.max(0.25 * width, 2 / px), d + line, line2);
    bar(0, begin, 0.52 * d, line2);
  }
  g.restore();
  if (ghost) return;
  if (!p.space) for (const end of [from, to]) paintPin(p, end, Math.max(0.3 * d, 2.5));
  p.hits.push({ part: c.name, outline: [from, to], reach: d / 2 });
}

export function paintPin(p: Picture, at: Spot, radius: number, part = ''): void {
  const { g } = p, r = Math.min(9, Math.max(2.5, radius)), on = part && selectedPart === part;
  circle(g, at, r);
  g.fillStyle = ink('card');
  g.fill();
  stroke(g, ink(on ? 'focus' : 'pin'), Math.max(1.2, 0.5 * r) + (on ? 1.5 : 0));
  if (part) p.hits.push({ part, outline: [at, at], reach: r });
}
// A rod, rope or spring between points; a spring is a zigzag.
export function paintLink(p: Picture, path: Place[], part: string, diameter: number, kind: 'rod' | 'rope' | 'spring'): void {
  const { g, camera } = p, ends = path.map(q => camera.project(placed(p.poses, q))), width = Math.min(28, Math.max(kind === 'spring' ? 8 : 3, diameter * camera.scale));
  const color = ink(p.ghost ? p.ghost : selectedPart === part ? 'focus' : 'pin');
  let points = ends;
  if (kind === 'spring') {
    const [a, b] = ends, n = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
    points = [a, ...Array.from({ length: 17 }, (_, i) => {
      const f = 0.12 + 0.76 * i / 16, side = i % 16 ? (i % 2 - 0.5) * width : 0;
      return [a[0] + (b[0] - a[0]) * f - (b[1] - a[1]) / n * side, a[1] + (b[1] - a[1]) * f + (b[0] - a[0]) / n * side] as Spot;
    }), b];
  }
  trace(g, points);
  g.lineJoin = g.lineCap = 'round';
  if (kind === 'rod') {
    stroke(g, color, width + 2);
    if (!p.ghost) stroke(g, ink('steel'), width);
  } else stroke(g, color, 1.6);
  p.hits.push({ part, outline: ends.slice(0, 2), reach: kind === 'rope' ? 2 : width / 2 });
}
// The part of the picture below a plane; up: the normal of the plane in the picture.
function paintHalf(p: Picture, at: Spot, up: Spot): void {
  const { g } = p, far = 2 * (p.camera.width + p.camera.height), a: Spot = [at[0] - up[1] * far, at[1] + up[0] * far], b: Spot = [at[0] + up[1] * far, at[1] - up[0] * far];
  const [fill, line] = shapeColors(p.scene.ground?.color ?? 'soil');
  trace(g, [a, b, [b[0] - up[0] * far, b[1] - up[1] * far], [a[0] - up[0] * far, a[1] - up[1] * far]], true);
  g.fillStyle = fill;
  g.fill();
  trace(g, [a, b]);
  stroke(g, line, 1.2);
}

// The machine in the plane, from back to front. behind: paints objects between the ground and the machine.
export function paintPlane(p: Picture, behind?: () => void): void {
  const { camera, scene, ghost } = p, { ground } = scene;
  if (!ghost) {
    if (ground?.level != null) paintHalf(p, camera.project(scaled(scene.axes.y, ground.level)), [0, -1]);
    for (const plane of ground?.planes ?? []) {
      const n: Spot = [dot(plane.normal, camera.right), -dot(plane.normal, camera.up)], s = Math.hypot(...n);
      if (s > 0.05) paintHalf(p, camera.project(plane.point), [n[0] / s, n[1] / s]);
    }
  }
  behind?.();
  const cylinders = (behind: boolean) => { for (const c of scene.cylinders ?? []) if (!!c.behind === behind) paintCylinder(p, c); };
  let waiting = true;
  scene.bodies.forEach((body, i) => {
    if (waiting && body.pose) {
      cylinders(true);
      waiting = false;
    }
    for (const shape of body.shapes) paintShape(p, p.poses[i], shape, body.part ?? body.name);
  });
  if (waiting) cylinders(true);
  for (const link of links(scene)) paintLink(p, ...link);
  cylinders(false);
  if (!ghost) for (const j of pins(scene)) paintPin(p, camera.project(placed(p.poses, j.a)), (j.radius ?? 0.012 * scene.size) * camera.scale, j.name);
}
export function links(scene: SceneInfo): [Place[], string, number, 'rod' | 'rope' | 'spring'][] {
  return [...(scene.rods ?? []).map(r => [[r.a, r.b], r.name, r.diameter ?? 0.02 * scene.size, 'rod'] as [Place[], string, number, 'rod']),
    ...(scene.springs ?? []).map(s => [[s.a, s.b], s.name, s.diameter ?? 0.05 * scene.size, 'spring'] as [Place[], string, number, 'spring']),
    ...(scene.ropes ?? []).map(r => [r.path, r.name, 0, 'rope'] as [Place[], string, number, 'rope'])];
}
export function pins(scene: SceneInfo) { return (scene.joints ?? []).filter(j => j.pin ?? !/prismatic|fixed|weld/.test(j.type)); }

// Distance of a place from a line piece, px.
export function distance(at: Spot, a: Spot, b: Spot): number {
  const dx = b[0] - a[0], dy = b[1] - a[1], n = dx * dx + dy * dy, f = n > 0 ? Math.min(1, Math.max(0, ((at[0] - a[0]) * dx + (at[1] - a[1]) * dy) / n)) : 0;
  return Math.hypot(a[0] + f * dx - at[0], a[1] + f * dy - at[1]);
}
export function inside([x, y]: Spot, outline: Spot[]): boolean {
  let odd = false;
  outline.forEach(([xi, yi], i) => {
    const [xj, yj] = outline[(i || outline.length) - 1];
    if (yi > y !== yj > y && x < (xj - xi) * (y - yi) / (yj - yi) + xi) odd = !odd;
  });
  return odd;
}
// The part at a point of the picture: the nearest line within its reach, else the uppermost outline.
export function partAt(hits: Hit[], at: Spot, reach: number): string {
  let best = '', nearest = reach;
  for (const h of hits) if (h.reach) {
    const d = Math.max(0, distance(at, h.outline[0], h.outline[1]) - h.reach);
    if (d <= nearest) { nearest = d; best = h.part; }
  }
  for (let i = hits.length - 1; i >= 0 && !best; i--) if (!hits[i].reach && inside(at, hits[i].outline)) best = hits[i].part;
  return best;
}
