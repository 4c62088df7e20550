// The order of things in space by a binary space partition: the plane of a face divides all other things, which are cut where they cross the
// plane. What is behind the plane is painted first.
import type { Vector } from './contract';
import { add, between, dot } from './pose';

// A thing to paint: a face that looks to the viewer, a line, or a point. edges: whether the edge to the next point is stroked; of a line:
// whether its first and its second point are its ends.
export interface Item { points: Vector[]; edges: boolean[]; normal?: Vector; paint(item: Item): void }

// The part of a thing above (sign 1) or below (-1) a plane. heights: of its points above the plane.
function part(item: Item, heights: number[], sign: number): Item {
  const points: Vector[] = [], edges: boolean[] = [], { points: all, edges: drawn } = item, last = all.length - 1;
  all.forEach((a, i) => {
    const k = i < last ? i + 1 : 0, ha = sign * heights[i], hb = sign * heights[k];
    if (ha >= 0) {
      points.push(a);
      edges.push(drawn[i] && (last < 2 || ha > 0 || hb >= 0));
    }
    if (ha * hb < 0 && (last > 1 || !i)) {
      points.push(between(a, all[k], ha / (ha - hb)));
      edges.push(drawn[i] && last > 1 && ha < 0);
    }
  });
  return { ...item, points, edges };
}
// Paints all things from back to front. slack: heights below it count as zero.
export function paintSorted(items: Item[], toward: Vector, slack: number): void {
  const heights = (item: Item, { points, normal = toward }: Item) => {
    const level = dot(points[0], normal);
    return item.points.map(v => dot(v, normal) - level);
  }, sides = (h: number[]) => [h.some(v => v < -slack), h.some(v => v > slack)];
  // The plane of a face that cuts few other things and divides them evenly.
  let best: Item | undefined, least = Infinity;
  const count = items.length, faces = count > 1 && count < 4000 ? items.filter(i => i.normal) : [], sample = items.filter((_, i) => i % Math.ceil(count / 24) === 0);
  for (let i = 0; i < faces.length; i += Math.ceil(faces.length / 5)) {
    let cut = 0, balance = 0;
    for (const item of sample) {
      const [below, above] = sides(heights(item, faces[i]));
      if (below && above) cut++;
      else balance += +above - +below;
    }
    if (4 * cut + Math.abs(balance) < least) {
      least = 4 * cut + Math.abs(balance);
      best = faces[i];
    }
  }
  if (!best) {
    const depth = (i: Item) => dot(i.points.reduce(add), toward) / i.points.length;
    for (const item of items.sort((a, b) => depth(a) - depth(b))) item.paint(item);
    return;
  }
  const behind: Item[] = [], on: Item[] = [], front: Item[] = [];
  for (const item of items) {
    const h = heights(item, best), [below, above] = sides(h);
    if (below) behind.push(above ? part(item, h, -1) : item);
    if (above) front.push(below ? part(item, h, 1) : item);
    if (!below && !above) on.push(item);
  }
  if (behind.length) paintSorted(behind, toward, slack);
  for (const item of on) item.paint(item);
  if (front.length) paintSorted(front, toward, slack);
}
