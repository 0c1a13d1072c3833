/** The same pyramid in every format that a URDF may name: 0.1 m wide, 0.2 m high. */
const POINTS = [
  [0.05, 0.05, 0],
  [-0.05, 0.05, 0],
  [-0.05, -0.05, 0],
  [0.05, -0.05, 0],
  [0, 0, 0.2],
] as const;
const FACES = [
  [0, 1, 4],
  [1, 2, 4],
  [2, 3, 4],
  [3, 0, 4],
  [2, 1, 0],
  [3, 2, 0],
] as const;

export function stlBytes(): Uint8Array {
  const bytes = new Uint8Array(84 + 50 * FACES.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(80, FACES.length, true);
  FACES.forEach((face, i) => {
    const corners = face.flatMap((at) => [...POINTS[at]!]);
    for (const [k, value] of corners.entries()) view.setFloat32(84 + 50 * i + 12 + 4 * k, value, true);
  });
  return bytes;
}

export const objText = (): string =>
  [
    ...POINTS.map((point) => `v ${point.join(' ')}`),
    ...FACES.map((face) => `f ${face.map((at) => at + 1).join(' ')}`),
  ].join('\n');

/** In centimetres, and red. */
export const daeText = (): string => `<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="centimeter" meter="0.01"/><up_axis>Z_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique sid="t"><lambert>
<diffuse><color>0.9 0.1 0.1 1</color></diffuse></lambert></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="${3 * POINTS.length}">${POINTS.flat()
  .map((value) => 100 * value)
  .join(' ')}</float_array><technique_common><accessor source="#pa" count="${POINTS.length}" stride="3">
<param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="${FACES.length}" material="s"><input semantic="VERTEX" source="#v" offset="0"/><p>${FACES.flat().join(' ')}</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="sc"><node><instance_geometry url="#g"><bind_material><technique_common>
<instance_material symbol="s" target="#m"/></technique_common></bind_material></instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#sc"/></scene></COLLADA>`;

export function glbBytes(): Uint8Array {
  const positions = new Float32Array(POINTS.flat());
  const indices = new Uint16Array(FACES.flat());
  const body = new Uint8Array(positions.byteLength + indices.byteLength);
  body.set(new Uint8Array(positions.buffer), 0);
  body.set(new Uint8Array(indices.buffer), positions.byteLength);
  const json = {
    asset: { version: '2.0' },
    buffers: [{ byteLength: body.length }],
    bufferViews: [
      { buffer: 0, byteOffset: 0, byteLength: positions.byteLength },
      { buffer: 0, byteOffset: positions.byteLength, byteLength: indices.byteLength },
    ],
    accessors: [
      {
        ...{ bufferView: 0, componentType: 5126, count: POINTS.length, type: 'VEC3' },
        ...{ min: [-0.05, -0.05, 0], max: [0.05, 0.05, 0.2] },
      },
      { bufferView: 1, componentType: 5123, count: indices.length, type: 'SCALAR' },
    ],
    materials: [{ pbrMetallicRoughness: { baseColorFactor: [0.1, 0.1, 0.9, 1] } }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 }, indices: 1, material: 0 }] }],
    nodes: [{ mesh: 0 }],
    scenes: [{ nodes: [0] }],
    scene: 0,
  };
  const text = new TextEncoder().encode(padded(JSON.stringify(json)));
  const out = new Uint8Array(12 + 8 + text.length + 8 + body.length);
  const view = new DataView(out.buffer);
  view.setUint32(0, 0x46546c67, true);
  view.setUint32(4, 2, true);
  view.setUint32(8, out.length, true);
  view.setUint32(12, text.length, true);
  view.setUint32(16, 0x4e4f534a, true);
  out.set(text, 20);
  view.setUint32(20 + text.length, body.length, true);
  view.setUint32(24 + text.length, 0x004e4942, true);
  out.set(body, 28 + text.length);
  return out;
}

const padded = (text: string): string => text.padEnd(4 * Math.ceil(text.length / 4), ' ');

/** An arm of three joints, one mesh of each format on its links. */
export const armUrdf = (): string => `<robot name="own">
<material name="green"><color rgba="0 0.7 0 1"/></material>
${['base', 'one', 'two', 'three']
  .map((name, i) => {
    const file = [
      'package://own_arm/meshes/base.stl',
      'meshes/one.obj',
      'meshes/two.dae',
      'meshes/three.glb',
    ][i];
    const scale = i === 1 ? ' scale="1 1 1.5"' : '';
    return `<link name="${name}"><visual><origin xyz="0 0 0.01"/><geometry><mesh filename="${file}"${scale}/></geometry>${i === 0 ? '<material name="green"/>' : ''}</visual></link>`;
  })
  .join('\n')}
<link name="ghost"><visual><geometry><mesh filename="meshes/missing.stl"/></geometry></visual></link>
<joint name="fixed" type="fixed"><parent link="base"/><child link="ghost"/></joint>
${[
  ['base', 'one', '0 0 1'],
  ['one', 'two', '0 1 0'],
  ['two', 'three', '0 1 0'],
]
  .map(
    ([parent, child, axis]) =>
      `<joint name="to_${child}" type="revolute"><parent link="${parent}"/><child link="${child}"/><origin xyz="0 0 0.22"/><axis xyz="${axis}"/><limit lower="-2" upper="2" velocity="1"/></joint>`,
  )
  .join('\n')}
</robot>`;
