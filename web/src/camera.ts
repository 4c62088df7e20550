// A camera with parallel projection, for the plane and for space.
import { add, cross, dot, scaled, subtract, unit } from './pose';
import type { SceneInfo, Vector } from './contract';

export type Spot = [number, number];
export interface Camera {
  right: Vector;
  up: Vector;
  toward: Vector;          // direction to the viewer
  width: number;
  height: number;
  scale: number;           // px/m
  project(p: Vector): Spot;
  include(p: Vector): void;
  look(view: string): void;
  orbit(dx: number, dy: number): void;
  pan(dx: number, dy: number): void;
  zoom(factor: number, x?: number, y?: number): void;
  fit(): void;
}
const VIEWS: Record<string, [number, number]> = { Front: [0, 0], Side: [Math.PI / 2, 0], Top: [0, Math.PI / 2] };

export function makeCamera(scene: SceneInfo): Camera {
  const { x, y, normal } = scene.axes, shown: Vector[] = scene.planar ? [scene.bounds.low, scene.bounds.high] : [];   // points that the picture
                                                                                                                      // must contain
  let target: Vector = [0, 0, 0], yaw = 0, pitch = 0, least = 0;
  const turned = () => {
    const out = add(scaled(normal, Math.cos(yaw)), scaled(x, Math.sin(yaw)));
    c.right = unit(cross(y, out));
    c.toward = unit(add(scaled(out, Math.cos(pitch)), scaled(y, Math.sin(pitch))));
    c.up = cross(c.toward, c.right);
  };
  const move = (dx: number, dy: number) => { target = add(target, add(scaled(c.right, dx / c.scale), scaled(c.up, dy / c.scale))); };
  const c: Camera = {
    right: x, up: y, toward: normal, width: 1, height: 1, scale: 1,
    project(p) {
      const d = subtract(p, target);
      return [c.width / 2 + dot(d, c.right) * c.scale, c.height / 2 - dot(d, c.up) * c.scale];
    },
    include(p) { shown.push(p); },
    // Turns to a standard view. Any other name selects the view of the scene.
    look(view) {
      const v = scene.view ?? add(add(scaled(normal, 0.75), scaled(x, -0.5)), scaled(y, 0.45));
      [yaw, pitch] = VIEWS[view] ?? [Math.atan2(dot(v, x), dot(v, normal)), Math.asin(dot(unit(v), y))];
      turned();
    },
    orbit(dx, dy) {
      yaw -= dx * 0.008;
      pitch = Math.min(Math.PI / 2, Math.max(-Math.PI / 2, pitch + dy * 0.008));
      turned();
    },
    pan(dx, dy) { move(-dx, dy); },
    zoom(factor, px = c.width / 2, py = c.height / 2) {
      const before = c.scale, dx = px - c.width / 2, dy = c.height / 2 - py;
      move(dx, dy);
      c.scale = Math.min(60 * least, Math.max(0.4 * least, before * factor));
      move(-dx, -dy);
    },
    // Fits all included points into the picture.
    fit() {
      const range = (axis: Vector) => {
        let a = Infinity, b = -Infinity;
        for (const p of shown) {
          const v = dot(p, axis);
          if (v < a) a = v;
          if (v > b) b = v;
        }
        return b > a ? [a, b] : [-1, 1];
      };
      const [u0, u1] = range(c.right), [v0, v1] = range(c.up);
      c.scale = least = Math.max(1e-9, Math.min((c.width - 2 * Math.min(36, 0.05 * c.width)) / (u1 - u0), (c.height - 52) / (v1 - v0)));
      target = add(scaled(c.right, (u0 + u1) / 2), scaled(c.up, (v0 + v1) / 2 - 2 / c.scale));
    },
  };
  if (!scene.planar) c.look('');
  return c;
}
