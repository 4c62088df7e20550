// The machine in space: faces sorted by depth and painted from back to front, shaded by one light.
// Large faces are cut into pieces of similar size, so that the order by the depth of centers is correct nearly everywhere.
import type { Spot } from './camera';
import type { CylinderInfo, Place, Shape, Vector } from './contract';
import { across, add, between, cross, dot, placed, rotation, scaled, size, subtract, turn, unit, world } from './pose';
import { chamberColors, cylinderParts, lighter, shapeColors, tracePath } from './machine_paint';
import type { Picture } from './machine_paint';

interface Piece { points: Vector[]; edges: boolean[]; center: Vector }
interface Face { normal: Vector; pieces: Piece[]; color: string | undefined; doubleSided: boolean }
interface Rod { a: Vector; b: Vector; width: number; color: string | undefined }
export interface Solid { faces: Face[][]; rods: Rod[][] }

// Cuts a flat polygon at a plane: points with dot(v, axis) in [low, high].
function slice(points: Vector[], axis: Vector, low: number, high: number): Vector[] {
  const cut = (list: Vector[], side: (v: Vector) => number): Vector[] => {
    const kept: Vector[] = [];
    list.forEach((a, i) => {
      const b = list[(i + 1) % list.length], da = side(a), db = side(b);
      if (da >= 0) kept.push(a);
      if (da * db < 0) kept.push(between(a, b, da / (da - db)));
    });
    return kept;
  };
  return cut(cut(points, v => dot(v, axis) - low), v => high - dot(v, axis));
}

// Pieces of a flat polygon, none larger than most in two directions. Edges of the polygon stay marked: only they are stroked.
function cutFace(points: Vector[], normal: Vector, most: number): Piece[] {
  const ends = points.map((a, i) => [a, points[(i + 1) % points.length]] as [Vector, Vector]);
  const first = unit(subtract(points[1], points[0])), second = unit(cross(normal, first));
  let parts = [points];
  for (const axis of [first, second]) {
    const values = points.map(v => dot(v, axis)), low = Math.min(...values), high = Math.max(...values);
    const count = Math.min(12, Math.max(1, Math.ceil((high - low) / most)));
    if (count === 1) continue;
    const step = (high - low) / count;
    parts = parts.flatMap(part => Array.from({ length: count }, (_, i) => slice(part, axis, low + i * step, low + (i + 1) * step))).filter(q => q.length > 2);
  }
  const tolerance = 1e-6 * most;
  const onBoundary = (v: Vector) => ends.some(([a, b]) => {
    const d = subtract(b, a), n = dot(d, d), f = n > 0 ? dot(subtract(v, a), d) / n : 0;
    return f >= -1e-9 && f <= 1 + 1e-9 && size(subtract(v, add(a, scaled(d, f)))) < tolerance;
  });
  return parts.map(part => ({
    points: part,
    edges: part.map((a, i) => onBoundary(between(a, part[(i + 1) % part.length], 0.5))),
    center: scaled(part.reduce((a, b) => add(a, b), [0, 0, 0] as Vector), 1 / part.length),
  }));
}

// Faces of a prism over a polygon.
function prism(points: Vector[], normal: Vector, thickness: number, most: number, color: string | undefined, smooth: boolean): Face[] {
  const half = scaled(normal, thickness / 2), top = points.map(v => add(v, half)), bottom = points.map(v => subtract(v, half)).reverse();
  const faces: Face[] = [{ normal, pieces: cutFace(top, normal, most), color, doubleSided: false },
    { normal: scaled(normal, -1), pieces: cutFace(bottom, scaled(normal, -1), most), color, doubleSided: false }];
  const turning = points.reduce((sum, a, i) => add(sum, cross(a, points[(i + 1) % points.length])), [0, 0, 0] as Vector);
  const way = dot(turning, normal) >= 0 ? 1 : -1, count = points.length;
  points.forEach((a, i) => {
    const b = points[(i + 1) % count], side = subtract(b, a);
    if (size(side) < 1e-9) return;
    const out = unit(scaled(cross(side, normal), way)), quad = [subtract(a, half), subtract(b, half), add(b, half), add(a, half)];
    const pieces = cutFace(quad, out, most);
    if (smooth) for (const piece of pieces) {   // no strokes between the facets of a curve
      piece.edges = piece.points.map((v, k) => piece.edges[k] && Math.abs(dot(subtract(piece.points[(k + 1) % piece.points.length], v), normal)) < 1e-9);
    }
    faces.push({ normal: out, pieces, color, doubleSided: false });
  });
  return faces;
}

