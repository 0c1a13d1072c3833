import assert from 'node:assert/strict';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../src/files/package-root.ts';
import { openPlace } from '../../src/publish/place.ts';
import { pushDataset } from '../../src/publish/push.ts';
import { deleteEpisodes, mergeDatasets, trimEpisode } from '../../src/record/edit/edits.ts';
import { correctionsOf } from '../../src/record/export/prepared.ts';
import { checkDataset } from '../../src/record/lerobot/check.ts';
import { LeRobotWriter } from '../../src/record/lerobot/dataset-writer.ts';
import { joinEpisodeFiles } from '../../src/record/lerobot/join-episode-files.ts';
import type { SourceEpisode } from '../../src/record/lerobot/layout.ts';
import { CODECS } from '../../src/record/lerobot/video.ts';
import { HUB_TEST_TOKEN, startHubStandIn } from '../e2e/hub-stand-in.ts';
import { needs } from '../needs.ts';
import { brightness, sourceEpisode } from '../record/source-episode.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Python, runPython } from './python-venv.ts';

/** The newest version that runs on Python 3.10 and 3.11. */
const LEROBOT = 'lerobot==0.4.4';
const INSTALL_MS = 30 * 60_000;
const LOAD_MS = 5 * 60_000;
const FPS = 30;
const PEER = path.join('test', 'interop', 'lerobot_loader.py');
// No test may download from the Hub.
process.env['HF_HUB_OFFLINE'] = '1';

interface Loaded {
  backend: string;
  rows: number;
  frames: number;
  episodes: number;
  fps: number;
  levels: number[];
  tasks: string[];
  window: number[][];
  lastRows: number;
  stats: string[];
  imageStats: number[];
  /** Features that LeRobot gives to a policy unless told otherwise. */
  inputs: string[];
}

/** The real LeRobot in its own virtual environment: several gigabytes, because PyPI's torch includes CUDA. */
async function lerobotPython(): Promise<Python> {
  const base = process.env['PYTHON'] ?? 'python3';
  const folder = path.join(packageRoot, 'artifacts', `venv-${LEROBOT.replace('==', '-')}`);
  const python = path.join(folder, 'bin', 'python');
  const has = async () => (await runPython(python, ['-c', 'import lerobot, torch'], 120_000)).code === 0;
  if (existsSync(python) && (await has())) return { ok: true, python };
  mkdirSync(path.dirname(folder), { recursive: true });
  const made = await runPython(base, ['-m', 'venv', folder], 120_000);
  if (made.code !== 0) return { ok: false, why: `${base} -m venv: ${made.stderr.trim().split('\n').at(-1)}` };
  console.log(`installing ${LEROBOT} into artifacts/ (about 7 GB)`);
  const installed = await runPython(python, ['-m', 'pip', 'install', '--quiet', LEROBOT], INSTALL_MS);
  if (installed.code === 0 && (await has())) return { ok: true, python };
  return { ok: false, why: `pip install ${LEROBOT}: ${installed.stderr.trim().split('\n').at(-1)}` };
}

async function peer<T>(python: string, ...args: string[]): Promise<T> {
  const answer = await runPython(python, [PEER, ...args], LOAD_MS);
  assert.equal(answer.code, 0, answer.stderr.slice(-3000));
  return JSON.parse(answer.stdout.trim().split('\n').at(-1)!) as T;
}

/** Number of the picture that an exported row shows, according to the source. */
const shown = ({ rows }: SourceEpisode, frameIndex: number): number => {
  const atNs = (frameIndex * 1e9) / FPS + 1000;
  const row = rows.filter(({ timeNs }) => timeNs <= atNs).at(-1)!;
  return Math.round((row.frames['front']!.captureNs - rows[0]!.frames['front']!.captureNs) / (1e9 / FPS));
};

