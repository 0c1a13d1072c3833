import {
  BufferAttribute,
  BufferGeometry,
  CanvasTexture,
  Color,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  PlaneGeometry,
} from 'three';
import type { Palette } from './palette.ts';

const EXTENT_M = 1.2;
const STEP_M = 0.1;
const CELLS = Math.round(EXTENT_M / STEP_M);

/** A 10 cm grid that melts into the background, and a soft spot under the base instead of a shadow map. */
export function createFloor(palette: Palette): Group {
  const floor = new Group();
  floor.add(createGrid(palette), createSpot(palette));
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
  for (let i = -CELLS; i <= CELLS; i++) {
    const line = new Color(i % 5 === 0 ? palette.gridStrong : palette.gridLine);
    for (let j = -CELLS; j < CELLS; j++) {
      const [at, from, to] = [i * STEP_M, j * STEP_M, (j + 1) * STEP_M];
      put(at, from, line);
      put(at, to, line);
      put(from, at, line);
      put(to, at, line);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(positions), 3));
  geometry.setAttribute('color', new BufferAttribute(new Float32Array(colours), 3));
  return new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true, depthWrite: false }));
}

function createSpot(palette: Palette): Mesh {
  const size = 128;
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = size;
  const ink = canvas.getContext('2d');
  if (ink) {
    const fade = ink.createRadialGradient(size / 2, size / 2, 0, size / 2, size / 2, size / 2);
    fade.addColorStop(0, 'rgba(255,255,255,1)');
    fade.addColorStop(0.35, 'rgba(255,255,255,0.55)');
    fade.addColorStop(1, 'rgba(255,255,255,0)');
    ink.fillStyle = fade;
    ink.fillRect(0, 0, size, size);
  }
  const material = new MeshBasicMaterial({
    color: palette.shadow,
    map: new CanvasTexture(canvas),
    transparent: true,
    opacity: palette.shadowOpacity,
    depthWrite: false,
  });
  const spot = new Mesh(new PlaneGeometry(0.56, 0.56), material);
  spot.rotation.x = -Math.PI / 2;
  spot.position.y = 0.001;
  return spot;
}
