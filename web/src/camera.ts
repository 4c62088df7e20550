// A camera with parallel projection, for the plane and for space.
import { add, cross, dot, scaled, subtract, unit } from './pose';
import type { SceneInfo, Vector } from './contract';

export type Spot = [number, number];
export type ViewName = 'iso' | 'front' | 'side' | 'top';
const VIEWS: Record<ViewName, [number, number]> = { iso: [-0.6, 0.45], front: [0, 0], side: [Math.PI / 2, 0], top: [0, Math.PI / 2] };

export class Camera {
  right: Vector;
  up: Vector;
  toward: Vector;          // to the viewer
  target: Vector = [0, 0, 0];
  width = 1;
  height = 1;
  zoom = 1;
  private base = 1;        // px/m that shows all bounds
  private yaw = 0;
  private pitch = 0;
  private low: Vector;
  private high: Vector;

  constructor(private readonly scene: SceneInfo) {
    this.right = scene.axes.x;
    this.up = scene.axes.y;
    this.toward = scene.axes.normal;
    this.low = [...scene.bounds.low];
    this.high = [...scene.bounds.high];
    if (!scene.planar) this.look('iso');
  }
  get scale(): number { return this.base * this.zoom; }

  include(p: Vector): void {
    for (let i = 0; i < 3; i++) {
      this.low[i] = Math.min(this.low[i], p[i]);
      this.high[i] = Math.max(this.high[i], p[i]);
    }
  }
  project(p: Vector): Spot {
    const d = subtract(p, this.target), s = this.scale;
    return [this.width / 2 + dot(d, this.right) * s, this.height / 2 - dot(d, this.up) * s];
  }
  depth(p: Vector): number { return dot(p, this.toward); }
  // Point under a place of the picture, in the plane through the target.
  under(x: number, y: number): Vector {
    return add(this.target, add(scaled(this.right, (x - this.width / 2) / this.scale), scaled(this.up, (this.height / 2 - y) / this.scale)));
  }
  // Turns to a standard view.
  look(view: ViewName): void { [this.yaw, this.pitch] = VIEWS[view]; this.turned(); }
  orbit(dx: number, dy: number): void {
    this.yaw -= dx * 0.008;
    this.pitch = Math.min(Math.PI / 2, Math.max(-Math.PI / 2, this.pitch + dy * 0.008));
    this.turned();
  }
  private turned(): void {
    const { x, y, normal } = this.scene.axes, c = Math.cos(this.pitch), s = Math.sin(this.pitch);
    const out = add(scaled(normal, Math.cos(this.yaw)), scaled(x, Math.sin(this.yaw)));
    this.right = unit(cross(y, out));
    this.toward = unit(add(scaled(out, c), scaled(y, s)));
    this.up = unit(cross(this.toward, this.right));
  }
  pan(dx: number, dy: number): void {
    this.target = add(this.target, add(scaled(this.right, -dx / this.scale), scaled(this.up, dy / this.scale)));
  }
  zoomAt(factor: number, x = this.width / 2, y = this.height / 2): void {
    const before = this.under(x, y);
    this.zoom = Math.min(40, Math.max(0.4, this.zoom * factor));
    this.target = add(this.target, subtract(before, this.under(x, y)));
  }
  // Shows all bounds. Margins in px: the left one leaves room for texts where the picture is wide.
  fit(): void {
    const corners: Vector[] = [];
    for (let i = 0; i < 8; i++) corners.push([(i & 1 ? this.high : this.low)[0], (i & 2 ? this.high : this.low)[1], (i & 4 ? this.high : this.low)[2]]);
    const us = corners.map(p => dot(p, this.right)), vs = corners.map(p => dot(p, this.up));
    const u0 = Math.min(...us), u1 = Math.max(...us), v0 = Math.min(...vs), v1 = Math.max(...vs);
    const wide = Math.max(u1 - u0, 1e-6), tall = Math.max(v1 - v0, 1e-6), edge = Math.min(36, this.width * 0.05);
    this.zoom = 1;
    this.base = Math.min((this.width - 2 * edge) / wide, (this.height - 52) / tall);
    this.base = Math.max(this.base, 1e-9);
    const middle = scaled(add(this.low, this.high), 0.5);
    const du = (u0 + u1) / 2 - dot(middle, this.right), dv = (v0 + v1) / 2 - dot(middle, this.up);
    this.target = add(middle, add(scaled(this.right, du), scaled(this.up, dv - 2 / this.base)));
  }
  // A new size keeps what is in the middle. fitted: whether the picture showed all before.
  resize(width: number, height: number, fitted: boolean): void {
    const ratio = Math.min(width / this.width, height / this.height);
    this.width = width;
    this.height = height;
    if (fitted) this.fit(); else this.base *= ratio > 0 ? ratio : 1;
  }
}