function solidShape(shape: Shape, most: number, faces: Face[], rods: Rod[]): void {
  if (shape.kind === 'outline') {
    if (shape.points.length < 3) return;
    const p = shape.points, normal = unit(p.reduce((sum, a, i) => add(sum, cross(a, p[(i + 1) % p.length])), [0, 0, 0] as Vector));
    if (size(normal) < 0.5) return;
    faces.push(...prism(p, normal, shape.thickness ?? most / 8, most, shape.color, p.length > 16));
  } else if (shape.kind === 'disc') {
    const axis = unit(shape.axis), u = across(axis), v = cross(axis, u), count = 28;
    const rim = Array.from({ length: count }, (_, i) => add(shape.center, add(scaled(u, shape.radius * Math.cos(2 * Math.PI * i / count)), scaled(v, shape.radius * Math.sin(2 * Math.PI * i / count)))));
    faces.push(...prism(rim, axis, shape.thickness ?? 0.2 * shape.radius, most, shape.color, true));
  } else if (shape.kind === 'box') {
    const q = shape.quaternion ?? [1, 0, 0, 0], own = rotation(q[0], q[1], q[2], q[3]), [x, y, z] = shape.size;
    const base = ([[-x / 2, -y / 2, 0], [x / 2, -y / 2, 0], [x / 2, y / 2, 0], [-x / 2, y / 2, 0]] as Vector[]).map(c => add(shape.center, turn(own, c)));
    faces.push(...prism(base, turn(own, [0, 0, 1]), z, most, shape.color, false));
  } else rods.push({ a: shape.a, b: shape.b, width: shape.width, color: shape.color });
}

// Faces and rods of all bodies, in their frames. Made once.
export function makeSolid(p: { scene: Picture['scene'] }): Solid {
  const solid: Solid = { faces: [], rods: [] }, most = p.scene.size / 7;
  for (const body of p.scene.bodies) {
    const faces: Face[] = [], rods: Rod[] = [];
    for (const shape of body.shapes) solidShape(shape, most, faces, rods);
    solid.faces.push(faces);
    solid.rods.push(rods);
  }
  return solid;
}

interface Task { depth: number; paint: () => void }

export function paintSpace(p: Picture, solid: Solid): void {
  const { camera, scene, app } = p, tasks: Task[] = [];
  if (!p.ghost) paintFloor(p);
  const light = unit(add(camera.toward, add(scaled(camera.up, 0.9), scaled(camera.right, -0.45))));
  scene.bodies.forEach((body, i) => {
    const pose = p.poses[i], part = body.part ?? body.name, selected = app.selection.part !== '' && app.selection.part === part;
    for (const face of solid.faces[i]) {
      const normal = turn(pose.turn, face.normal);
      if (dot(normal, camera.toward) <= 1e-6) continue;
      const [fill, line] = shapeColors(p, face.color), shade = dot(normal, light);
      const color = selected ? app.theme.color('--focus') : lighter(fill, Math.round((0.16 * shade - 0.28 * (1 - Math.max(0, shade))) * 24) / 24);
      for (const piece of face.pieces) tasks.push({ depth: camera.depth(world(pose, piece.center)), paint: () => paintPiece(p, piece.points.map(v => camera.project(world(pose, v))), piece.edges, color, line, part) });
    }
    for (const rod of solid.rods[i]) pushBar(p, tasks, world(pose, rod.a), world(pose, rod.b), rod.width, selected ? app.theme.color('--focus') : shapeColors(p, rod.color)[0], shapeColors(p, rod.color)[1], part, 'round');
  });
  for (const c of scene.cylinders ?? []) pushCylinder(p, tasks, c);
  const steel = shapeColors(p, 'steel');
  for (const r of scene.rods ?? []) pushBar(p, tasks, placed(p.poses, r.a), placed(p.poses, r.b), r.diameter ?? 0.02 * scene.size, steel[0], steel[1], r.name, 'round');
  for (const s of scene.springs ?? []) pushSpring(p, tasks, s.a, s.b, s.name, s.diameter ?? 0.05 * scene.size);
  for (const r of scene.ropes ?? []) for (let i = 1; i < r.path.length; i++) {
    pushBar(p, tasks, placed(p.poses, r.path[i - 1]), placed(p.poses, r.path[i]), 0.006 * scene.size, app.theme.color('--pin'), app.theme.color('--pin'), r.name, 'butt');
  }
  if (!p.ghost) for (const j of scene.joints ?? []) {
    if (j.type === 'prismatic' || j.type === 'fixed' || j.type === 'weld') continue;
    const at = placed(p.poses, j.a), radius = Math.min(9, Math.max(2, (j.radius ?? 0.012 * scene.size) * camera.scale)), spot = camera.project(at);
    tasks.push({ depth: camera.depth(at) + (j.radius ?? 0.012 * scene.size), paint: () => paintBall(p, spot, radius, j.name) });
  }
  tasks.sort((a, b) => a.depth - b.depth);
  for (const task of tasks) task.paint();
}

