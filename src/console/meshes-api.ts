import { createReadStream, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { replyError } from '../http/replies.ts';
import type { ConsoleMesh } from '../messages/console.ts';
import type { RobotMesh } from '../rig/robot-meshes.ts';

/** As the page sees it: by number, without the path. */
export const consoleMesh = ({ frame, origin, scale, colour, format }: RobotMesh, i: number): ConsoleMesh => ({
  ...{ frame, origin, scale, colour, format },
  url: `api/meshes/${i}`,
});

/** Only the files that the robot's URDF names. */
export async function answerMesh(
  meshes: readonly RobotMesh[],
  i: number,
  response: ServerResponse,
): Promise<void> {
  const file = meshes[i]?.file;
  const stat = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  if (file === undefined || !stat?.isFile()) return replyError(response, 404, 'there is no such mesh');
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': stat.size,
    'cache-control': 'private, max-age=3600',
    'x-content-type-options': 'nosniff',
  });
  pipeline(createReadStream(file), response, () => {});
}
