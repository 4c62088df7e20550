// The machine in the plane: flat bodies with outlines, cylinders cut open, pins on top.
import type { Spot } from './camera';
import type { CylinderInfo, Place, Shape, Vector } from './contract';
import type { Pose } from './pose';
import { add, dot, placed, rotation, scaled, turn, unit, world } from './pose';
import { chamberColors, cylinderParts, roundPath, shapeColors, tracePath } from './machine_paint';
import type { Picture } from './machine_paint';

// Width of the outlines of bodies, px.
function lineWidth(p: Picture): number { return Math.min(2.6, Math.max(1, p.scene.size * 0.0046 * p.camera.scale)); }

export function paintPlane(p: Picture): void {
  if (!p.ghost) paintGround(p);
  p.scene.bodies.forEach((body, i) => {
    const part = body.part ?? body.name, selected = p.app.selection.any && p.app.selection.hasPart(part) && p.app.selection.part === part;
    for (const shape of body.shapes) paintShape(p, p.poses[i], shape, part, selected);
  });
  for (const r of p.scene.rods ?? []) paintRod(p, r.a, r.b, r.name, r.diameter ?? 0.02 * p.scene.size);
  for (const s of p.scene.springs ?? []) paintSpring(p, s.a, s.b, s.name, s.diameter ?? 0.05 * p.scene.size);
  for (const r of p.scene.ropes ?? []) paintRope(p, r.path, r.name);
  for (const c of p.scene.cylinders ?? []) paintCylinder(p, c);
  if (!p.ghost) for (const j of p.scene.joints ?? []) {
    if (j.type !== 'prismatic' && j.type !== 'fixed' && j.type !== 'weld') paintPin(p, p.camera.project(placed(p.poses, j.a)), (j.radius ?? 0.012 * p.scene.size) * p.camera.scale, j.name);
  }
}

function paintGround(p: Picture): void {
  const { g, camera, scene, app } = p, level = scene.ground?.level;
  if (level !== null && level !== undefined) {
    const y = camera.project(scaled(scene.axes.y, level))[1];
    if (y < camera.height) {
      g.fillStyle = app.theme.color('--soil');
      g.fillRect(0, y, camera.width, camera.height - y);
      g.strokeStyle = app.theme.color('--soilline');
      g.lineWidth = 1.2;
      tracePath(g, [[0, y], [camera.width, y]], false);
      g.stroke();
    }
  }
  for (const plane of scene.ground?.planes ?? []) {
    const at = camera.project(plane.point), n: Spot = [dot(plane.normal, camera.right), -dot(plane.normal, camera.up)], length = Math.hypot(n[0], n[1]);
    if (length < 0.05) continue;
    const u: Spot = [-n[1] / length, n[0] / length], far = camera.width + camera.height, down: Spot = [-n[0] / length * far, -n[1] / length * far];
    const a: Spot = [at[0] - u[0] * far, at[1] - u[1] * far], b: Spot = [at[0] + u[0] * far, at[1] + u[1] * far];
    g.fillStyle = app.theme.color('--soil');
    tracePath(g, [a, b, [b[0] + down[0], b[1] + down[1]], [a[0] + down[0], a[1] + down[1]]], true);
    g.fill();
    g.strokeStyle = app.theme.color('--soilline');
    g.lineWidth = 1.2;
    tracePath(g, [a, b], false);
    g.stroke();
  }
}

// Fills and strokes the current path.
function finish(p: Picture, fill: string, line: string, selected: boolean): void {
  const { g } = p;
  g.lineJoin = 'round';
  if (p.ghost) {
    g.setLineDash([5, 3]);
    g.strokeStyle = p.app.theme.color('--ghost');
    g.lineWidth = 1.3;
    g.stroke();
    g.setLineDash([]);
    return;
  }
  if (selected) {
    g.strokeStyle = p.app.theme.color('--focus');
    g.lineWidth = lineWidth(p) + 5;
    g.stroke();
  }
  g.fillStyle = fill;
  g.fill();
  g.strokeStyle = line;
  g.lineWidth = lineWidth(p);
  g.stroke();
}

