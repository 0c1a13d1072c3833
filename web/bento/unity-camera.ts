import { type PerspectiveCamera, Vector3 } from 'three';

/** Unity: left-handed, Y up, millimetres, arm along −X. Here: X forward, Y left, Z up, metres. */
const placed = (x: number, y: number, z: number): Vector3 => new Vector3(-x, -z, y);

/** Field of view of the Virtual Bento's cameras. */
export const UNITY_FOV_DEG = 60;

/**
 * Puts a camera where Unity's would be for position x, y, z and Euler angles x, y, z, which Unity applies as
 * Ry · Rx · Rz.
 */
export function aimAsUnity(camera: PerspectiveCamera, view: readonly number[]): void {
  const [x = 0, y = 0, z = 0, ...angles] = view;
  const [pitch = 0, yaw = 0, roll = 0] = angles.map((deg) => (deg * Math.PI) / 180);
  const turned = (a: number, b: number, c: number): Vector3 => {
    const [ra, rb] = [a * Math.cos(roll) - b * Math.sin(roll), a * Math.sin(roll) + b * Math.cos(roll)];
    const [pb, pc] = [rb * Math.cos(pitch) - c * Math.sin(pitch), rb * Math.sin(pitch) + c * Math.cos(pitch)];
    return placed(ra * Math.cos(yaw) + pc * Math.sin(yaw), pb, pc * Math.cos(yaw) - ra * Math.sin(yaw));
  };
  camera.position.copy(placed(x / 1000, y / 1000, z / 1000));
  camera.up.copy(turned(0, 1, 0));
  camera.lookAt(camera.position.clone().add(turned(0, 0, 1)));
}
