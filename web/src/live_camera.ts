// The camera of a live machine: the picture is extended when the machine leaves it.
import type { Camera } from './camera';
import type { SceneInfo } from './contract';
import type { Pose } from './pose';
import { corners } from './machine_paint';
import { placed } from './pose';

export function widen(camera: Camera, scene: SceneInfo, poses: Pose[]): void {
  let left = false;
  scene.bodies.forEach((body, k) => {
    for (const s of body.shapes) for (const at of corners(s)) {
      const place = placed(poses, { body: k, at }), [x, y] = camera.project(place);
      if (!Number.isFinite(x + y) || (x >= 4 && y >= 4 && x <= camera.width - 4 && y <= camera.height - 4)) continue;
      camera.include(place);
      left = true;
    }
  });
  if (left) camera.fit();
}
