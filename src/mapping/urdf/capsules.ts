import type { Capsule } from '../../geometry/robot-model.ts';
import { applied, type Rigid, rigid, times } from './rigid.ts';
import { childOf, childrenOf, type Vector, type XmlElement, type XmlReader } from './xml.ts';

/**
 * Capsules around the collision shapes of a link at `pose` in chain frame `frame`. Meshes are only listed.
 */
export function linkCapsules(
  link: XmlElement,
  frame: number,
  pose: Rigid,
  reader: XmlReader,
  meshes: string[],
): Capsule[] {
  const name = reader.text(link, 'name');
  const shapes = childrenOf(link, 'collision').flatMap((collision) => {
    const origin = childOf(collision, 'origin');
    const at = origin
      ? times(pose, rigid(reader.vector(origin, 'xyz', [0, 0, 0]), reader.vector(origin, 'rpy', [0, 0, 0])))
      : pose;
    return (childOf(collision, 'geometry')?.children ?? []).map((shape) => ({ at, shape }));
  });
  const capsules: Capsule[] = [];
  for (const { at, shape } of shapes) {
    const rod = rodRound(shape, reader);
    if (rod === null) {
      if (!meshes.includes(name)) meshes.push(name);
      continue;
    }
    const suffix = capsules.length === 0 ? '' : `_${capsules.length + 1}`;
    const [x, y, z] = rod.halfM;
    capsules.push({
      name: `${name}${suffix}`,
      frame,
      fromM: applied(at, [-x, -y, -z]),
      toM: applied(at, [x, y, z]),
      radiusM: rod.radiusM,
    });
  }
  return capsules;
}

/**
 * The smallest enclosing capsule along the longest side; extends past flat ends by its radius. Null for a
 * mesh.
 */
function rodRound(shape: XmlElement, reader: XmlReader): { halfM: Vector; radiusM: number } | null {
  switch (shape.name) {
    case 'sphere':
      return { halfM: [0, 0, 0], radiusM: reader.number(shape, 'radius') };
    case 'cylinder':
    case 'capsule':
      return { halfM: [0, 0, reader.number(shape, 'length') / 2], radiusM: reader.number(shape, 'radius') };
    case 'box': {
      const half = reader.vector(shape, 'size').map((side) => side / 2);
      const longest = half.indexOf(Math.max(...half));
      return {
        halfM: half.map((side, i) => (i === longest ? side : 0)) as Vector,
        radiusM: Math.hypot(...half.filter((_, i) => i !== longest)),
      };
    }
    default:
      return null;
  }
}