function paintPiece(p: Picture, points: Spot[], edges: boolean[], color: string, line: string, part: string): void {
  const { g } = p;
  if (!p.ghost) {
    tracePath(g, points, true);
    g.fillStyle = g.strokeStyle = color;
    g.lineWidth = 0.7;      // closes the seams between pieces
    g.fill();
    g.stroke();
    p.hits.push({ part, outline: points });
  }
  g.strokeStyle = p.ghost ? p.app.theme.color('--ghost') : line;
  g.lineWidth = p.ghost ? 1 : 1.1;
  g.lineCap = 'round';
  if (p.ghost) g.setLineDash([4, 3]);
  g.beginPath();
  edges.forEach((edge, i) => {
    if (!edge) return;
    const a = points[i], b = points[(i + 1) % points.length];
    g.moveTo(a[0], a[1]);
    g.lineTo(b[0], b[1]);
  });
  g.stroke();
  g.setLineDash([]);
}

// A round bar as thick lines: edge, color, and a bright stripe. Cut into pieces along its length.
function pushBar(p: Picture, tasks: Task[], a: Vector, b: Vector, width: number, fill: string, line: string, part: string, cap: CanvasLineCap, pieces = 0): void {
  const { camera, g } = p, length = size(subtract(b, a)), count = pieces || Math.min(8, Math.max(1, Math.ceil(length / (p.scene.size / 8))));
  const w = Math.max(1.5, width * camera.scale);
  for (let i = 0; i < count; i++) {
    const from = between(a, b, i / count), to = between(a, b, (i + 1) / count), s = camera.project(from), e = camera.project(to);
    tasks.push({ depth: camera.depth(between(from, to, 0.5)) + width / 2, paint: () => {
      if (p.ghost) {
        g.strokeStyle = p.app.theme.color('--ghost');
        g.lineWidth = 1.3;
        tracePath(g, [s, e], false);
        g.stroke();
        return;
      }
      g.lineCap = cap === 'round' && count > 1 && i > 0 && i < count - 1 ? 'butt' : cap;
      const n = Math.hypot(e[0] - s[0], e[1] - s[1]) || 1, over = cap === 'butt' ? 0.4 : 0;
      const end: Spot = [e[0] + (e[0] - s[0]) / n * over, e[1] + (e[1] - s[1]) / n * over];
      tracePath(g, [s, end], false);
      g.strokeStyle = line;
      g.lineWidth = w + 2;
      g.stroke();
      g.strokeStyle = fill;
      g.lineWidth = w;
      g.stroke();
      if (w > 4 && fill[0] === '#') {
        const nx = -(e[1] - s[1]) / n * w * 0.2, ny = (e[0] - s[0]) / n * w * 0.2, up = ny < 0 ? 1 : -1;
        tracePath(g, [[s[0] + nx * up, s[1] + ny * up], [end[0] + nx * up, end[1] + ny * up]], false);
        g.lineCap = 'butt';
        g.strokeStyle = lighter(fill, 0.28);
        g.lineWidth = w * 0.24;
        g.stroke();
      }
      p.hits.push({ part, from: s, to: e, reach: w / 2 });
    } });
  }
}

