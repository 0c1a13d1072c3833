import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { openPlace } from '../../src/publish/place.ts';
import { pushDataset } from '../../src/publish/push.ts';
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
import { editsLoad } from './lerobot-edits.ts';
import { assertWhole, lerobotPython, peer, runLerobot } from './lerobot-peer.ts';
import { twoArmsLoad } from './lerobot-two-arms.ts';
import type { Python } from './python-venv.ts';

const FPS = 30;
const LOADER = 'lerobot_loader.py';
// No test may download from the Hub.
process.env['HF_HUB_OFFLINE'] = '1';

interface Loaded {
  backend: string;
  rows: number;
  frames: number;
  episodes: number;
  fps: number;
  levels: number[];
  actions: number[][];
  tasks: string[];
  window: number[][];
  lastRows: number;
  stats: string[];
  imageStats: number[];
  /** Features that LeRobot gives to a policy unless told otherwise. */
  inputs: string[];
}

/** The recorded row that an exported one must be. */
const sourceRow = ({ rows }: SourceEpisode, frameIndex: number) =>
  rows.filter(({ timeNs }) => timeNs <= (frameIndex * 1e9) / FPS + 1000).at(-1)!;

/** Number of the picture that an exported row shows, according to the source. */
const shown = (source: SourceEpisode, frameIndex: number): number => {
  const { rows } = source;
  const row = sourceRow(source, frameIndex);
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
  const seen = await peer<Loaded>(python, LOADER, 'load', dir, 'front');
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
    const { commandRad, commandGripper } =
      i < 60 ? sourceRow(sources[0]!, i) : sourceRow(sources[1]!, i - 60);
    assert.deepEqual(seen.actions[i], [...commandRad, commandGripper].map(Math.fround));
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
  const seen = await peer<Loaded>(python, LOADER, 'load', dir, 'front');
  assert.deepEqual([seen.rows, seen.episodes], [30, 1]);
  seen.levels.forEach((level, i) => {
    const due = brightness(shown(whole, FPS + i));
    assert.ok(Math.abs(level - due) < 4, `row ${i} shows brightness ${level}, recorded ${due}`);
  });
  console.log('✔ corrections alone: LeRobot loads the rows that a person drove, with their pictures');
}

async function checksTheirs(python: string, dir: string): Promise<void> {
  await peer(python, LOADER, 'write', dir);
  const { problems, episodes } = await checkDataset(dir);
  assert.deepEqual(problems.list, []);
  assert.deepEqual(
    episodes.map(({ length }) => length),
    [20, 21, 22],
  );
  assert.equal(new Set(episodes.map(({ dataFile }) => dataFile)).size, 1, 'several episodes in one file');
  const { levels, actions } = await peer<Loaded>(python, LOADER, 'load', dir, 'top');
  assert.equal(levels.length, 63);
  levels.forEach((level, i) => {
    const [sine, episode] = actions[i]!;
    const n = i - [0, 20, 41][episode!]!;
    assert.ok(Math.abs(level - 10 * n) < 4 && sine === Math.fround(Math.sin(n / 10)), `row ${i}`);
  });
  console.log('✔ a dataset that LeRobot wrote, three episodes in one file, satisfies every rule');
}

/** Edits a dataset with LeRobot's own command and returns the folders it made. */
async function edited(python: string, root: string, name: string, ...args: string[]): Promise<string> {
  process.env['HF_LEROBOT_HOME'] = root;
  const command = path.join(path.dirname(python), 'lerobot-edit-dataset');
  await runLerobot(python, command, '--repo_id', `farhand/${name}`, ...args);
  return path.join(root, 'farhand');
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
  const { episodes } = await checkDataset(made(`${name}_two`), 'none');
  assert.deepEqual(
    episodes.map(({ tasks }) => tasks),
    [['something else']],
  );
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
  const seen = await peer<{ rows: number }>(python, LOADER, 'load', made(`${name}_joined`), 'front');
  assert.equal(seen.rows, 2 * rows);
  console.log('✔ and LeRobot loads every row of it');
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
  const seen = await peer<Loaded>(python, LOADER, 'load', dir, 'front');
  assert.deepEqual([seen.rows, seen.episodes], [60, 2]);
  console.log('✔ and LeRobot loads it');
}

/** LeRobot opens what was pushed to a hub by its name, as it would from huggingface.co. */
async function loadsFromHub(python: string, dir: string, root: string): Promise<void> {
  const hub = await startHubStandIn();
  try {
    const env = { HF_ENDPOINT: hub.url, HF_TOKEN: HUB_TEST_TOKEN };
    await pushDataset(dir, await openPlace('hf://me/cups', env), { progress: () => {} });
    const words = [hub.url, HUB_TEST_TOKEN, 'me/cups', path.join(root, 'from-hub')];
    const seen = await peer<Record<string, unknown>>(python, 'hub_loader.py', ...words);
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
    await editsLoad(python.python, root, 'theirs');
    renameSync(path.join(root, 'h264'), path.join(home, 'ours'));
    await checksEdited(python.python, root, 'ours');
    await editsLoad(python.python, root, 'ours');
    await addsToEdited(python.python, root);
    await twoArmsLoad(python.python, root);
    for (const fps of [15, 60]) await joinsAtRate(python.python, root, fps);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
