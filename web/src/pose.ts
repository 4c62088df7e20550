// Positions of bodies at a time, from their pose series, and small vector algebra.
import type { Place, SceneInfo, Vector } from './contract';
import { data } from './state';

export function add(a: Vector, b: Vector): Vector { return [a[0] + b[0], a[1] + b[1], a[2] + b[2]]; }
export function subtract(a: Vector, b: Vector): Vector { return [a[0] - b[0], a[1] - b[1], a[2] - b[2]]; }
export function scaled(a: Vector, f: number): Vector { return [a[0] * f, a[1] * f, a[2] * f]; }
export function dot(a: Vector, b: Vector): number { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
export function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}
export function size(a: Vector): number { return Math.hypot(a[0], a[1], a[2]); }
export function unit(a: Vector): Vector { return scaled(a, 1 / (size(a) || 1)); }
export function between(a: Vector, b: Vector, f: number): Vector {
  return [a[0] + (b[0] - a[0]) * f, a[1] + (b[1] - a[1]) * f, a[2] + (b[2] - a[2]) * f];
}
// A unit vector perpendicular to a.
export function across(a: Vector): Vector {
  const u = unit(a);
  return unit(cross(u, Math.abs(u[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0]));
}

// Rotation matrix by rows from a quaternion of any length.
export function rotation(w: number, x: number, y: number, z: number): number[] {
  const n = 2 / (w * w + x * x + y * y + z * z || 1);
  return [1 - n * (y * y + z * z), n * (x * y - w * z), n * (x * z + w * y), n * (x * y + w * z), 1 - n * (x * x + z * z),
    n * (y * z - w * x), n * (x * z - w * y), n * (y * z + w * x), 1 - n * (x * x + y * y)];
}
export function turn(r: number[], v: Vector): Vector {
  return [r[0] * v[0] + r[1] * v[1] + r[2] * v[2], r[3] * v[0] + r[4] * v[1] + r[5] * v[2], r[6] * v[0] + r[7] * v[1] + r[8] * v[2]];
}

export interface Pose { at: Vector; turn: number[] }
const FIXED: Pose = { at: [0, 0, 0], turn: [1, 0, 0, 0, 1, 0, 0, 0, 1] };

// Poses of all bodies of a scene at a time. of: the machine whose series are used; only: index of the only body whose pose is needed. spread: -1
// or 1 for poses at the lower or upper end of the 95 % interval of the positions.
export function makePoses(scene: SceneInfo, of: string, spread = 0): (time: number, only?: number) => Pose[] {
  const find = (of: string) => scene.bodies.map(b => b.pose ? ['x', 'y', 'z', 'qw', 'qx', 'qy', 'qz'].map(end => data.find(`${b.pose}.${end}`, of)) : null);
  const numbers = find(of), shifts = spread && find('spread');
  return (time, only) => numbers.map((k, i) => {
    if (!k || k[3] < 0 || (only ?? i) !== i) return FIXED;
    const v = k.map((n, j) => n < 0 ? 0 : data.at(n, time) + (shifts && spread * data.at(shifts[i]?.[j] ?? -1, time) || 0));
    // A quaternion may change its sign between two samples. Then the mean of both quaternions is not a rotation.
    if (v[3] ** 2 + v[4] ** 2 + v[5] ** 2 + v[6] ** 2 < 0.8) for (let j = 3; j < 7; j++) if (k[j] >= 0) v[j] = data.nearest(k[j], time);
    return { at: [v[0], v[1], v[2]], turn: rotation(v[3], v[4], v[5], v[6]) };
  });
}

// A point of a body in ground coordinates.
export function world(pose: Pose, at: Vector): Vector { return add(pose.at, turn(pose.turn, at)); }
export function placed(poses: Pose[], place: Place): Vector { return world(poses[place.body] ?? FIXED, place.at); }