async function loadsOurs(python: string, dir: string, codec: (typeof CODECS)[number]): Promise<void> {
  const shape = { cameras: ['front', 'wrist'], widthPx: 320, heightPx: 240 };
  const sources = [
    sourceEpisode({ ...shape, id: 'a', seconds: 2 }),
    sourceEpisode({ ...shape, id: 'b', seconds: 1, task: 'lift the lid' }),
  ];
  const writer = await LeRobotWriter.open(dir, { fps: FPS, codec, maxGapS: 1, version: '0.0.0' });
  for (const source of sources) await writer.add(source);
  await joinEpisodeFiles(dir);
  writer.close();
  const seen = await peer<Loaded>(python, 'load', dir, 'front');
  assert.deepEqual([seen.rows, seen.frames, seen.episodes, seen.fps, seen.lastRows], [90, 90, 2, FPS, 30]);
  assert.deepEqual(seen.tasks, ['put the cup down', 'lift the lid']);
  assert.deepEqual(seen.window, [
    [2, 7],
    [2, 3, 240, 320],
  ]);
  assert.deepEqual(seen.imageStats, [3, 1, 1]);
  assert.deepEqual(seen.inputs, [
    'action',
    'observation.images.front',
    'observation.images.wrist',
    'observation.state',
  ]);
  assert.ok(['q01', 'q99'].every((name) => seen.stats.includes(name)));
  seen.levels.forEach((level, i) => {
    const due = brightness(i < 60 ? shown(sources[0]!, i) : shown(sources[1]!, i - 60));
    assert.ok(Math.abs(level - due) < 4, `row ${i} shows brightness ${level}, recorded ${due}`);
  });
  console.log(`✔ ${codec}: LeRobot decodes every frame of every row (${seen.backend})`);
}

/** Corrections alone: LeRobot loads the stretch that a person drove, with its own pictures. */
async function loadsCorrections(python: string, dir: string): Promise<void> {
  const whole = sourceEpisode({ id: 'a', seconds: 3, widthPx: 320, heightPx: 240 });
  const rows = whole.rows.map((row) => ({ ...row, intervention: row.timeNs >= 1e9 && row.timeNs < 2e9 }));
  const writer = await LeRobotWriter.open(dir, { fps: FPS, codec: 'h264', maxGapS: 1, version: '0.0.0' });
  for (const part of correctionsOf({ ...whole, rows })) await writer.add(part);
  writer.close();
  const seen = await peer<Loaded>(python, 'load', dir, 'front');
  assert.deepEqual([seen.rows, seen.episodes], [30, 1]);
  seen.levels.forEach((level, i) => {
    const due = brightness(shown(whole, FPS + i));
    assert.ok(Math.abs(level - due) < 4, `row ${i} shows brightness ${level}, recorded ${due}`);
  });
  console.log('✔ corrections alone: LeRobot loads the rows that a person drove, with their pictures');
}

async function checksTheirs(python: string, dir: string): Promise<void> {
  await peer(python, 'write', dir);
  const { problems, episodes } = await checkDataset(dir);
  assert.deepEqual(problems.list, []);
  assert.deepEqual(
    episodes.map(({ length }) => length),
    [20, 21, 22],
  );
  assert.equal(new Set(episodes.map(({ dataFile }) => dataFile)).size, 1, 'several episodes in one file');
  console.log('✔ a dataset that LeRobot wrote, three episodes in one file, satisfies every rule');
}

/** Edits a dataset with LeRobot's own command and returns the folders it made. */
async function edited(python: string, root: string, name: string, ...args: string[]): Promise<string> {
  process.env['HF_LEROBOT_HOME'] = root;
  const command = path.join(path.dirname(python), 'lerobot-edit-dataset');
  const answer = await runPython(python, [command, '--repo_id', `farhand/${name}`, ...args], LOAD_MS);
  assert.equal(answer.code, 0, answer.stderr.slice(-3000));
  return path.join(root, 'farhand');
}

