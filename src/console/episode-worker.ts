import { parentPort, workerData } from 'node:worker_threads';
import { TeleopError } from '../core/errors.ts';
import { packageVersion } from '../files/package-root.ts';
import type { EpisodeEdit, EpisodeList, EpisodeView } from '../messages/console.ts';
import type { EpisodeInfo, EpisodeRow } from '../messages/recording.ts';
import { cutEpisode, deleteEpisode, restoreEpisode } from '../record/deleted.ts';
import { episodeFile, labelEpisode, listEpisodes, REFUSED_FOLDER } from '../record/episodes.ts';
import { marksOf } from '../record/outliers.ts';
import { readEpisode, readFrame, readWorld } from '../record/reader.ts';

/** Most rows of an episode that a page gets: more than it has pixels. */
const MAX_ROWS = 1200;
/** Episodes kept in memory, so that scrubbing does not read the file again. */
const KEPT = 2;

export type EpisodeRequest =
  | { kind: 'list' }
  | { kind: 'view'; id: string }
  | { kind: 'frame'; id: string; camera: string; row: number }
  | { kind: 'edit'; edit: EpisodeEdit }
  | { kind: 'label'; id: string; label: string };

/** The reply to request `id`; `error` is for people to read. */
export type EpisodeReply = { id: number } & ({ value: unknown } | { error: string });

const { dir } = workerData as { dir: string };
const kept = new Map<string, { info: EpisodeInfo; rows: EpisodeRow[] }>();

async function answer(request: EpisodeRequest): Promise<unknown> {
  if (request.kind === 'list') return list();
  if (request.kind === 'edit') return edit(request.edit);
  if (request.kind === 'label') return label(request.id, request.label);
  const episode = await open(request.id);
  if (request.kind === 'view') return view(request.id, episode);
  const captureNs = episode.rows[request.row]?.frames[request.camera]?.captureNs;
  return captureNs === undefined ? null : readFrame(episodeFile(dir, request.id), request.camera, captureNs);
}

/** Answers with the new list. */
function edit(asked: EpisodeEdit): Promise<Omit<EpisodeList, 'dir'>> {
  const { id } = asked;
  kept.delete(id);
  if (asked.edit === 'trim') cutEpisode(dir, id, asked.fromS, asked.toS, packageVersion());
  else if (asked.edit === 'delete') deleteEpisode(dir, id);
  else restoreEpisode(dir, id);
  return list();
}

/** Newest first, including refused ones. */
async function list(): Promise<Omit<EpisodeList, 'dir'>> {
  const all = [...(await listEpisodes(dir)), ...(await listEpisodes(`${dir}/${REFUSED_FOLDER}`))];
  const episodes = all.sort((a, b) => (a.id < b.id ? 1 : -1));
  return { episodes, marks: marksOf(episodes) };
}

async function label(id: string, text: string): Promise<null> {
  await labelEpisode(episodeFile(dir, id), { label: text });
  kept.delete(id);
  return null;
}

async function open(id: string): Promise<{ info: EpisodeInfo; rows: EpisodeRow[] }> {
  const known = kept.get(id);
  if (known?.info.complete) return known;
  const episode = await readEpisode(episodeFile(dir, id));
  if (kept.size >= KEPT) kept.delete(kept.keys().next().value!);
  kept.set(id, episode);
  return episode;
}

async function view(
  id: string,
  { info, rows }: { info: EpisodeInfo; rows: EpisodeRow[] },
): Promise<EpisodeView> {
  const world = await readWorld(episodeFile(dir, id));
  return { info, rows: thinned(rows), ...(world.length > 0 && { world: thinned(world) }) };
}

function thinned<T>(all: T[]): T[] {
  const every = Math.ceil(all.length / MAX_ROWS);
  return every <= 1 ? all : all.filter((_, i) => i % every === 0);
}

parentPort?.on('message', ({ id, request }: { id: number; request: EpisodeRequest }) => {
  answer(request).then(
    (value) => parentPort?.postMessage({ id, value } satisfies EpisodeReply),
    (error: unknown) => {
      if (!(error instanceof TeleopError)) throw error;
      parentPort?.postMessage({ id, error: `${error.message}. ${error.hint}` } satisfies EpisodeReply);
    },
  );
});
