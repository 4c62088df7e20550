// The machine in space: faces and elements painted from back to front, shaded by one light.
import type { Spot } from './camera';
import type { Shape, Vector } from './contract';
import type { Picture } from './machine_paint';
import { across, add, between, cross, dot, placed, scaled, size, subtract, turn, unit, world } from './pose';
import { paintSorted } from './depth_order';
import type { Item } from './depth_order';
import { boxCorners, links, paintCylinder, paintLink, paintPin, paintShape, pins, shapeColors, stroke, tint, trace } from './machine_paint';
import { ink } from './theme';
import { niceStep } from './units';
import { selectedPart } from './selection';

interface Face { normal: Vector; points: Vector[]; edges: boolean[]; color: string | undefined }
export type Solid = { faces: Face[]; rest: Shape[] }[];
// Faces of a prism over a polygon. Smooth: without edges along the normal.
function prism(points: Vector[], normal: Vector, thickness: number, color: string | undefined, smooth: boolean): Face[] {
  const half = scaled(normal, thickness / 2), area = points.map((a, i) => cross(a, points[(i + 1) % points.length])).reduce(add), way = dot(area, normal) >= 0 ? 1 : -1;
  const face = (p: Vector[], n: Vector, smooth = false): Face => ({ points: p, normal: n, color, edges: p.map((_, i) => !smooth || i % 2 === 0) });
  return [face(points.map(v => add(v, half)), normal), face(points.map(v => subtract(v, half)), scaled(normal, -1)), ...points.flatMap((a, i) => {
    const b = points[(i + 1) % points.length], out = scaled(unit(cross(subtract(b, a), normal)), way);
    return size(subtract(b, a)) < 1e-9 ? [] : [face([subtract(a, half), subtract(b, half), add(b, half), add(a, half)], out, smooth)];
  })];
}
function facesOf(shape: Shape, thin: number): Face[] {
  if (shape.kind === 'outline' && shape.points.length > 2) {
    const normal = shape.normal ?? unit(shape.points.map((a, i, p) => cross(a, p[(i + 1) % p.length])).reduce(add));
    return prism(shape.points, normal, shape.thickness || thin, shape.color, shape.points.length > 16);
  }
  if (shape.kind === 'disc') {
    const axis = unit(shape.axis), u = across(axis), v = cross(axis, u), rim = Array.from({ length: 28 }, (_, i) => add(shape.center, add(scaled(u, shape.radius * Math.cos(Math.PI * i / 14)), scaled(v, shape.radius * Math.sin(Math.PI * i / 14)))));
    return prism(rim, axis, shape.thickness ?? 0.2 * shape.radius, shape.color, true);
  }
  if (shape.kind !== 'box') return [];
  const c = boxCorners(shape), up = subtract(c[4], c[0]), base = [c[0], c[1], c[3], c[2]].map(v => add(v, scaled(up, 0.5)));
  return prism(base, unit(up), size(up), shape.color, false);
}
// Faces of all bodies, in their frames, made once; rest: shapes that are painted as flat shapes.
export function makeSolid(scene: Picture['scene']): Solid {
  return scene.bodies.map(body => ({ faces: body.shapes.flatMap(s => facesOf(s, scene.size / 56)), rest: body.shapes.filter(s => s.kind === 'capsule') }));
}

export function paintSpace(p: Picture, solid: Solid): void {
  const { g, camera, scene, poses, ghost } = p, items: Item[] = [], nearer = (v: Vector, by: number) => add(v, scaled(camera.toward, by));
  // A long element is painted in strips across the picture.
  const long = (a: Vector, b: Vector, reach: number, paint: () => void) => {
    const count = Math.min(6, Math.ceil(size(subtract(b, a)) / (scene.size / 6)) || 1);
    for (let i = 0; i < count; i++) items.push({ points: [i, i + 1].map(k => nearer(between(a, b, k / count), reach)), edges: [!i, i === count - 1], paint({ points, edges }) {
      const [s, e] = points.map(camera.project), n = Math.hypot(e[0] - s[0], e[1] - s[1]) || 1, ux = (e[0] - s[0]) / n, uy = (e[1] - s[1]) / n, from = edges[0] ? -60 : -0.3, to = n + (edges[1] ? 60 : 0.3);
      const corner = (t: number, w: number): Spot => [s[0] + ux * t - uy * w, s[1] + uy * t + ux * w];
      g.save();
      trace(g, [corner(from, -60), corner(to, -60), corner(to, 60), corner(from, 60)], true);
      g.clip();
      paint();
      g.restore();
    } });
  };
  if (!ghost) paintFloor(p);
  const light = unit(add(camera.toward, add(scaled(camera.up, 0.9), scaled(camera.right, -0.45))));
  scene.bodies.forEach((body, i) => {
    const pose = poses[i], part = body.part ?? body.name;
    for (const face of solid[i].faces) {
      const normal = turn(pose.turn, face.normal), shade = dot(normal, light);
      if (dot(normal, camera.toward) <= 1e-6) continue;
      const [fill, line] = shapeColors(face.color), color = tint(selectedPart === part ? ink('focus') : fill, Math.round((0.16 * shade - 0.28 * (1 - Math.max(0, shade))) * 24) / 24);
      items.push({ normal, points: face.points.map(v => world(pose, v)), edges: face.edges, paint(item) {
        const points = item.points.map(camera.project);
        if (!ghost) {
          trace(g, points, true);
          g.fillStyle = color;
          g.fill();
          stroke(g, color, 0.7);    // closes the gaps between pieces
          p.hits.push({ part, outline: points, reach: 0 });
        }
        g.beginPath();
        item.edges.forEach((edge, k) => {
          if (!edge) return;
          g.moveTo(...points[k]);
          g.lineTo(...points[(k + 1) % points.length]);
        });
        g.lineCap = 'round';
        stroke(g, ghost ? ink(ghost) : line, 1.1, ghost ? [4, 3] : []);
      } });
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
    items.push({ points: [nearer(at, radius)], edges: [], paint: () => paintPin(p, camera.project(at), radius * camera.scale, j.name) });
  }
  if (ghost) for (const item of items) item.paint(item);    // outlines have no order
  else paintSorted(items, camera.toward, 1e-6 * scene.size);
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
