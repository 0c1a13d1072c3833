import { BufferGeometry, Color, Matrix4, Mesh, type Object3D } from 'three';
import type { ConsoleMesh, MeshFormat } from '../../src/messages/console.ts';

/** A mesh with its own colour; null: it has none. */
export interface ReadMesh {
  geometry: BufferGeometry;
  colour: number | null;
}

type Parse = (bytes: ArrayBuffer) => Promise<Object3D | BufferGeometry>;

const text = (bytes: ArrayBuffer): string => new TextDecoder().decode(bytes);

/** Loaded only for a robot that has meshes of that format. */
const PARSERS: Record<MeshFormat, Parse> = {
  stl: async (bytes) => {
    const { STLLoader } = await import('three/examples/jsm/loaders/STLLoader.js');
    // Some programs write no normals.
    const read = new STLLoader().parse(bytes);
    return read.deleteAttribute('normal');
  },
  obj: async (bytes) => {
    const { OBJLoader } = await import('three/examples/jsm/loaders/OBJLoader.js');
    return new OBJLoader().parse(text(bytes));
  },
  dae: async (bytes) => {
    const { ColladaLoader } = await import('three/examples/jsm/loaders/ColladaLoader.js');
    // The loader would turn the mesh by its up axis, which robots ignore.
    const read = new ColladaLoader().parse(text(bytes).replace(/<up_axis>[^<]*<\/up_axis>/, ''), '');
    if (!read) throw new Error('not a Collada file');
    return read.scene;
  },
  glb: async (bytes) => {
    const { GLTFLoader } = await import('three/examples/jsm/loaders/GLTFLoader.js');
    return (await new GLTFLoader().parseAsync(bytes, '')).scene;
  },
};

const files = new Map<string, Promise<ReadMesh[]>>();

/** The triangles of a file in its own frame. Each file is read once; its geometry is shared, so clone it. */
export function readMeshes({ url, format }: ConsoleMesh): Promise<ReadMesh[]> {
  const known = files.get(url) ?? fetchMeshes(url, format);
  files.set(url, known);
  return known;
}

async function fetchMeshes(url: string, format: MeshFormat): Promise<ReadMesh[]> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the console returned status ${response.status}`);
  return meshesIn(await PARSERS[format](await response.arrayBuffer()));
}

function meshesIn(read: Object3D | BufferGeometry): ReadMesh[] {
  if (read instanceof BufferGeometry) return [{ geometry: bare(read), colour: null }];
  read.updateMatrixWorld(true);
  const found: ReadMesh[] = [];
  read.traverse((node) => {
    if (!(node instanceof Mesh)) return;
    const geometry = bare(node.geometry).applyMatrix4(node.matrixWorld);
    const [material] = [node.material].flat();
    const colour = material && 'color' in material && material.color instanceof Color ? material.color : null;
    found.push({ geometry, colour: colour?.getHex() ?? null });
  });
  return found;
}

/** Only positions and normals, so that all can be merged. */
function bare(geometry: BufferGeometry): BufferGeometry {
  const flat = geometry.index === null ? geometry.clone() : geometry.toNonIndexed();
  for (const name of Object.keys(flat.attributes))
    if (name !== 'position' && name !== 'normal') flat.deleteAttribute(name);
  if (!flat.hasAttribute('normal')) flat.computeVertexNormals();
  flat.morphAttributes = {};
  return flat;
}

/** Where a mesh is in its chain frame: scale, then rotation by roll, pitch and yaw, then translation. */
export function placeOf({ origin, scale }: ConsoleMesh): Matrix4 {
  const [roll, pitch, yaw] = origin.rpyRad;
  const turn = (axis: 'X' | 'Y' | 'Z', rad: number) => new Matrix4()[`makeRotation${axis}`](rad);
  return new Matrix4()
    .makeTranslation(...origin.xyzM)
    .multiply(turn('Z', yaw))
    .multiply(turn('Y', pitch))
    .multiply(turn('X', roll))
    .scale({ x: scale[0], y: scale[1], z: scale[2] } as never);
}