function paintShape(p: Picture, pose: Pose, shape: Shape, part: string, selected: boolean): void {
  const { g, camera } = p, [fill, line] = shapeColors(p, shape.color);
  const spot = (v: Vector): Spot => camera.project(world(pose, v));
  if (shape.kind === 'outline') {
    const points = shape.points.map(spot);
    if (points.length < 2) return;
    if (shape.round && points.length < 12) roundPath(g, points, shape.round * camera.scale); else tracePath(g, points, true);
    finish(p, fill, line, selected);
    p.hits.push({ part, outline: points });
  } else if (shape.kind === 'capsule') {
    paintCapsule(p, spot(shape.a), spot(shape.b), shape.width * camera.scale, fill, line, part, selected);
  } else if (shape.kind === 'disc') {
    const center = spot(shape.center), radius = shape.radius * camera.scale, axis = turn(pose.turn, unit(shape.axis));
    const points: Spot[] = [];
    if (Math.abs(dot(axis, camera.toward)) > 0.7) {
      g.beginPath();
      g.arc(center[0], center[1], radius, 0, 7);
      for (let i = 0; i < 12; i++) points.push([center[0] + radius * Math.cos(i * Math.PI / 6), center[1] + radius * Math.sin(i * Math.PI / 6)]);
    } else {
      const along = unit([dot(axis, camera.right), dot(axis, camera.up), 0]), half = (shape.thickness ?? 0.2 * shape.radius) / 2 * camera.scale;
      for (const [a, b] of [[1, 1], [1, -1], [-1, -1], [-1, 1]]) {
        points.push([center[0] + along[0] * half * a + along[1] * radius * b, center[1] - along[1] * half * a + along[0] * radius * b]);
      }
      tracePath(g, points, true);
    }
    finish(p, fill, line, selected);
    p.hits.push({ part, outline: points });
  } else {
    const q = shape.quaternion ?? [1, 0, 0, 0], own = rotation(q[0], q[1], q[2], q[3]), corners: Spot[] = [];
    for (let i = 0; i < 8; i++) {
      const corner: Vector = [(i & 1 ? 0.5 : -0.5) * shape.size[0], (i & 2 ? 0.5 : -0.5) * shape.size[1], (i & 4 ? 0.5 : -0.5) * shape.size[2]];
      corners.push(spot(add(shape.center, turn(own, corner))));
    }
    const points = hull(corners);
    tracePath(g, points, true);
    finish(p, fill, line, selected);
    p.hits.push({ part, outline: points });
  }
}

