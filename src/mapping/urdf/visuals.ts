import { placementOf, type Rigid, rigid, times } from './rigid.ts';
import { childOf, childrenOf, type Vector, type XmlElement, type XmlReader } from './xml.ts';

/** A mesh that shows a link, placed in chain frame `frame` (0 = base … joints = flange). */
export interface UrdfVisual {
  frame: number;
  origin: { xyzM: Vector; rpyRad: Vector };
  /** As the URDF names it. */
  filename: string;
  scale: Vector;
  /** `#rrggbb`; null: that of the mesh. */
  colour: string | null;
}

/** The meshes among the visual shapes of a link at `pose`. A shape that cannot be read is left out: it only shows. */
export function linkVisuals(
  link: XmlElement,
  frame: number,
  pose: Rigid,
  reader: XmlReader,
  colours: ReadonlyMap<string, string>,
): UrdfVisual[] {
  return childrenOf(link, 'visual').flatMap((visual) => {
    const mesh = childrenOf(childOf(visual, 'geometry') ?? visual, 'mesh')[0];
    const filename = mesh?.attributes['filename'];
    if (mesh === undefined || !filename) return [];
    const origin = childOf(visual, 'origin');
    const at = origin
      ? times(pose, rigid(reader.vector(origin, 'xyz', [0, 0, 0]), reader.vector(origin, 'rpy', [0, 0, 0])))
      : pose;
    const scale = reader.vector(mesh, 'scale', [1, 1, 1]);
    return [{ frame, origin: placementOf(at), filename, scale, colour: colourOf(visual, colours) }];
  });
}

/** Colours that the robot defines for all its links, by name. */
export const namedColours = (robot: XmlElement): Map<string, string> =>
  new Map(
    childrenOf(robot, 'material').flatMap((material) => {
      const colour = rgbOf(material);
      return colour === null ? [] : [[material.attributes['name'] ?? '', colour] as const];
    }),
  );

function colourOf(visual: XmlElement, colours: ReadonlyMap<string, string>): string | null {
  const material = childOf(visual, 'material');
  if (material === undefined) return null;
  return rgbOf(material) ?? colours.get(material.attributes['name'] ?? '') ?? null;
}

function rgbOf(material: XmlElement): string | null {
  const parts = (childOf(material, 'color')?.attributes['rgba'] ?? '').trim().split(/\s+/).map(Number);
  if (parts.length !== 4 || !parts.every((part) => part >= 0 && part <= 1)) return null;
  const byte = (part: number) =>
    Math.round(part * 255)
      .toString(16)
      .padStart(2, '0');
  return `#${parts.slice(0, 3).map(byte).join('')}`;
}