async function assertWhole(dir: string, what: string): Promise<void> {
  const { problems, pictures } = await checkDataset(dir, 'all');
  assert.deepEqual(problems.list, [], what);
  console.log(`✔ ${what}: ${pictures.decoded} pictures decoded, every rule satisfied`);
}

const operation = (type: string, name: string, value: unknown) => [
  '--operation.type',
  type,
  `--operation.${name}`,
  typeof value === 'string' ? value : JSON.stringify(value),
];

/** Every operation of `lerobot-edit-dataset` on a dataset, ours or theirs. */
async function checksEdited(python: string, root: string, name: string): Promise<void> {
  const run = (repo: string, ...args: string[]) => edited(python, root, repo, ...args);
  const made = (repo: string) => path.join(root, 'farhand', repo);
  await run(
    name,
    '--new_repo_id',
    `farhand/${name}_less`,
    ...operation('delete_episodes', 'episode_indices', [0]),
  );
  await assertWhole(made(`${name}_less`), `${name}, an episode deleted by LeRobot`);
  await run(name, ...operation('split', 'splits', { one: [0], two: [1] }));
  await assertWhole(made(`${name}_two`), `${name}, split by LeRobot`);
  await run(`${name}_joined`, ...operation('merge', 'repo_ids', [`farhand/${name}`, `farhand/${name}_less`]));
  await assertWhole(made(`${name}_joined`), `${name}, merged by LeRobot`);
  await run(
    `${name}_joined`,
    '--new_repo_id',
    `farhand/${name}_rest`,
    ...operation('delete_episodes', 'episode_indices', [0]),
  );
  const state = ['observation.state'];
  await run(
    name,
    '--new_repo_id',
    `farhand/${name}_bare`,
    ...operation('remove_feature', 'feature_names', state),
  );
  await assertWhole(made(`${name}_bare`), `${name}, a feature removed by LeRobot`);
  await run(`${name}_two`, ...operation('modify_tasks', 'new_task', 'something else'));
  await assertWhole(made(`${name}_two`), `${name}, relabelled by LeRobot`);
}

/** LeRobot joins videos without converting times, and chooses the unit of what it writes itself. */
async function joinsAtRate(python: string, root: string, fps: number): Promise<void> {
  const name = `at${fps}`;
  const made = (repo: string) => path.join(root, 'farhand', repo);
  const options = { fps, codec: 'h264' as const, maxGapS: 1, version: '0.0.0' };
  const writer = await LeRobotWriter.open(made(name), options);
  for (const [id, seconds] of Object.entries({ a: 1.4, b: 0.9, c: 1.1 }))
    await writer.add(sourceEpisode({ id, seconds, cameraHz: fps }));
  await joinEpisodeFiles(made(name));
  writer.close();
  const rows = (await checkDataset(made(name), 'none')).info!.total_frames;
  await edited(python, root, name, ...operation('split', 'splits', { one: [0, 2], two: [1] }));
  const parts = [name, `${name}_one`, `${name}_two`].map((each) => `farhand/${each}`);
  await edited(python, root, `${name}_joined`, ...operation('merge', 'repo_ids', parts));
  await assertWhole(made(`${name}_joined`), `${fps} rows per second, split and merged by LeRobot`);
  const seen = await peer<{ rows: number }>(python, 'load', made(`${name}_joined`), 'front');
  assert.equal(seen.rows, 2 * rows);
  console.log('✔ and LeRobot loads every row of it');
}

