import {
  BufferAttribute,
  BufferGeometry,
  CircleGeometry,
  Color,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
} from 'three';
import type { Palette } from './palette.ts';

const EXTENT_M = 1.2;
const STEP_M = 0.1;
const CELLS = Math.round(EXTENT_M / STEP_M);
/** Segments per line, so that a line can fade. */
const PIECES = 8;
const SPOT_M = 0.26;

/** A 10 cm grid that fades into the background, and a soft spot under the base instead of a shadow. */
export function createFloor(palette: Palette, heightM: number): Group {
  const floor = new Group();
  floor.add(createSpot(palette), createGrid(palette));
  floor.position.y = heightM;
  return floor;
}

function createGrid(palette: Palette): LineSegments {
  const positions: number[] = [];
  const colours: number[] = [];
  const ground = new Color(palette.ground);
  const put = (x: number, z: number, line: Color) => {
    const fade = Math.min(1, Math.hypot(x, z) / EXTENT_M);
    const colour = line.clone().lerp(ground, fade ** 1.5);
    positions.push(x, 0, z);
    colours.push(colour.r, colour.g, colour.b);
  };
  for (let i = 1 - CELLS; i < CELLS; i++) {
    const line = new Color(i % 5 === 0 ? palette.gridStrong : palette.gridLine);
    const at = i * STEP_M;
    const half = Math.sqrt(EXTENT_M ** 2 - at ** 2);
    for (let j = 0; j < PIECES; j++) {
      const [from, to] = [j, j + 1].map((end) => half * ((2 * end) / PIECES - 1)) as [number, number];
      put(at, from, line);
      put(at, to, line);
      put(from, at, line);
      put(to, at, line);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(positions), 3));
  geometry.setAttribute('color', new BufferAttribute(new Float32Array(colours), 3));
  return new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true }));
}

/** Opaque, fading to the ground colour: cheaper than blending. */
function createSpot(palette: Palette): Mesh {
  const geometry = new CircleGeometry(SPOT_M, 36);
  const count = geometry.getAttribute('position').count;
  const middle = new Color(palette.shadow);
  const ground = new Color(palette.ground);
  const colours = new Float32Array(count * 3);
  for (let i = 0; i < count; i++) colours.set((i === 0 ? middle : ground).toArray(), i * 3);
  geometry.setAttribute('color', new BufferAttribute(colours, 3));
  const spot = new Mesh(geometry, new MeshBasicMaterial({ vertexColors: true }));
  spot.rotation.x = -Math.PI / 2;
  spot.position.y = -0.002;
  return spot;
}
