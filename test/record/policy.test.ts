import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Reply } from 'zeromq';
import type { ReceivedFrame } from '../../src/messages/recording.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { type Observation, observe, stateOf } from '../../src/policy/observation.ts';
import { openPolicy } from '../../src/policy/open-policy.ts';

describe('a policy over ZeroMQ', () => {
  it('has several requests open, and each answer finds its own', {
    timeout: 10_000,
  }, async () => {
    // A waiting socket does not keep the process alive.
    const alive = setInterval(() => {}, 1000);
    const reply = new Reply({ linger: 0 });
    await reply.bind('tcp://127.0.0.1:*');
    const channel = await openPolicy(reply.lastEndpoint!);
    const ask = (tick: number) =>
      channel.infer({ tick, frames: {} } as unknown as Observation, new AbortController().signal);
    const given = async () => (JSON.parse(String((await reply.receive())[0])) as { tick: number }).tick;
    try {
      const first = ask(1);
      assert.equal(await given(), 1);
      const second = ask(2);
      await reply.send(JSON.stringify({ action: [1] }));
      assert.equal(await given(), 2);
      await reply.send(JSON.stringify({ action: [2] }));
      assert.deepEqual([...(await second).values], [2]);
      assert.deepEqual([...(await first).values], [1], 'each answer finds its request');
      await assert.rejects(openPolicy('ftp://x'), { code: 'bad-option' });
    } finally {
      clearInterval(alive);
      channel.close();
      reply.close();
    }
  });
});

describe('an observation', () => {
  const nowNs = 100e9;
  const robot = { measuredRad: [0.1], gripper: 0.5, state: 'engaged' };
  const telemetry = { operatorNs: nowNs, link: { connected: true, stateAgeMs: 5 }, robot } as unknown;
  const settings = { task: '', robot: 'r', joints: ['j'], cameras: ['front'], staleAfterMs: 1000 };
  const seen = (ages: { arrivedMs: number; capturedMs: number }) => {
    const frame: ReceivedFrame = {
      camera: 'front',
      captureNs: 1,
      encoding: 'jpeg',
      bytes: new Uint8Array(4),
      arrivedNs: nowNs - ages.arrivedMs * 1e6,
      captureOperatorNs: nowNs - ages.capturedMs * 1e6,
      uncertaintyNs: 0,
    };
    return observe(1, stateOf(telemetry as Telemetry), { newest: () => frame }, nowNs, settings);
  };

  it('rejects an old picture, whether the camera is silent or the network slow', () => {
    const fresh = seen({ arrivedMs: 10, capturedMs: 40 });
    assert.ok(typeof fresh !== 'string');
    assert.ok(Math.abs(fresh.frames['front']!.ageMs! - 40) < 1e-3);
    assert.equal(seen({ arrivedMs: 1100, capturedMs: Number.NaN }), 'stale-camera');
    assert.equal(seen({ arrivedMs: 10, capturedMs: 1100 }), 'stale-camera');
    assert.ok(typeof seen({ arrivedMs: 10, capturedMs: Number.NaN }) !== 'string');
  });
});