/** Our edits of a dataset, ours or theirs with several episodes per file: each result loads in LeRobot. */
async function editsLoad(python: string, root: string, name: string, camera: string): Promise<void> {
  const from = path.join(root, 'farhand', name);
  const made = (what: string) => path.join(root, `${name}-${what}`);
  const loads = async (dir: string, rows: number) => {
    await assertWhole(dir, `${path.basename(dir)}, edited by Farhand`);
    const seen = await peer<{ rows: number }>(python, 'load', dir, camera);
    assert.equal(seen.rows, rows);
    console.log('✔ and LeRobot loads every row of it');
  };
  const first = (await checkDataset(from, 'none')).episodes[0]!.length;
  const { rows } = await deleteEpisodes(from, [0], made('deleted'));
  await loads(made('deleted'), rows);
  const { first: start, videos } = await trimEpisode(
    from,
    { episode: 0, fromS: 0.2, toS: 0.6 },
    made('trimmed'),
  );
  assert.equal(videos.encoded, 0);
  await loads(made('trimmed'), rows + 18 - start);
  await mergeDatasets([from, made('deleted')], made('merged'));
  await loads(made('merged'), first + 2 * rows);
}

/** An export continues in a dataset that LeRobot has edited. */
async function addsToEdited(python: string, root: string): Promise<void> {
  const dir = path.join(root, 'farhand', 'ours_less');
  const shape = { cameras: ['front', 'wrist'], widthPx: 320, heightPx: 240 };
  const writer = await LeRobotWriter.open(dir, { fps: FPS, codec: 'h264', maxGapS: 1, version: '0.0.0' });
  assert.deepEqual(
    ['a', 'b', 'c'].map((id) => writer.has(id)),
    [false, true, false],
  );
  await writer.add(sourceEpisode({ ...shape, id: 'c', seconds: 1 }));
  await joinEpisodeFiles(dir);
  writer.close();
  await assertWhole(dir, 'ours, edited by LeRobot, exported into again');
  const seen = await peer<Loaded>(python, 'load', dir, 'front');
  assert.deepEqual([seen.rows, seen.episodes], [60, 2]);
  console.log('✔ and LeRobot loads it');
}

/** LeRobot opens what was pushed to a hub by its name, as it would from huggingface.co. */
async function loadsFromHub(python: string, dir: string, root: string): Promise<void> {
  const hub = await startHubStandIn();
  try {
    const env = { HF_ENDPOINT: hub.url, HF_TOKEN: HUB_TEST_TOKEN };
    await pushDataset(dir, await openPlace('hf://me/cups', env), { progress: () => {} });
    const script = path.join('test', 'interop', 'hub_loader.py');
    const words = [script, hub.url, HUB_TEST_TOKEN, 'me/cups', path.join(root, 'from-hub')];
    const answer = await runPython(python, words, LOAD_MS);
    assert.equal(answer.code, 0, answer.stderr.slice(-3000));
    const seen = JSON.parse(answer.stdout.trim().split('\n').at(-1)!) as Record<string, unknown>;
    assert.deepEqual([seen['rows'], seen['episodes'], seen['task']], [90, 2, 'lift the lid']);
    console.log('✔ LeRobot opens a dataset that was pushed to a hub, by its name');
  } finally {
    await hub.close();
  }
}

const noFfmpeg = needs('ffmpeg');
const python: Python = noFfmpeg === false ? await lerobotPython() : { ok: false, why: noFfmpeg };
if (!python.ok) console.log(`SKIPPED: ${python.why}`);
else {
  const root = temporaryFolder('interop');
  try {
    for (const codec of CODECS) await loadsOurs(python.python, path.join(root, codec), codec);
    await loadsCorrections(python.python, path.join(root, 'corrections'));
    await loadsFromHub(python.python, path.join(root, 'h264'), root);
    const home = path.join(root, 'farhand');
    mkdirSync(home);
    await checksTheirs(python.python, path.join(home, 'theirs'));
    await checksEdited(python.python, root, 'theirs');
    await editsLoad(python.python, root, 'theirs', 'top');
    renameSync(path.join(root, 'h264'), path.join(home, 'ours'));
    await checksEdited(python.python, root, 'ours');
    await editsLoad(python.python, root, 'ours', 'front');
    await addsToEdited(python.python, root);
    for (const fps of [15, 60]) await joinsAtRate(python.python, root, fps);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
