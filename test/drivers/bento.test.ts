import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { TeleopError } from '../../src/core/errors.ts';
import { emptyReading } from '../../src/robot/driver.ts';
import { DEFAULT_LIMITS, HAND, MAX_SPEEDS, radOfCounts } from '../../src/robot/drivers/bento/arm-facts.ts';
import { MOTOR, PACKET } from '../../src/robot/drivers/bento/brachioplexus-codec.ts';
import { BentoBench, BytePeer } from './bento-bench.ts';

describe('driver bento, byte for byte', () => {
  let bench: BentoBench;
  let peer: BytePeer;

  const open = async (options: Record<string, unknown> = {}, model = 'bento') => {
    peer = new BytePeer();
    bench = new BentoBench(peer, options, model);
    await bench.open();
    return bench.driver;
  };
  const nowNs = () => bench.clock.nowNs();
  /** Writes a target for a while, like the control loop. */
  const drive = (target: number[], ms: number, gripper = 0) =>
    bench.run(ms, () => bench.driver.write(nowNs(), Float64Array.from(target), gripper));
  const states = () => [...peer.last(PACKET.control)!.states];

  afterEach(() => bench.close());

  it('loads the scene with limits and view, updates them, then sends control packets at rest', async () => {
    await open({ scene: 3, frameRate: 60, camera: [-1, 2, 3, 4, 5, 6] });
    bench.run(100);
    const scene = peer.last(PACKET.scene)!;
    assert.deepEqual([scene.sceneIndex, scene.frameRate, ...scene.camera], [3, 60, -1, 2, 3, 4, 5, 6]);
    assert.deepEqual([...scene.limits], DEFAULT_LIMITS);
    assert.deepEqual([...peer.last(PACKET.update)!.limits], DEFAULT_LIMITS);
    const controls = peer.received.filter(({ type }) => type === PACKET.control);
    assert.ok(controls.length > 5);
    assert.ok(controls.every((packet) => packet.states.every((state) => state === MOTOR.stop)));
  });

  it('sends a control packet every 15 ms', async () => {
    await open();
    const count = () => peer.received.filter(({ type }) => type === PACKET.control).length;
    const before = count();
    bench.run(1500);
    assert.equal(count() - before, 100);
  });

  it('keeps the running scene with scene 0', async () => {
    await open({ scene: 0 });
    assert.equal(peer.last(PACKET.scene), undefined);
  });

  it('commands directions and speeds within the limits, and never state 3', async () => {
    const arm = await open({ maxSpeeds: { elbow: 20 } });
    assert.equal(arm.enable(nowNs()), 'ok');
    drive([1, 0.5, -1, 0.01, 0], 150);
    assert.deepEqual(states(), [MOTOR.up, MOTOR.up, MOTOR.down, MOTOR.up, MOTOR.stop]);
    const { speeds } = peer.last(PACKET.control)!;
    assert.equal(speeds[0], 66, 'as fast as the model allows');
    assert.equal(speeds[1], 20);
    assert.ok(speeds[3]! > 0 && speeds[3]! < 10);
    assert.ok(peer.received.every((packet) => packet.states.every((state) => state < MOTOR.keep)));
    assert.ok(MAX_SPEEDS.every((most, i) => speeds[i]! <= most));
  });

  it('moves one joint at a time if configured', async () => {
    const arm = await open({ control: 'sequential' });
    arm.enable(nowNs());
    drive([0.5, 0.2, 1, -0.3, 0], 100);
    assert.deepEqual(states(), [0, 0, MOTOR.up, 0, 0]);
  });

  it('drives the hand by the gripper if the model has four joints', async () => {
    const arm = await open({}, 'bento-arm');
    const reading = emptyReading(4);
    arm.enable(nowNs());
    drive([0, 0, 0, 0], 80, 1);
    assert.equal(states()[HAND], MOTOR.down, 'closing decreases its counts');
    peer.counts[HAND] = 1928;
    bench.run(60);
    arm.read(nowNs(), reading);
    assert.equal(reading.gripper, 1);
    drive([0, 0, 0, 0], 80, 0);
    assert.equal(states()[HAND], MOTOR.up);
    assert.equal(states()[0], MOTOR.stop);
  });

  it('reads angles and signed speeds', async () => {
    const counts = [1028, 2304, 3073, 790, 2800];
    const arm = await open();
    peer.counts.splice(0, 5, ...counts);
    bench.run(20);
    const reading = emptyReading(5);
    assert.equal(arm.read(nowNs(), reading), 'ok');
    assert.deepEqual([...reading.positionsRad], counts.map(radOfCounts));
    assert.equal(reading.gripper, 0, 'wide open');
  });

  for (const [trouble, begin, message] of [
    ['silence', () => Object.assign(peer, { silent: true }), /no feedback/],
    ['nonsense', () => Object.assign(peer, { garbage: Uint8Array.of(255, 255, 4, 30, 0, 1, 2) }), /bad-size/],
    ['a stranger', () => Object.assign(peer, { isFromArm: false }), /unknown-source/],
  ] as const)
    it(`stops and reports ${trouble} in place of feedback, and enables again afterwards`, async () => {
      const arm = await open();
      arm.enable(nowNs());
      drive([1, 0, 0, 0, 0], 60);
      assert.equal(states()[0], MOTOR.up);
      begin();
      drive([1, 0, 0, 0, 0], 250);
      assert.equal(states()[0], MOTOR.stop);
      assert.match(arm.fault, message);
      assert.equal(arm.read(nowNs(), emptyReading(5)), 'fault');
      assert.equal(arm.write(nowNs(), new Float64Array(5), 0), 'fault');
      assert.equal(arm.enable(nowNs()), 'fault');
      Object.assign(peer, { silent: false, garbage: null, isFromArm: true });
      bench.run(100);
      assert.equal(arm.enable(nowNs()), 'ok');
      assert.equal(arm.fault, '');
    });

  it('stops the arm when the control loop is silent for the watchdog, and not before', async () => {
    const arm = await open({ watchdogMs: 200 });
    arm.enable(nowNs());
    drive([1, 0, 0, 0, 0], 60);
    bench.run(180);
    assert.equal(states()[0], MOTOR.up);
    bench.run(40);
    assert.equal(states()[0], MOTOR.stop);
    assert.match(arm.fault, /control loop silent/);
  });

  it('rejects a target that is not a number and stops', async () => {
    const arm = await open();
    arm.enable(nowNs());
    assert.equal(arm.write(nowNs(), Float64Array.of(0, Number.NaN, 0, 0, 0), 0), 'fault');
    assert.match(arm.fault, /joint 2/);
  });

  it('sends a stop on dispose, and nothing after it', async () => {
    const arm = await open();
    arm.enable(nowNs());
    drive([1, 0, 0, 0, 0], 60);
    arm.dispose();
    bench.run(1);
    assert.equal(states()[0], MOTOR.stop);
    const count = peer.received.length;
    bench.run(60);
    assert.equal(peer.received.length, count);
  });

  it('gives up on an arm that never replies', async () => {
    peer = new BytePeer();
    peer.silent = true;
    bench = new BentoBench(peer, { openTimeoutMs: 600 });
    await assert.rejects(
      () => bench.open(),
      (error) => error instanceof TeleopError && error.code === 'robot-unreachable',
    );
  });
});
