import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { inputSockets } from '../../src/app/open-operator.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { frameType } from '../../src/wire/codecs/frame.ts';
import { Headset, INPUT_SOCKET } from './rctp-headset.ts';
import { MS, SimulatedRig } from './simulated-rig.ts';

/** The hand needs half of it, but packets at half the tick rate arrive as steps. The model allows 3.14. */
const CALM_RAD_S = 1.5;
const OVERRIDES = ['operator.input=rctp', 'operator.inputs.rctp.bothHands=true'];

describe('the shipped rig for RCTP', () => {
  it('opens one socket to the network, for the right hand', async () => {
    const [socket, ...more] = await inputSockets(loadRig('rctp', []).config);
    assert.deepEqual([socket?.name, socket?.host, socket?.port], ['rctp right', '0.0.0.0', 8888]);
    assert.deepEqual(more, []);
  });
});

describe('a headset over RCTP', () => {
  let rig: SimulatedRig;
  let headset: Headset;

  const start = async (...more: string[]) => {
    rig = await SimulatedRig.create({ overrides: [...OVERRIDES, ...more] });
    headset = new Headset(rig);
    rig.runFor(300);
  };
  const follow = () => {
    headset.run(1000);
    assert.equal(rig.state, 'engaged');
    rig.robot.transitions.length = 0;
  };
  beforeEach(() => start());

  it('is followed without a jump once its hand has been tracked long enough', () => {
    assert.equal(rig.state, 'armed');
    headset.run(280);
    assert.equal(rig.state, 'armed');
    headset.run(3000);
    assert.equal(rig.state, 'engaged');
    const moved = rig.robot.driver.writes.map(({ positionsRad }) => positionsRad[0]!);
    assert.ok(Math.max(...moved) - Math.min(...moved) > 0.05, 'it moves');
    assert.ok(rig.maxSpeedRadS() < CALM_RAD_S, `${rig.maxSpeedRadS()} rad/s`);
    assert.equal(rig.operator.counters.get('bad-tag'), 0);
  });

  it('holds when tracking is lost, and is followed again on its own', () => {
    follow();
    headset.packet.tracking = false;
    headset.run(40);
    assert.equal(rig.state, 'hold');
    headset.run(5000);
    headset.packet.tracking = true;
    headset.run(280);
    assert.equal(rig.state, 'hold');
    headset.run(200);
    assert.deepEqual(rig.path, ['hold', 'engaged']);
    assert.ok(rig.maxSpeedRadS() < CALM_RAD_S);
  });

  it('holds when it goes silent', () => {
    follow();
    // Stale after 150 ms, plus a tick and the one-way delay.
    const tookMs = rig.runUntil(() => rig.state === 'hold', 1000);
    assert.ok(tookMs < 150 + 20 + 10, `${tookMs} ms`);
  });

  for (const [name, arrange] of [
    ['a restart of its program', () => headset.begin(0.1)],
    ['another sender', () => headset.begin(5, '10.0.0.4')],
    ['a silence of two seconds', () => rig.runFor(2000)],
  ] as const)
    it(`needs arming after ${name}`, () => {
      follow();
      arrange();
      headset.run(3000);
      assert.equal(rig.state, 'hold');
      rig.ask('disarm');
      headset.run(100);
      rig.ask('arm');
      headset.run(500);
      assert.equal(rig.state, 'engaged');
    });

  it('does not engage on its own after the watchdog, even if the hand is lost and found', () => {
    follow();
    const { impair } = rig;
    rig.impair = (from, to, nowNs) => (from === headset.peer ? impair(from, to, nowNs) : null);
    headset.run(300);
    rig.impair = impair;
    headset.run(1000);
    assert.equal(rig.state, 'hold');
    headset.packet.tracking = false;
    headset.run(200);
    headset.packet.tracking = true;
    headset.run(1000);
    assert.equal(rig.state, 'hold');
    rig.ask('disarm');
    headset.run(100);
    rig.ask('arm');
    headset.run(500);
    assert.equal(rig.state, 'engaged');
  });

  it('needs reset and arming after its e-stop, and stops again while the button is held', () => {
    follow();
    headset.packet.estop = true;
    headset.run(40);
    assert.equal(rig.state, 'stopped');
    rig.ask('reset');
    headset.run(200);
    assert.equal(rig.state, 'stopped');
    headset.packet.estop = false;
    headset.run(200);
    rig.ask('reset');
    headset.run(1000);
    assert.equal(rig.state, 'idle');
    rig.ask('arm');
    headset.run(500);
    assert.equal(rig.state, 'engaged');
  });

  it('may engage again, reset and arm by itself where the rig allows it', async () => {
    await start('operator.inputs.rctp.armFlags=true');
    const press = (flag: 'arm' | 'reset') => {
      headset.packet[flag] = true;
      headset.run(700);
      headset.packet[flag] = false;
      headset.run(500);
    };
    follow();
    rig.runFor(2000);
    headset.run(1000);
    assert.equal(rig.state, 'hold');
    press('arm');
    assert.equal(rig.state, 'engaged');
    headset.packet.estop = true;
    headset.run(100);
    headset.packet.estop = false;
    press('arm');
    assert.equal(rig.state, 'stopped', 'a stop must be reset first');
    press('reset');
    assert.equal(rig.state, 'idle');
    press('arm');
    assert.equal(rig.state, 'engaged');
  });

  it('cannot arm where the rig does not allow it', () => {
    follow();
    rig.runFor(2000);
    headset.packet.arm = true;
    headset.run(2000);
    assert.equal(rig.state, 'hold');
  });

  it('has its e-stop forwarded on arrival, not at the next tick', async () => {
    await start('operator.hz=5');
    headset.run(1000);
    // Just after a tick: the next one is 200 ms away.
    const ticked = rig.operator.loop.sampler.hand;
    const lastNs = ticked.sampledNs;
    rig.runUntil(() => ticked.sampledNs > lastNs, 300);
    const asked: number[] = [];
    rig.onOperatorSend = (_socket, bytes) => {
      if (frameType(bytes, bytes.length) === 'desk') asked.push(rig.nowNs);
    };
    const sentNs = rig.nowNs;
    headset.send({ estop: true, quatXyzw: new Float64Array(4) });
    rig.runUntil(() => rig.state === 'stopped', 50);
    assert.equal(asked[0]! - sentNs, 2 * MS, 'in the call that received it');
    assert.equal(rig.operator.counters.get('bad-quaternion'), 1);
  });

  it('is stopped by the other hand and by an inactive input', async () => {
    follow();
    headset.send({ estop: true }, INPUT_SOCKET + 1);
    rig.runFor(10);
    assert.equal(rig.state, 'stopped');
    await start('operator.input=scripted');
    rig.runUntil(() => rig.state === 'engaged', 1000);
    headset.send({ estop: true });
    rig.runFor(10);
    assert.equal(rig.state, 'stopped');
  });

  it('counts packets that a slow tick could not use', async () => {
    await start('operator.hz=5');
    headset.run(1000);
    assert.ok(rig.operator.counters.get('dropped-queue-full') >= 20);
  });
});