// Convex hull (Andrew's monotone chain).
export function hull(points: Spot[]): Spot[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list: Spot[]): Spot[] => {
    const chain: Spot[] = [];
    for (const q of list) {
      while (chain.length > 1) {
        const a = chain[chain.length - 2], b = chain[chain.length - 1];
        if ((b[0] - a[0]) * (q[1] - a[1]) - (b[1] - a[1]) * (q[0] - a[0]) > 0) break;
        chain.pop();
      }
      chain.push(q);
    }
    chain.pop();
    return chain;
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

function paintCapsule(p: Picture, a: Spot, b: Spot, width: number, fill: string, line: string, part: string, selected: boolean): void {
  const { g } = p, angle = Math.atan2(b[1] - a[1], b[0] - a[0]), r = width / 2;
  g.beginPath();
  g.arc(a[0], a[1], r, angle + Math.PI / 2, angle - Math.PI / 2);
  g.arc(b[0], b[1], r, angle - Math.PI / 2, angle + Math.PI / 2);
  g.closePath();
  finish(p, fill, line, selected);
  const nx = -Math.sin(angle) * r, ny = Math.cos(angle) * r;
  p.hits.push({ part, outline: [[a[0] + nx, a[1] + ny], [b[0] + nx, b[1] + ny], [b[0] - nx, b[1] - ny], [a[0] - nx, a[1] - ny]] });
}

function paintCylinder(p: Picture, c: CylinderInfo): void {
  const { g, camera, app } = p, q = cylinderParts(p, c), s = camera.scale, from = camera.project(q.from);
  const to = camera.project(add(q.from, scaled(q.axis, q.length)));
  const px = Math.hypot(to[0] - from[0], to[1] - from[1]) / (q.length || 1), d = q.width * s, rod = q.rod * s;
  const x = (m: number) => m * px, selected = app.selection.hasPart(c.name), part = c.name, stages = Math.max(1, c.stages ?? 1);
  g.save();
  g.translate(from[0], from[1]);
  g.rotate(Math.atan2(to[1] - from[1], to[0] - from[0]));
  if (p.ghost) {
    g.setLineDash([5, 3]);
    g.strokeStyle = app.theme.color('--ghost');
    g.lineWidth = 1.3;
    g.strokeRect(x(q.start), -d / 2, x(q.end - q.start), d);
    tracePath(g, [[x(q.end), 0], [x(q.length), 0]], false);
    g.stroke();
    g.restore();
    return;
  }
  if (app.selection.any && !selected) g.globalAlpha = 0.35;
  const [first, second] = chamberColors(p, c), steel = app.theme.color('--steel'), dark = app.theme.color('--steelline');
  const line = Math.min(2.2, Math.max(1, 0.11 * d));
  g.lineWidth = line;
  g.strokeStyle = dark;
  g.fillStyle = steel;
  // The rod, in stages of decreasing width for telescopic cylinders.
  for (let i = stages - 1; i >= 0; i--) {
    const width = stages === 1 ? rod : rod * (1.55 - 0.85 * i / (stages - 1)), end = q.end + (q.length - q.end) * (i + 1) / stages;
    const begin = i === 0 ? q.piston : q.end - 0.02 * q.end;
    g.beginPath();
    g.rect(x(begin), -width / 2, x(end - begin), width);
    g.fill();
    g.stroke();
  }
  if (selected) {
    g.strokeStyle = app.theme.color('--focus');
    g.lineWidth = line + 5;
    g.strokeRect(x(q.start), -d / 2, x(q.end - q.start), d);
    g.lineWidth = line;
    g.strokeStyle = dark;
  }
  const inner = Math.max(rod * 0.94, 1);
  g.fillStyle = first;
  g.fillRect(x(q.start), -d / 2, x(q.piston - q.start), d);
  g.fillStyle = second;
  g.fillRect(x(q.piston), -d / 2, x(q.end - q.piston), d);
  g.fillStyle = steel;
  g.fillRect(x(q.piston + q.thick), -inner / 2, x(q.end - q.piston - q.thick), inner);
  g.fillStyle = dark;
  g.fillRect(x(q.piston), -d / 2, x(q.thick), d);
  g.beginPath();
  g.roundRect(x(q.start) - line, -d / 2, x(q.end - q.start) + 2 * line, d, 0.12 * d);
  g.stroke();
  g.fillRect(x(q.end) - line / 2, -d / 2 - line / 2, Math.max(0.25 * d, 2), d + line);
  g.fillRect(0, -0.26 * d, x(q.start), 0.52 * d);
  g.restore();
  const r = Math.max(0.3 * d, 2.5);
  paintPin(p, from, r);
  paintPin(p, to, r);
  p.hits.push({ part, from, to, reach: d / 2 });
}

function paintPin(p: Picture, at: Spot, radius: number, part?: string): void {
  const { g, app } = p, r = Math.min(9, Math.max(2.5, radius)), selected = part !== undefined && app.selection.part === part;
  g.beginPath();
  g.arc(at[0], at[1], r, 0, 7);
  g.fillStyle = app.theme.color('--card');
  g.fill();
  g.strokeStyle = app.theme.color(selected ? '--focus' : '--pin');
  g.lineWidth = Math.max(1.2, 0.5 * r) + (selected ? 1.5 : 0);
  g.stroke();
  if (part) p.hits.push({ part, from: at, to: at, reach: r + 1 });
}

function paintRod(p: Picture, a: Place, b: Place, part: string, width: number): void {
  const from = p.camera.project(placed(p.poses, a)), to = p.camera.project(placed(p.poses, b)), [fill, line] = shapeColors(p, 'steel');
  paintCapsule(p, from, to, Math.max(3, width * p.camera.scale), fill, line, part, p.app.selection.part === part);
}

function paintSpring(p: Picture, a: Place, b: Place, part: string, diameter: number): void {
  const { g, camera, app } = p, from = camera.project(placed(p.poses, a)), to = camera.project(placed(p.poses, b));
  const n = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1, u: Spot = [(to[0] - from[0]) / n, (to[1] - from[1]) / n];
  const half = Math.min(14, Math.max(4, diameter * camera.scale / 2)), points: Spot[] = [from];
  for (let i = 0; i <= 16; i++) {
    const f = 0.12 + 0.76 * i / 16, side = i === 0 || i === 16 ? 0 : i % 2 ? half : -half;
    points.push([from[0] + (to[0] - from[0]) * f - u[1] * side, from[1] + (to[1] - from[1]) * f + u[0] * side]);
  }
  points.push(to);
  tracePath(g, points, false);
  g.lineJoin = 'round';
  g.strokeStyle = app.theme.color(p.ghost ? '--ghost' : app.selection.part === part ? '--focus' : '--pin');
  g.lineWidth = 1.6;
  g.stroke();
  p.hits.push({ part, from, to, reach: half });
}

function paintRope(p: Picture, path: Place[], part: string): void {
  const { g, camera, app } = p, points = path.map(q => camera.project(placed(p.poses, q)));
  tracePath(g, points, false);
  g.strokeStyle = app.theme.color(p.ghost ? '--ghost' : app.selection.part === part ? '--focus' : '--pin');
  g.lineWidth = 1.6;
  g.stroke();
  for (let i = 1; i < points.length; i++) p.hits.push({ part, from: points[i - 1], to: points[i], reach: 2 });
}
