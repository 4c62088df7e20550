// Notes beside the machine: names, loads, traces of points, scale bar.
import type { Picture } from './machine_paint';
import type { Spot } from './camera';
import type { Vector } from './contract';
import { add, dot, placed, scaled, size, turn } from './pose';
import { circle, distance, inside, stroke, trace } from './machine_paint';
import { data, palette } from './state';
import { withUnit } from './units';
import { FONT, ink } from './theme';
import { groupOf, hasPart, isSelecting } from './selection';
import { now } from './clock';

export interface Label { text: string; at: Spot; to: Spot; gap: number; color: string; dot?: string; faint?: boolean; onArrow?: boolean }

// Draws the labels beside their places, away from parts and other labels. chosen: the places of the labels in the last frame.
export function paintLabels(p: Picture, labels: Label[], chosen: Map<string, number>): void {
  const { g, camera, hits } = p, taken: number[][] = [];
  g.textBaseline = 'middle';
  g.lineJoin = 'round';
  g.textAlign = 'left';
  g.font = '600 12px ' + FONT;
  for (const l of labels) {
    // In space the picture has many faces, and only those near the label count.
    const near = hits.filter(h => !p.space || inside(l.at, h.outline) || h.outline.some(q => Math.hypot(q[0] - l.at[0], q[1] - l.at[1]) < 120));
    const width = g.measureText(l.text).width + (l.dot ? 13 : 0), [dx, dy] = l.to, ring: Spot[] = [[dx, dy], [-dx, -dy], [1, 0], [-1, 0], [0, -1], [0, 1]], places = [...ring, ...ring];
    const box = (i: number) => {
      const [ux, uy] = places[i], away = l.gap + (i > 5 ? 20 : 0) + Math.abs(ux) * width / 2 + Math.abs(uy) * 8, x = l.at[0] + ux * away, y = l.at[1] + uy * away;
      return [x - width / 2, y - 8, x + width / 2, y + 8];
    };
    // A label keeps its place of the last frame unless another place is clearly better, so that labels do not jump.
    let best = 0, least = Infinity;
    places.forEach((_, i) => {
      if (i > 5 && least < 2) return;
      const [x0, y0, x1, y1] = box(i), spots: Spot[] = [0, 1, 2, 3, 4].map(j => [x0 + (x1 - x0) * j / 4, j % 2 ? (y0 + y1) / 2 : j ? y1 : y0]);
      // A place toward the tip would be on the arrow.
      let cost = 0.4 * (i % 6) + (i > 5 ? 1 : 0) - (chosen.get(l.text) === i ? 1.2 : 0) + (l.onArrow ? 5 * Math.max(0, -places[i][0] * dx - places[i][1] * dy) : 0);
      for (const t of taken) if (x0 < t[2] + 3 && x1 > t[0] - 3 && y0 < t[3] && y1 > t[1]) cost += 12;
      if (x0 < 4 || x1 > camera.width - 4 || y0 < 4 || y1 > camera.height - 4) cost += 30;
      for (const h of near) for (const s of spots) if (h.reach ? distance(s, h.outline[0], h.outline[1]) < h.reach + 2 : inside(s, h.outline)) cost += 1;
      if (cost < least) { least = cost; best = i; }
    });
    chosen.set(l.text, best);
    const b = box(best), x = b[0] + (l.dot ? 13 : 0), y = b[1] + 8;
    taken.push(b);
    g.globalAlpha = l.faint ? 0.35 : 0.88;
    g.strokeStyle = ink('card');
    g.lineWidth = 4;
    g.strokeText(l.text, x, y);
    g.globalAlpha = l.faint ? 0.4 : 1;
    g.fillStyle = l.color;
    g.fillText(l.text, x, y);
    if (l.dot) {
      circle(g, [b[0] + 5, y], 4);
      g.fillStyle = l.dot;
      g.fill();
    }
    g.globalAlpha = 1;
  }
}

// Draws the names of cylinders beside their middles, or the names of bodies if the machine has no cylinders.
export function nameLabels({ scene, camera, poses }: Picture): Label[] {
  const cylinders = scene.cylinders ?? [], color = ink('ink');
  if (cylinders.length) return cylinders.map(c => {
    const a = camera.project(placed(poses, c.a)), b = camera.project(placed(poses, c.b)), n = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1, group = groupOf(c.name);
    const side = a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]) ? 1 : -1, own = palette.ofPart(c.name), alone = cylinders.filter(q => groupOf(q.name) === group).length === 1;
    return { text: group && alone ? group : c.name, at: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], to: [(b[1] - a[1]) / n * side, (a[0] - b[0]) / n * side], gap: Math.max(8, c.diameter * camera.scale / 2 + 4), color,
      dot: own === 'neutral' ? undefined : ink(own), faint: isSelecting() && !hasPart(c.name) };
  });
  return scene.bodies.flatMap((body, i): Label[] => {
    const points = body.shapes.flatMap(s => s.kind === 'capsule' ? [s.a, s.b] : 'points' in s ? s.points : [s.center]);
    if (!body.pose || !points.length) return [];
    const at = camera.project(placed(poses, { body: i, at: scaled(points.reduce(add), 1 / points.length) }));
    return [{ text: body.name, at, to: [0, -1], gap: 9, color, faint: isSelecting() && !hasPart(body.part ?? body.name) }];
  });
}

