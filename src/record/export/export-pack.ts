import { type EpisodeInfo, ROW_SOURCES } from '../../messages/recording.ts';
import { type GridRow, resample } from '../lerobot/grid.ts';
import type { SourceEpisode } from '../lerobot/layout.ts';
import { blocksOf, COEFFICIENTS, TABLES, toCoefficients } from '../pack/dct.ts';
import { NpzWriter } from '../pack/npz.ts';
import { prepared } from './prepared.ts';
import { cameraFps, type EpisodeSource, openSource } from './sources.ts';

export interface PackExport {
  file: string;
  episodes: readonly EpisodeSource[];
  /** Rows per second; null: the first camera's. */
  fps: number | null;
  maxGapS: number;
  /** Only what a person drove after taking over from a policy; each stretch becomes an episode. */
  onlyCorrections?: boolean;
  widthPx: number;
  heightPx: number;
  /** Every this many rows have pictures; the rows between have only state and action. */
  pictureEvery: number;
  /** RGB pixels of a JPEG at that size; null if it is not one. */
  decode: (jpeg: Uint8Array, widthPx: number, heightPx: number) => Uint8Array | null;
  onEpisode?: (id: string, rows: number) => void;
}

export interface PackReport {
  episodes: number;
  rows: number;
  pictures: number;
  sizeBytes: number;
}

/** Recordings as one small `.npz` for training without any other package: docs/policies.md describes its arrays. */
export async function exportPack(options: PackExport): Promise<PackReport> {
  const { file, episodes, widthPx, heightPx, pictureEvery } = options;
  const first = await openSource(episodes[0]!);
  const fps = options.fps ?? cameraFps(first.info.cameras, first.rows);
  const added: EpisodeInfo[] = [];
  let writer: NpzWriter | null = null;
  let [rows, pictures] = [0, 0];
  for (const source of episodes)
    for (const part of (await prepared(source, options.onlyCorrections)).parts) {
      writer ??= new NpzWriter(file);
      const done = await addEpisode(writer, added.length, part, fps, options);
      rows += done.rows;
      pictures += done.pictures;
      added.push(part.info);
      options.onEpisode?.(part.info.id, done.rows);
    }
  if (writer === null) return { episodes: 0, rows, pictures, sizeBytes: 0 };
  const { info } = first;
  const meta = {
    ...{ version: 1, fps, robot: info.robot, joints: info.joints, gripper: info.hasGripper },
    sources: ROW_SOURCES,
    ...{ cameras: info.cameras, widthPx, heightPx, pictureEvery, tables: TABLES },
    episodes: added.map(({ id, task, label }) => ({ id, task, label })),
  };
  writer.text('meta.json', JSON.stringify(meta));
  return { episodes: added.length, rows, pictures, sizeBytes: writer.close() };
}

async function addEpisode(
  writer: NpzWriter,
  index: number,
  whole: SourceEpisode,
  fps: number,
  options: PackExport,
): Promise<{ rows: number; pictures: number }> {
  const grid = resample(whole.rows, fps, options.maxGapS);
  const name = `episode${String(index).padStart(4, '0')}`;
  const { hasGripper, joints, cameras } = whole.info;
  const width = joints.length + (hasGripper ? 1 : 0);
  const table = (pick: (row: GridRow['row']) => number[]) =>
    Float32Array.from(grid.flatMap(({ row }) => pick(row)));
  const state = table((row) => [...row.stateRad, ...(hasGripper ? [row.stateGripper] : [])]);
  const action = table((row) => [...row.commandRad, ...(hasGripper ? [row.commandGripper] : [])]);
  writer.array(`${name}.state`, [grid.length, width], state);
  writer.array(`${name}.action`, [grid.length, width], action);
  const drivers = Int8Array.from(grid, ({ row }) => ROW_SOURCES.indexOf(row.source ?? 'person'));
  writer.array(`${name}.source`, [grid.length], drivers);
  const seen = grid.filter((_, i) => i % options.pictureEvery === 0);
  for (const camera of cameras) await addPictures(writer, `${name}.${camera}`, camera, whole, seen, options);
  return { rows: grid.length, pictures: seen.length * cameras.length };
}

async function addPictures(
  writer: NpzWriter,
  name: string,
  camera: string,
  source: SourceEpisode,
  seen: readonly GridRow[],
  { widthPx, heightPx, decode }: PackExport,
): Promise<void> {
  const size = COEFFICIENTS * blocksOf(widthPx, heightPx);
  const all = new Int8Array(seen.length * size);
  const wanted = new Map<number, number[]>();
  let captureNs = Number.NaN;
  for (const [i, { row }] of seen.entries()) {
    // Mistakes are not learnt: the picture before stands in for theirs, which takes no space.
    if (row.source !== 'disturbance' || i === 0) captureNs = row.frames[camera]!.captureNs;
    wanted.set(captureNs, [...(wanted.get(captureNs) ?? []), i]);
  }
  for await (const { captureNs, bytes } of source.frames(camera)) {
    const places = wanted.get(captureNs);
    if (places === undefined) continue;
    const rgb = decode(bytes, widthPx, heightPx);
    if (rgb === null) throw new Error(`a picture of ${camera} in ${source.info.id} cannot be decoded`);
    const [first = 0, ...others] = places;
    const out = all.subarray(first * size, (first + 1) * size);
    toCoefficients(rgb, widthPx, heightPx, out);
    for (const place of others) all.set(out, place * size);
  }
  const blocks = blocksOf(widthPx, heightPx);
  writer.array(name, [COEFFICIENTS, seen.length, blocks], changes(all, seen.length, blocks));
}

/** Coefficient by coefficient, each picture as its difference from the one before (modulo 256): most are zero. */
function changes(all: Int8Array, pictures: number, blocks: number): Int8Array {
  const out = new Int8Array(all.length);
  for (let k = 0, to = 0; k < COEFFICIENTS; k++)
    for (let picture = 0; picture < pictures; picture++)
      for (let block = 0; block < blocks; block++, to++) {
        const at = (picture * COEFFICIENTS + k) * blocks + block;
        out[to] = all[at]! - (picture === 0 ? 0 : all[at - COEFFICIENTS * blocks]!);
      }
  return out;
}
