// The machine in space: faces sorted by depth and painted from back to front, shaded by one light.
// Large faces are cut into pieces of similar size, so that the order by the depth of centers is correct nearly everywhere.
import type { Spot } from './camera';
import type { Shape, Vector } from './contract';
import type { Picture } from './machine_paint';
import { across, add, between, cross, dot, placed, scaled, size, subtract, turn, unit, world } from './pose';
import { boxCorners, links, paintCylinder, paintLink, paintPin, paintShape, pins, shapeColors, stroke, tint, trace } from './machine_paint';
import { ink } from './theme';
import { niceStep } from './units';
import { selectedPart } from './selection';

interface Piece { points: Vector[]; edges: boolean[]; center: Vector }
interface Face { normal: Vector; pieces: Piece[]; color: string | undefined }
export type Solid = { faces: Face[]; rest: Shape[] }[];

const middle = (points: Vector[]) => scaled(points.reduce(add), 1 / points.length);
// The part of a flat polygon on the side of a plane where side() is not negative.
function cut(points: Vector[], side: (v: Vector) => number): Vector[] {
  return points.flatMap((a, i) => {
    const b = points[(i + 1) % points.length], da = side(a), db = side(b);
    return [...(da >= 0 ? [a] : []), ...(da * db < 0 ? [between(a, b, da / (da - db))] : [])];
  });
}
// Divides a face into pieces of limited length in two directions. Only edges of the whole face are stroked; smooth: no edges along the normal of
// the prism.
function makeFace(points: Vector[], normal: Vector, most: number, color: string | undefined, smooth?: Vector): Face {
  const first = unit(subtract(points[1], points[0]));
  let parts = [points];
  for (const axis of [first, cross(normal, first)]) {
    const values = points.map(v => dot(v, axis)), low = Math.min(...values), high = Math.max(...values), count = Math.min(12, Math.max(1, Math.ceil((high - low) / most))), step = (high - low) / count;
    if (count > 1) parts = parts.flatMap(part => Array.from({ length: count }, (_, i) => cut(cut(part, v => dot(v, axis) - low - i * step), v => low + (i + 1) * step - dot(v, axis)))).filter(q => q.length > 2);
  }
  const outer = (a: Vector, b: Vector) => (!smooth || Math.abs(dot(unit(subtract(b, a)), smooth)) < 0.5) && points.some((c, i) => {
    const v = between(a, b, 0.5), d = subtract(points[(i + 1) % points.length], c), f = dot(subtract(v, c), d) / (dot(d, d) || 1);
    return f > -1e-9 && f < 1 + 1e-9 && size(subtract(v, add(c, scaled(d, f)))) < 1e-6 * most;
  });
  return { normal, color, pieces: parts.map(q => ({ points: q, edges: q.map((a, i) => outer(a, q[(i + 1) % q.length])), center: middle(q) })) };
}
// Faces of a prism over a polygon.
function prism(points: Vector[], normal: Vector, thickness: number, most: number, color: string | undefined, smooth: boolean): Face[] {
  const half = scaled(normal, thickness / 2), area = points.map((a, i) => cross(a, points[(i + 1) % points.length])).reduce(add), way = dot(area, normal) >= 0 ? 1 : -1;
  return [makeFace(points.map(v => add(v, half)), normal, most, color), makeFace(points.map(v => subtract(v, half)), scaled(normal, -1), most, color), ...points.flatMap((a, i) => {
    const b = points[(i + 1) % points.length], out = scaled(unit(cross(subtract(b, a), normal)), way);
    return size(subtract(b, a)) < 1e-9 ? [] : [makeFace([subtract(a, half), subtract(b, half), add(b, half), add(a, half)], out, most, color, smooth ? normal : undefined)];
  })];
}
function facesOf(shape: Shape, most: number): Face[] {
  if (shape.kind === 'outline' && shape.points.length > 2) {
    const normal = shape.normal ?? unit(shape.points.map((a, i, p) => cross(a, p[(i + 1) % p.length])).reduce(add));
    return prism(shape.points, normal, shape.thickness || most / 8, most, shape.color, shape.points.length > 16);
  }
  if (shape.kind === 'disc') {
    const axis = unit(shape.axis), u = across(axis), v = cross(axis, u), rim = Array.from({ length: 28 }, (_, i) => add(shape.center, add(scaled(u, shape.radius * Math.cos(Math.PI * i / 14)), scaled(v, shape.radius * Math.sin(Math.PI * i / 14)))));
    return prism(rim, axis, shape.thickness ?? 0.2 * shape.radius, most, shape.color, true);
  }
  if (shape.kind !== 'box') return [];
  const c = boxCorners(shape), up = subtract(c[4], c[0]), base = [c[0], c[1], c[3], c[2]].map(v => add(v, scaled(up, 0.5)));
  return prism(base, unit(up), size(up), most, shape.color, false);
}
// Faces of all bodies, in their frames, made once; rest: shapes that are painted as flat shapes.
export function makeSolid(scene: Picture['scene']): Solid {
  return scene.bodies.map(body => ({ faces: body.shapes.flatMap(s => facesOf(s, scene.size / 7)), rest: body.shapes.filter(s => s.kind === 'capsule') }));
}

