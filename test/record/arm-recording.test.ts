import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { CdrReader } from '@foxglove/cdr';
import { McapIndexedReader } from '@mcap/core';
import { createChain } from '../../src/geometry/chain.ts';
import { readEpisode } from '../../src/record/reader.ts';
import { emptyInfo, rowOf, START_NS, startOf } from '../../src/record/test-episode.ts';
import { EpisodeWriter } from '../../src/record/writer.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const dir = temporaryFolder('arm');

const readableOf = (bytes: Uint8Array) => ({
  size: async () => BigInt(bytes.length),
  read: async (offset: bigint, size: bigint) => bytes.slice(Number(offset), Number(offset + size)),
});

describe('a recording of an arm', () => {
  it('keeps speeds, torques, sub-tasks and the pose of the tool', async () => {
    const model = loadModel('ur3');
    const info = { ...emptyInfo('more', 6, []), joints: model.joints.map(({ name }) => name) };
    const file = path.join(dir, 'more.mcap');
    const writer = new EpisodeWriter(file, { ...startOf(info), model });
    const more = { velocityRadS: [1, 2, 3, 4, 5, 6], torqueNm: [6, 5, 4, 3, 2, 1], subtask: 'grasp' };
    const row = { ...rowOf(0, 6, new Map(), START_NS), ...more, stateRad: [...model.homeRad] };
    writer.row(row, START_NS, new Map());
    writer.close({ ...info, rows: 1, complete: true });
    const [read] = (await readEpisode(file)).rows;
    const { toolPose, ...rest } = read!;
    assert.deepEqual(rest, row);
    const position = new Float64Array(3);
    const turn = new Float64Array(4);
    createChain(model).frame(model.homeRad, 6, position, turn);
    const expected = [...position, ...turn];
    const sign = Math.sign(toolPose![6]! * turn[3]!) || 1;
    for (const [i, value] of toolPose!.entries())
      assert.ok(Math.abs(value - (i > 2 ? sign : 1) * expected[i]!) < 1e-9);
    const bytes = new Uint8Array(readFileSync(file));
    const indexed = await McapIndexedReader.Initialize({ readable: readableOf(bytes) });
    const topics = new Map([...indexed.channelsById.values()].map((channel) => [channel.topic, channel.id]));
    for await (const { data } of indexed.readMessages({ topics: ['/robot_description'] }))
      assert.match(new CdrReader(data).string(), /^<\?xml[\s\S]*<joint name="shoulder_pan/);
    assert.ok(topics.has('/robot_description') && topics.has('/tf'));
  });
});
