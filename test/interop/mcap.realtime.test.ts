import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { createChain } from '../../src/geometry/chain.ts';
import { recoverEpisode } from '../../src/record/recover.ts';
import { emptyInfo, received, rowOf, START_NS, startOf, WALL_NS } from '../../src/record/test-episode.ts';
import { EpisodeWriter } from '../../src/record/writer.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { pythonWith, runPython } from './python-venv.ts';

const found = await pythonWith(
  'mcap_ros2, mcap_protobuf',
  ...['mcap', 'mcap-ros2-support', 'mcap-protobuf-support'],
);
const dir = temporaryFolder('mcap');

interface Seen {
  profile: string;
  library: string;
  messages: number;
  rows: number;
  lastRow: Record<string, unknown>;
  metadata: Record<string, Record<string, unknown>>;
  schemas: Record<string, string>;
  topics: Record<string, Record<string, unknown>>;
}

async function seenBy(python: string, file: string): Promise<Seen> {
  const script = path.join('test', 'interop', 'mcap_reader.py');
  const answer = await runPython(python, [script, file], 30_000);
  assert.equal(answer.code, 0, answer.stderr);
  return JSON.parse(answer.stdout) as Seen;
}

function writeEpisode(file: string): void {
  const info = emptyInfo('python', 6, ['front']);
  const writer = new EpisodeWriter(file, startOf(info));
  for (let i = 0; i < 60; i++) {
    const sampledNs = START_NS + i * 10e6;
    const pictures = new Map([['front', received('front', Math.floor(i / 3), 0)]]);
    writer.row(rowOf(i, 6, pictures, sampledNs), sampledNs, pictures);
    writer.flushIfDue(sampledNs);
  }
  writer.close({ ...info, rows: 60, durationS: 0.59 });
}

describe('a recording in Python', { skip: found.ok ? false : found.why }, () => {
  const { python } = found as { python: string };
  const file = path.join(dir, 'python.mcap');

  it('is read by mcap and decoded by mcap-ros2-support, with checksums verified', async () => {
    writeEpisode(file);
    const seen = await seenBy(python, file);
    assert.equal(seen.profile, 'ros2');
    assert.match(seen.library, /^farhand /);
    assert.deepEqual([seen.rows, seen.messages], [60, 60 * 4 + 20]);
    const last = rowOf(59, 6, new Map(), START_NS + 590e6);
    assert.deepEqual(seen.topics['/farhand/command']!['data'], [...last.commandRad, last.commandGripper]);
    const state = seen.topics['/farhand/joint_states']!;
    assert.deepEqual(state['names'], [...emptyInfo('', 6, []).joints, 'gripper']);
    assert.deepEqual(state['positions'], [...last.stateRad, last.stateGripper]);
    // Larger than a JSON number can hold exactly.
    assert.ok(Math.abs(Number(state['stamp']) - Number(WALL_NS + 590_000_000n)) < 1000);
    assert.deepEqual(seen.topics['/farhand/target']!['positions'], [...last.commandRad, last.commandGripper]);
    const image = seen.topics['/farhand/camera/front']!;
    const expected = received('front', 19, 0);
    assert.deepEqual([image['count'], image['format']], [20, 'jpeg']);
    assert.equal(image['frame'], `front:${expected.captureNs}`);
    assert.equal(image['sha'], createHash('sha256').update(expected.bytes).digest('hex'));
    assert.equal(seen.schemas['/farhand/camera/front'], 'sensor_msgs/msg/CompressedImage');
    assert.deepEqual([seen.metadata['farhand.episode']!['robot'], seen.lastRow['seq']], ['test', 60]);
    assert.equal(seen.metadata['farhand.summary']!['rows'], 60);
  });

  it('has video, distances and sound that other libraries decode', async () => {
    const file = path.join(dir, 'media.mcap');
    const info = { ...emptyInfo('media', 6, ['front']), video: 'h264' as const };
    const writer = new EpisodeWriter(file, startOf(info));
    const shown = { ...received('front', 0, 0), depth: Uint8Array.of(1, 2, 3) };
    const unit = Uint8Array.of(0, 0, 0, 1, 0x65, 9, 9, 9);
    writer.video(shown, unit);
    writer.sound(START_NS, new Uint8Array(640), 16_000);
    const pictures = new Map([['front', shown]]);
    writer.row(rowOf(0, 6, pictures, START_NS), START_NS, pictures);
    writer.close({ ...info, rows: 1 });
    const { topics, schemas } = await seenBy(python, file);
    const video = topics['/farhand/camera/front']!;
    assert.equal(schemas['/farhand/camera/front'], 'foxglove.CompressedVideo');
    const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
    assert.deepEqual(
      [video['count'], video['format'], video['frame'], video['sha']],
      [1, 'h264', `front:${shown.captureNs}`, sha(unit)],
    );
    const sound = topics['/farhand/sound']!;
    assert.deepEqual([sound['format'], sound['sound']], ['pcm-s16', [16_000, 1, 640]]);
    assert.ok(Math.abs(Number(sound['stamp']) - Number(WALL_NS)) < 1000);
    const depth = topics['/farhand/depth/front']!;
    assert.deepEqual(
      [depth['format'], depth['frame'], depth['sha']],
      ['16UC1; png compressed ', `front:${shown.captureNs}`, sha(shown.depth)],
    );
  });

  it('has the arm in 3D: a description, and poses of its links that lead to the tool', async () => {
    const model = loadModel('piper');
    const info = { ...emptyInfo('arm', 6, []), joints: model.joints.map(({ name }) => name) };
    const file = path.join(dir, 'arm.mcap');
    const writer = new EpisodeWriter(file, { ...startOf(info), model });
    const row = { ...rowOf(0, 6, new Map(), START_NS), stateRad: [...model.homeRad] };
    writer.row({ ...row, velocityRadS: [1, 2, 3, 4, 5, 6] }, START_NS, new Map());
    writer.close({ ...info, rows: 1, durationS: 0 });
    const { topics } = await seenBy(python, file);
    assert.deepEqual(topics['/farhand/joint_states']!['velocities'], [1, 2, 3, 4, 5, 6, null]);
    const transforms = topics['/tf']!['transforms'] as [string, string, number[]][];
    const children = transforms.map(([, child]) => child);
    assert.deepEqual(
      transforms.map(([parent]) => parent),
      ['base', ...children.slice(0, -1)],
    );
    const text = String(topics['/robot_description']!['text']);
    for (const child of children) assert.match(text, new RegExp(`<link name="${child}"`));
    const position = new Float64Array(3);
    createChain(model).frame(model.homeRad, 6, position, new Float64Array(4));
    const tool = topics['/farhand/tool']!['position'] as number[];
    for (const [i, value] of tool.entries()) assert.ok(Math.abs(value - position[i]!) < 1e-9);
  });

  it('is readable after truncation and recovery', async () => {
    const part = path.join(dir, 'cut.mcap.part');
    const bytes = readFileSync(file);
    writeFileSync(part, bytes.subarray(0, Math.floor(bytes.length * 0.6)));
    const { path: recovered, rows } = recoverEpisode(part, path.join(dir, 'cut.mcap'), '0.0.0');
    const seen = await seenBy(python, recovered);
    assert.equal(seen.rows, rows);
    assert.ok(rows > 10 && rows < 60, `${rows}`);
  });
});