export function paintSpace(p: Picture, solid: Solid): void {
  const { g, camera, scene, poses, ghost } = p, tasks: [number, () => void][] = [];
  const task = (at: Vector, nearer: number, paint: () => void) => tasks.push([dot(at, camera.toward) + nearer, paint]);
  // A long element is painted in strips across the picture, each at its own depth.
  const long = (a: Vector, b: Vector, reach: number, paint: () => void) => {
    const count = Math.min(6, Math.max(1, Math.ceil(size(subtract(b, a)) / (scene.size / 6)))), s = camera.project(a), e = camera.project(b), n = Math.hypot(e[0] - s[0], e[1] - s[1]) || 1;
    const ux = (e[0] - s[0]) / n, uy = (e[1] - s[1]) / n;
    for (let i = 0; i < count; i++) task(between(a, b, (i + 0.5) / count), reach, () => {
      const from = i ? n * i / count : -60, to = i < count - 1 ? n * (i + 1) / count : n + 60;
      const corner = (t: number, w: number): Spot => [s[0] + ux * t - uy * w, s[1] + uy * t + ux * w];
      g.save();
      trace(g, [corner(from, -60), corner(to, -60), corner(to, 60), corner(from, 60)], true);
      g.clip();
      paint();
      g.restore();
    });
  };
  if (!ghost) paintFloor(p);
  const light = unit(add(camera.toward, add(scaled(camera.up, 0.9), scaled(camera.right, -0.45))));
  scene.bodies.forEach((body, i) => {
    const pose = poses[i], part = body.part ?? body.name;
    for (const face of solid[i].faces) {
      const normal = turn(pose.turn, face.normal), shade = dot(normal, light);
      if (dot(normal, camera.toward) <= 1e-6) continue;
      const [fill, line] = shapeColors(face.color), color = tint(selectedPart === part ? ink('focus') : fill, Math.round((0.16 * shade - 0.28 * (1 - Math.max(0, shade))) * 24) / 24);
      for (const piece of face.pieces) task(world(pose, piece.center), 0, () => {
        const points = piece.points.map(v => camera.project(world(pose, v)));
        if (!ghost) {
          trace(g, points, true);
          g.fillStyle = color;
          g.fill();
          stroke(g, color, 0.7);    // closes the gaps between pieces
          p.hits.push({ part, outline: points, reach: 0 });
        }
        g.beginPath();
        piece.edges.forEach((edge, k) => {
          if (!edge) return;
          g.moveTo(...points[k]);
          g.lineTo(...points[(k + 1) % points.length]);
        });
        g.lineCap = 'round';
        stroke(g, ghost ? ink(ghost) : line, 1.1, ghost ? [4, 3] : []);
      });
    }
    for (const s of solid[i].rest) if (s.kind === 'capsule') long(world(pose, s.a), world(pose, s.b), s.width / 2, () => paintShape(p, pose, s, part));
  });
  for (const c of scene.cylinders ?? []) long(placed(poses, c.a), placed(poses, c.b), c.diameter / 2, () => paintCylinder(p, c));
  for (const link of links(scene)) {
    const path = link[0].map(q => placed(poses, q));
    for (let i = 1; i < path.length; i++) long(path[i - 1], path[i], link[2] / 2, () => paintLink(p, link[0].slice(i - 1, i + 1), link[1], link[2], link[3]));
  }
  if (!ghost) for (const j of pins(scene)) {
    const at = placed(poses, j.a), radius = j.radius ?? 0.012 * scene.size;
    task(at, radius, () => paintPin(p, camera.project(at), radius * camera.scale, j.name));
  }
  tasks.sort((a, b) => a[0] - b[0]);
  for (const [, paint] of tasks) paint();
}

// A square of ground with a grid, below everything.
function paintFloor({ g, camera, scene }: Picture): void {
  const level = scene.ground?.level, { x, y, normal } = scene.axes, { low, high } = scene.bounds, center = scaled(add(low, high), 0.5);
  if (level == null || dot(y, camera.toward) < 0) return;
  const reach = 0.42 * Math.max(size(subtract(high, low)), scene.size), step = niceStep(reach / 8), count = Math.ceil(reach / step), end = count * step, [fill, line] = shapeColors('soil');
  const at = (u: number, v: number) => camera.project(add(add(center, scaled(y, level - dot(center, y))), add(scaled(x, u), scaled(normal, v))));
  trace(g, [at(-end, -end), at(end, -end), at(end, end), at(-end, end)], true);
  g.fillStyle = fill;
  g.globalAlpha = 0.55;
  g.fill();
  g.globalAlpha = 0.35;
  g.beginPath();
  for (let i = -count; i <= count; i++) for (const [a, b] of [[at(i * step, -end), at(i * step, end)], [at(-end, i * step), at(end, i * step)]]) {
    g.moveTo(...a);
    g.lineTo(...b);
  }
  stroke(g, line, 0.8);
  g.globalAlpha = 1;
}