// Arrows of applied loads and of forces in joints; the longest arrow represents the largest load of the run.
export function paintLoads(p: Picture, loads: boolean, joints: boolean): Label[] {
  const { scene, camera, poses, of } = p, labels: Label[] = [];
  const find = (name: string | undefined) => data.find(name, of), most = (k: number) => k < 0 ? 0 : Math.max(Math.abs(data.series[k].low), Math.abs(data.series[k].high));
  const text = (k: number, value: number) => withUnit(data.series[k], Math.abs(value));
  const joint = (name: string | undefined) => scene.joints?.find(j => j.name === name);
  const list = scene.loads ?? [], largest = Math.max(1e-30, ...list.map(l => most(find(l.output))));
  if (loads) for (const l of list) {
    const k = find(l.output), value = data.at(k, now), own = joint(l.joint), at = l.at ?? own?.a;
    if (!at || !(Math.abs(value) > 0.004 * largest)) continue;
    const direction = l.direction ?? own?.axis ?? camera.toward, way = l.follows_body === false ? direction : turn(poses[at.body].turn, direction);
    labels.push(arrow(p, camera.project(placed(poses, at)), scaled(way, Math.sign(value)), Math.abs(value) / largest, text(k, value), 'load', l.kind === 'torque'));
  }
  const forces = (scene.joint_loads ?? []).map(l => ({ at: joint(l.joint)?.a, k: [l.x, l.y, l.z].map(n => n ? find(n) : -1), size: find(l.size) }));
  const strongest = Math.max(1e-30, ...forces.map(f => Math.max(...f.k.map(most), most(f.size))));
  if (joints) for (const { at, k, size: total } of forces) {
    const force = k.map(n => n < 0 ? 0 : data.at(n, now)) as Vector, known = k.some(n => n >= 0), value = known ? size(force) : data.at(total, now), first = known ? k.find(n => n >= 0) ?? -1 : total;
    if (at && first >= 0) labels.push(arrow(p, camera.project(placed(poses, at)), known ? force : [0, 0, 0], value / strongest, text(first, value), 'pinload', false));
  }
  return labels;
}
// An arrow that ends at a point, or for a torque an arc about this point.
function arrow({ g, camera }: Picture, tip: Spot, direction: Vector, share: number, text: string, color: string, torque: boolean): Label {
  const label = { text, at: tip, to: [1, 0] as Spot, gap: 4, color: ink(color), onArrow: true };
  let u: Spot = [dot(direction, camera.right), -dot(direction, camera.up)], n = Math.hypot(...u) / (size(direction) || 1), neck = tip;
  g.fillStyle = ink(color);
  g.lineCap = 'butt';
  g.beginPath();
  if (torque) {
    const way = dot(direction, camera.toward) < 0 ? 1 : -1, end = -0.6 + way * 4.2;
    g.arc(tip[0], tip[1], 16, -0.6, end, way < 0);
    label.at = [tip[0], tip[1] - 16];
    label.to = [0, -1];
    u = [-Math.sin(end) * way, Math.cos(end) * way];
    tip = [tip[0] + 16 * Math.cos(end) + 7 * u[0], tip[1] + 16 * Math.sin(end) + 7 * u[1]];
  } else {
    if (n < 0.08) return label;
    const s = Math.hypot(...u), length = (22 + 56 * Math.min(1, share)) * Math.max(n, 0.4);
    u = [u[0] / s, u[1] / s];
    label.at = [tip[0] - u[0] * length, tip[1] - u[1] * length];
    label.to = [-u[0], -u[1]];
    neck = [tip[0] - u[0] * 8, tip[1] - u[1] * 8];
    g.moveTo(...label.at);
    g.lineTo(...neck);
  }
  stroke(g, ink('card'), 5);
  stroke(g, ink(color), 2);
  trace(g, [tip, ...[-1, 1].map(s => [tip[0] - u[0] * 11 + u[1] * 4.5 * s, tip[1] - u[1] * 11 - u[0] * 4.5 * s] as Spot)], true);
  g.fill();
  return label;
}

// The path of a point: solid up to the current time, dotted afterward. times: s.
export function paintTrace({ g, camera }: Picture, points: Vector[], times: number[]): void {
  const spots = points.map(camera.project), next = times.findIndex(t => t > now), last = next < 0 ? spots.length : next;
  g.lineCap = g.lineJoin = 'round';
  trace(g, spots.slice(Math.max(0, last - 1)));
  stroke(g, ink('ink3'), 1.3, [0.5, 5]);
  g.globalAlpha = 0.55;
  trace(g, spots.slice(0, last));
  stroke(g, ink('ink3'), 1.3);
  g.globalAlpha = 1;
}

// A scale bar with a round length, at the lower left.
export function paintScale({ g, camera }: Picture): void {
  const room = Math.min(110, camera.width * 0.25) / camera.scale, power = 10 ** Math.floor(Math.log10(room));
  const length = (room >= 5 * power ? 5 : room >= 2 * power ? 2 : 1) * power, x = 16, y = camera.height - 16, end = x + length * camera.scale;
  trace(g, [[x, y - 4], [x, y], [end, y], [end, y - 4]]);
  g.lineCap = 'butt';
  stroke(g, ink('ink3'), 1.2);
  g.font = '11px ' + FONT;
  g.textAlign = 'left';
  g.textBaseline = 'alphabetic';
  g.fillStyle = ink('ink2');
  g.fillText(length < 0.01 ? `${+(length * 1000).toPrecision(1)} mm` : length < 1 ? `${+(length * 100).toPrecision(1)} cm` : `${+length.toPrecision(1)} m`, end + 7, y);
}
