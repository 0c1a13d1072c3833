import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { farhand, startFarhand } from '../e2e/farhand.ts';
import { openNetwork, type Recorded, recordShipped, SHIPPED_RIGS, SIDES } from '../e2e/shipped-arms.ts';
import { Lifetime } from '../lifetime.ts';
import { needs, needsPackage } from '../needs.ts';
import { peer } from './lerobot-peer.ts';
import { pythonWith } from './python-venv.ts';

/** Rigs of two arms that need no simulator beside them, and what of them differs between the arms. */
const DEMOS = [
  { rig: 'two-arms', settings: ['arms.left.operator.inputs.scripted.widthM=0.05'], cameras: [] },
  // The right arm takes the bar first.
  { rig: 'world-two', settings: [], cameras: ['front', 'wrist-left', 'wrist-right'] },
];
const RECORDED_S = '6';

interface Seen {
  rows: number;
  names: string[][];
  cameras: string[];
  /** Largest mean difference between a picture and the recorded one, smallest to another camera's, of 255. */
  ownPicture: number;
  otherPicture: number | null;
  /** State of the first and last row. */
  first: number[];
  last: number[];
}

/** Every rig of two arms that Farhand ships: recorded, exported, checked, and loaded by LeRobot with the recorded values. */
export async function twoArmsLoad(python: string, root: string): Promise<void> {
  const noNetwork = needs('network namespaces');
  if (noNetwork !== false) return console.log(`SKIPPED: two arms: ${noNetwork}`);
  const reader = await pythonWith(
    'mcap_ros2, mcap_protobuf',
    ...['mcap', 'mcap-ros2-support', 'mcap-protobuf-support'],
  );
  if (!reader.ok) return console.log(`SKIPPED: two arms: ${reader.why}`);
  const loads = async (rig: string, recorded: Omit<Recorded, 'stoodRad'>) => {
    const seen = await seenBy(python, reader.python, recorded, path.join(root, `${rig}-rows`));
    const { rows, names, cameras } = seen;
    console.log(
      `✔ ${rig}: LeRobot loads ${rows} rows of ${names[0]!.length} joints and grippers, and ${cameras.length} cameras, as recorded`,
    );
    return seen;
  };
  for (const { rig, settings, cameras } of DEMOS) {
    const noPackage = rig === 'world-two' && (await needsPackage('@mujoco/mujoco'));
    if (noPackage) console.log(`SKIPPED: ${rig}: ${noPackage}`);
    else {
      const seen = await loads(rig, await recordDemo(rig, settings, path.join(root, rig)));
      assert.deepEqual(seen.cameras, cameras);
      const [left, right] = sidesOf(seen.last);
      assert.ok(apart(left, right) > 0.05, 'the arms moved differently');
    }
  }
  for (const shipped of SHIPPED_RIGS) {
    const life = new Lifetime();
    const recorded = await recordShipped(shipped, life).finally(() => life.end());
    const { names, last } = await loads(shipped.rig, recorded);
    assert.deepEqual([names[0]![0], names[0]!.at(-1)], shipped.names);
    const stood = sidesOf(last);
    for (const [i, side] of SIDES.entries())
      assert.ok(apart(recorded.stoodRad[i]!, stood[i]!) < 0.02, `${side}: where its simulator stood`);
    assert.ok(apart(recorded.stoodRad[0]!, recorded.stoodRad[1]!) > 0.05, 'the arms stood differently');
  }
}

async function recordDemo(rig: string, settings: readonly string[], folder: string) {
  const life = new Lifetime();
  try {
    const { within } = await openNetwork(life);
    const recordings = path.join(folder, 'recordings');
    const words = ['--headless', '--record', '--duration', RECORDED_S, '--rig', rig, ...settings];
    const kept = [`record.dir=${recordings}`, `trace.dir=${path.join(folder, 'traces')}`];
    const demo = startFarhand(['demo', ...words, ...kept], false, within);
    life.own(demo, (each) => each.end());
    assert.equal(await demo.exited, 0, demo.stderr());
    // A busy machine may have stopped the robot between: the first episode is enough.
    const [file] = readdirSync(recordings).filter((name) => name.endsWith('.mcap'));
    const recorded = { file: path.join(recordings, file!), dataset: path.join(folder, 'dataset') };
    const { code, stderr } = await farhand(['export', 'lerobot', recorded.dataset, '--from', recorded.file]);
    assert.equal(code, 0, stderr);
    return recorded;
  } finally {
    await life.end();
  }
}

async function seenBy(
  python: string,
  mcapPython: string,
  { file, dataset }: Omit<Recorded, 'stoodRad'>,
  folder: string,
): Promise<Seen> {
  const check = await farhand(['dataset', 'check', dataset, '--decode']);
  assert.equal(check.code, 0, `${check.stdout}${check.stderr}`);
  mkdirSync(folder);
  const recorded = await peer<{ names: string[] }>(mcapPython, 'recorded_rows.py', file, folder);
  const seen = await peer<Seen>(python, 'lerobot_two_arms.py', dataset, folder);
  assert.deepEqual(seen.names, [recorded.names, recorded.names]);
  const [left, right] = sidesOf(recorded.names);
  assert.ok(
    left.every((name) => name.startsWith('left_')) && right.every((name) => name.startsWith('right_')),
  );
  assert.ok(left.at(-1) === 'left_gripper' && left.length === right.length, `${left} ${right}`);
  assert.ok(seen.rows > 30, `${seen.rows} rows`);
  assert.ok(apart(seen.first, seen.last) > 0.05, 'something moved');
  if (seen.otherPicture !== null)
    assert.ok(3 * seen.ownPicture < seen.otherPicture, `${seen.ownPicture}, ${seen.otherPicture}`);
  return seen;
}

function sidesOf<T>(values: readonly T[]): [T[], T[]] {
  return [values.slice(0, values.length / 2), values.slice(values.length / 2)];
}

/** Of the joints that both have: a simulator's grippers are not among them. */
const apart = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.slice(0, b.length).map((value, i) => Math.abs(value - b[i]!)));