function pushCylinder(p: Picture, tasks: Task[], c: CylinderInfo): void {
  const q = cylinderParts(p, c), at = (m: number) => add(q.from, scaled(q.axis, m)), [first, second] = chamberColors(p, c);
  const [steel, dark] = shapeColors(p, 'steel'), selected = p.app.selection.hasPart(c.name), edge = selected ? p.app.theme.color('--focus') : dark;
  const stages = Math.max(1, c.stages ?? 1);
  pushBar(p, tasks, at(0), at(q.start), q.rod, steel, edge, c.name, 'butt', 1);
  pushBar(p, tasks, at(q.start), at(q.piston), q.width, first, edge, c.name, 'butt');
  pushBar(p, tasks, at(q.piston), at(q.piston + q.thick), q.width, edge, edge, c.name, 'butt', 1);
  pushBar(p, tasks, at(q.piston + q.thick), at(q.end), q.width, second, edge, c.name, 'butt');
  for (let i = 0; i < stages; i++) {
    const begin = q.end + (q.length - q.end) * i / stages, end = q.end + (q.length - q.end) * (i + 1) / stages;
    pushBar(p, tasks, at(begin), at(end), stages === 1 ? q.rod : q.rod * (1.5 - 0.8 * i / (stages - 1)), steel, edge, c.name, 'butt');
  }
}

function pushSpring(p: Picture, tasks: Task[], a: Place, b: Place, part: string, diameter: number): void {
  const from = placed(p.poses, a), to = placed(p.poses, b), axis = subtract(to, from), u = across(axis), v = cross(unit(axis), u), turns = 7, points: Vector[] = [];
  for (let i = 0; i <= turns * 12; i++) {
    const angle = 2 * Math.PI * i / 12, f = 0.1 + 0.8 * i / (turns * 12);
    points.push(add(between(from, to, f), add(scaled(u, diameter / 2 * Math.cos(angle)), scaled(v, diameter / 2 * Math.sin(angle)))));
  }
  const spots = [from, ...points, to].map(q => p.camera.project(q)), { g } = p;
  tasks.push({ depth: p.camera.depth(between(from, to, 0.5)), paint: () => {
    tracePath(g, spots, false);
    g.lineJoin = 'round';
    g.strokeStyle = p.app.theme.color(p.ghost ? '--ghost' : p.app.selection.part === part ? '--focus' : '--pin');
    g.lineWidth = 1.6;
    g.stroke();
    p.hits.push({ part, from: spots[0], to: spots[spots.length - 1], reach: diameter / 2 * p.camera.scale });
  } });
}

function paintBall(p: Picture, at: Spot, radius: number, part: string): void {
  const { g, app } = p;
  g.beginPath();
  g.arc(at[0], at[1], radius, 0, 7);
  g.fillStyle = app.theme.color('--steel');
  g.fill();
  g.strokeStyle = app.theme.color(app.selection.part === part ? '--focus' : '--pin');
  g.lineWidth = app.selection.part === part ? 3 : 1.2;
  g.stroke();
  p.hits.push({ part, from: at, to: at, reach: radius + 1 });
}

// A square of ground with a grid, below everything.
function paintFloor(p: Picture): void {
  const { g, camera, scene, app } = p, level = scene.ground?.level;
  if (level === null || level === undefined || dot(scene.axes.y, camera.toward) < 0) return;
  const { x, y, normal } = scene.axes, { low, high } = scene.bounds, middle = scaled(add(low, high), 0.5);
  const center = add(subtract(middle, scaled(y, dot(middle, y))), scaled(y, level));
  const reach = 0.75 * Math.max(size(subtract(high, low)) * 0.75, scene.size), step = niceStep(reach / 5), count = Math.ceil(reach / step), end = count * step;
  const at = (u: number, v: number) => camera.project(add(center, add(scaled(x, u), scaled(normal, v))));
  tracePath(g, [at(-end, -end), at(end, -end), at(end, end), at(-end, end)], true);
  g.fillStyle = app.theme.color('--soil');
  g.globalAlpha = 0.55;
  g.fill();
  g.globalAlpha = 0.35;
  g.strokeStyle = app.theme.color('--soilline');
  g.lineWidth = 0.8;
  g.beginPath();
  for (let i = -count; i <= count; i++) for (const [a, b] of [[at(i * step, -end), at(i * step, end)], [at(-end, i * step), at(end, i * step)]]) {
    g.moveTo(a[0], a[1]);
    g.lineTo(b[0], b[1]);
  }
  g.stroke();
  g.globalAlpha = 1;
}
function niceStep(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return (value / power > 5 ? 5 : value / power > 2 ? 2 : 1) * power;
}
