import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { z } from 'zod';
import { parseJson } from '../core/parse-json.ts';
import { packageRoot } from '../files/package-root.ts';
import { readBody, replyError, replyJson } from '../http/replies.ts';
import type { DatasetEntry } from '../messages/console.ts';
import type { ExportRunner } from './export-job.ts';

const MAX_INFO_BYTES = 1 << 20;
const MAX_SCORES_BYTES = 64 << 20;
const SCORE_MS = 60_000;
const INFO_FILE = 'meta/info.json';

export const datasetName = z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/);
const episodes = z.array(z.int().min(0).max(1_000_000)).min(1).max(10_000);
const seconds = z.number().min(0).max(86_400);
const edit = <Kind extends string, Fields extends z.ZodRawShape>(kind: Kind, fields: Fields) =>
  z.strictObject({ edit: z.literal(kind), name: datasetName, ...fields });

/** An edit as the page requests it. */
const editBody = z.discriminatedUnion('edit', [
  edit('delete', { episodes }),
  edit('trim', { episode: z.int().min(0), fromS: seconds, toS: seconds }),
  edit('relabel', { episodes, task: z.string().min(1).max(400) }),
  edit('stats', {}),
  edit('split', { episodes, into: datasetName }),
  edit('merge', { other: datasetName, into: datasetName }),
]);
export type DatasetEdit = z.infer<typeof editBody>;

const info = z.looseObject({ fps: z.number(), total_episodes: z.int(), total_frames: z.int() });

/** The datasets in a folder; others than LeRobot's are left out. */
export function listDatasets(dir: string): DatasetEntry[] {
  if (!existsSync(dir)) return [];
  const found: DatasetEntry[] = [];
  for (const name of readdirSync(dir).sort()) {
    const file = path.join(dir, name, INFO_FILE);
    if (!datasetName.safeParse(name).success || !existsSync(file)) continue;
    if (statSync(file).size > MAX_INFO_BYTES) continue;
    const read = parseJson(readFileSync(file), info, MAX_INFO_BYTES);
    if (typeof read === 'string') continue;
    found.push({ name, fps: read.fps, episodes: read.total_episodes, rows: read.total_frames });
  }
  return found;
}

/** `/api/datasets/<name>`: the figures of every episode, read by another process. */
export function answerScores(dir: string, name: string, response: ServerResponse): Promise<void> {
  if (!datasetName.safeParse(name).success || !existsSync(path.join(dir, name, INFO_FILE))) {
    replyError(response, 404, 'there is no such dataset');
    return Promise.resolve();
  }
  const words = [
    path.join(packageRoot, 'bin', 'farhand'),
    'dataset',
    'score',
    path.join(dir, name),
    '--json',
  ];
  return new Promise((resolve) => {
    const options = { timeout: SCORE_MS, maxBuffer: MAX_SCORES_BYTES };
    execFile(process.execPath, words, options, (error, stdout, stderr) => {
      if (error !== null) replyError(response, 409, lastLine(stderr) || 'the dataset cannot be read');
      else replyJson(response, 200, JSON.parse(stdout));
      resolve();
    });
  });
}

const lastLine = (text: string): string =>
  text
    .trim()
    .split('\n')
    .at(-1)
    ?.replace(/^farhand: /, '') ?? '';

/** `POST /api/datasets`: an edit, as a process, one at a time and not during an export. */
export async function startEdit(
  dir: string | null,
  runner: ExportRunner,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request, editBody);
  if (dir === null) return replyError(response, 409, 'this rig does not record');
  if (typeof body === 'string') return replyError(response, 400, `not a valid edit: ${body}`);
  const missing = [body.name, ...(body.edit === 'merge' ? [body.other] : [])].find(
    (name) => !existsSync(path.join(dir, name, INFO_FILE)),
  );
  if (missing !== undefined) return replyError(response, 404, `there is no dataset "${missing}"`);
  const words = wordsOf(dir, body);
  const out = path.join(dir, 'into' in body ? body.into : body.name);
  if (!runner.run(`dataset ${body.edit}`, ['dataset', ...words], out))
    return replyError(response, 409, 'an export or edit is already running');
  replyJson(response, 202, runner.job);
}

/** The command line of an edit, after `farhand dataset`. */
export function wordsOf(dir: string, body: DatasetEdit): string[] {
  const at = path.join(dir, body.name);
  switch (body.edit) {
    case 'delete':
      return ['delete', at, '--episodes', body.episodes.join()];
    case 'trim':
      return ['trim', at, '--episodes', `${body.episode}`, '--from', `${body.fromS}`, '--to', `${body.toS}`];
    case 'relabel':
      return ['relabel', at, '--episodes', body.episodes.join(), `--task=${body.task}`];
    case 'stats':
      return ['stats', at];
    case 'split':
      return ['split', at, '--out', path.join(dir, body.into), `part=${body.episodes.join()}`];
    case 'merge':
      return ['merge', at, path.join(dir, body.other), '--out', path.join(dir, body.into)];
  }
}
