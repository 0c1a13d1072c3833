import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { shownPath } from '../files/shown-path.ts';
import { readBody, replyError, replyJson } from '../http/replies.ts';
import { decoded } from '../http/request-url.ts';
import type { EpisodeEdit, EpisodeList } from '../messages/console.ts';
import { type EpisodeLibrary, EpisodeProblem } from './episode-library.ts';

const id = z.string().regex(/^[\w-][\w.-]{0,127}$/);
const seconds = z.number().min(0).max(86_400);
const editBody: z.ZodType<EpisodeEdit> = z.discriminatedUnion('edit', [
  z.strictObject({ edit: z.literal(['delete', 'restore']), id }),
  z.strictObject({ edit: z.literal('trim'), id, fromS: seconds, toS: seconds }),
]);

/** `POST /api/episodes`: deletes, trims or restores one. */
export async function editEpisode(
  library: EpisodeLibrary | null,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const edit = await readBody(request, editBody);
  if (typeof edit === 'string') return replyError(response, 400, `not a valid edit: ${edit}`);
  if (library === null) return replyError(response, 409, 'this rig does not record');
  try {
    replyJson(response, 200, listed(library, await library.edit(edit)));
  } catch (error) {
    if (!(error instanceof EpisodeProblem)) throw error;
    replyError(response, 409, error.message);
  }
}

const listed = (library: EpisodeLibrary, list: Omit<EpisodeList, 'dir'>): EpisodeList => ({
  dir: shownPath(library.dir),
  ...list,
});
const labelBody = z.strictObject({ label: z.string().max(100) });

/** `/api/episodes`, `/api/episodes/<id>`, `/api/episodes/<id>/frame?camera=&row=`. */
export async function answerEpisodes(
  library: EpisodeLibrary | null,
  url: URL,
  response: ServerResponse,
): Promise<void> {
  const parts = url.pathname.split('/').slice(3).map(decoded);
  if (parts.includes(null)) return replyError(response, 400, 'bad address');
  const [id, part, ...rest] = [parts[0] ?? '', parts[1] ?? '', ...parts.slice(2)];
  if (library === null) {
    const nothing: EpisodeList = { dir: null, episodes: [], marks: {} };
    return id === ''
      ? replyJson(response, 200, nothing)
      : replyError(response, 404, 'this rig does not record');
  }
  try {
    if (id === '') replyJson(response, 200, listed(library, await library.list()));
    else if (part === '') replyJson(response, 200, await library.view(id));
    else if (part === 'frame' && rest.length === 0) await sendFrame(library, id, url.searchParams, response);
    else replyError(response, 404, 'not found');
  } catch (error) {
    if (!(error instanceof EpisodeProblem)) throw error;
    replyError(response, 404, error.message);
  }
}

/** `POST /api/episodes/<id>`: gives it a label. Works without an operator, and without control of the robot. */
export async function labelOnRequest(
  library: EpisodeLibrary | null,
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request, labelBody);
  if (typeof body === 'string') return replyError(response, 400, `not a valid label: ${body}`);
  if (library === null) return replyError(response, 409, 'this rig does not record');
  try {
    await library.label(id, body.label);
    replyJson(response, 200, { id, label: body.label });
  } catch (error) {
    if (!(error instanceof EpisodeProblem)) throw error;
    replyError(response, 409, error.message);
  }
}

async function sendFrame(
  library: EpisodeLibrary,
  id: string,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const row = Number(query.get('row'));
  const bytes = Number.isInteger(row) ? await library.frame(id, query.get('camera') ?? '', row) : null;
  if (bytes === null) return replyError(response, 404, 'this row has no picture from that camera');
  response.writeHead(200, {
    'content-type': 'image/jpeg',
    'content-length': bytes.length,
    'cache-control': 'private, max-age=3600',
    'x-content-type-options': 'nosniff',
  });
  response.end(bytes);
}
