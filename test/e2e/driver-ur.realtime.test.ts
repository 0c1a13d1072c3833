import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { startUr, urOptions } from '../contract/driver-fixtures/ur.ts';
import { DriverRig } from './driver-rig.ts';

async function withRobot(
  work: (rig: DriverRig) => Promise<void>,
  series: 'cb3' | 'e' = 'cb3',
  options: Record<string, unknown> = {},
): Promise<void> {
  const sim = await startUr(series);
  const rig = await DriverRig.open('ur', 'ur3', { ...urOptions(sim.ready, series), ...options }, sim);
  try {
    await work(rig);
  } finally {
    await rig.close();
  }
}

/** Reacts like the supervisor: on a fault it stops. */
async function faulted(rig: DriverRig, fault: RegExp): Promise<void> {
  await rig.until(() => rig.read() === 'fault', 2000, 'a fault is reported');
  assert.match(rig.driver.fault, fault);
  rig.driver.stop(monotonicClock.nowNs());
  assert.notEqual(rig.read(), 'fault', 'reported once, then readings continue');
  assert.match(rig.driver.fault, fault, 'the fault text stays');
}

// Each on a controller of its own, which mostly waits.
describe('driver ur against a simulated controller', { timeout: 120_000, concurrency: 3 }, () => {
  for (const series of ['cb3', 'e'] as const)
    it(`powers, releases brakes, follows and stops a ${series}`, async () => {
      await withRobot(async (rig) => {
        rig.read();
        const startRad = rig.reading.positionsRad[0]!;
        assert.equal(await rig.enable(), 'ok');
        assert.deepEqual([...(await rig.sweep(800, -0.5))], ['ok']);
        const swept = rig.reading.positionsRad[0]! - startRad;
        assert.ok(swept < -0.2 && swept > -0.45, `${swept} rad`);
        rig.driver.stop(monotonicClock.nowNs());
        await rig.cycles(300);
        assert.ok(Math.abs(rig.reading.velocitiesRadS[0]!) < 1e-9, 'at rest');
        assert.equal(rig.driver.fault, '');
      }, series);
    });

  it('reports a protective stop, and unlocks it only when armed five seconds later', async () => {
    await withRobot(async (rig) => {
      assert.equal(await rig.enable(), 'ok');
      rig.say('protective');
      await faulted(rig, /^protective stop$/);
      assert.equal(await rig.enable(), 'fault', 'too soon');
      assert.match(rig.driver.fault, /protective stop.*5 s/);
      rig.driver.stop(monotonicClock.nowNs());
      await rig.cycles(5200);
      assert.match(rig.driver.fault, /protective stop/, 'nothing unlocks it by itself');
      assert.equal(await rig.enable(), 'ok');
      assert.equal(rig.driver.fault, '');
    });
  });

  for (const [word, name] of [
    ['estop', 'robot e-stop'],
    ['system-estop', 'system e-stop'],
    ['safeguard', 'safeguard stop'],
  ] as const)
    it(`reports a ${name}, rejects arming while it is active and recovers when armed after it`, async () => {
      await withRobot(async (rig) => {
        assert.equal(await rig.enable(), 'ok');
        await rig.sweep(200, 0.5);
        rig.say(word);
        await faulted(rig, new RegExp(`^${name}$`));
        assert.equal(await rig.enable(), 'fault');
        assert.match(rig.driver.fault, new RegExp(`^${name}`));
        rig.driver.stop(monotonicClock.nowNs());
        rig.say('release');
        await rig.cycles(300);
        const rest = rig.reading.positionsRad[0]!;
        await rig.cycles(300);
        assert.equal(rig.reading.positionsRad[0], rest, 'nothing moves by itself');
        assert.equal(await rig.enable(), 'ok');
      });
    });

  it('relies on the robot’s watchdog when its own loop stalls', async () => {
    await withRobot(
      async (rig) => {
        assert.equal(await rig.enable(), 'ok');
        await rig.sweep(400, 0.5);
        // No read, no write: nothing feeds the watchdog, although this thread still serves its sockets.
        await sleep(600);
        rig.read();
        assert.ok(Math.abs(rig.reading.velocitiesRadS[0]!) < 1e-9, 'at rest');
        await faulted(rig, /control program/);
      },
      'cb3',
      { watchdogMs: 100 },
    );
  });

  it('reconnects after a lost connection but moves nothing until enabled', async () => {
    await withRobot(async (rig) => {
      assert.equal(await rig.enable(), 'ok');
      await rig.sweep(200, 0.5);
      rig.say('cut');
      await rig.until(() => rig.read() === 'fault', 2000, 'a fault is reported');
      rig.driver.stop(monotonicClock.nowNs());
      await rig.until(() => rig.read() === 'ok', 5000, 'readings are back');
      assert.match(rig.driver.fault, /lost|disconnected/);
      const rest = rig.reading.positionsRad.slice();
      await rig.cycles(300);
      assert.equal(rig.driver.write(monotonicClock.nowNs(), rest, 0), 'fault', 'still at fault');
      assert.equal(await rig.enable(), 'ok');
      assert.equal(rig.driver.fault, '');
    });
  });

  it('detects a robot that stays connected but goes silent', async () => {
    await withRobot(async (rig) => {
      assert.equal(await rig.enable(), 'ok');
      rig.say('silence');
      await faulted(rig, /lost: silent/);
      assert.equal(rig.read(), 'stale');
    });
  });

  it('rejects a step that no joint could follow, and stops', async () => {
    await withRobot(async (rig) => {
      assert.equal(await rig.enable(), 'ok');
      rig.read();
      const leap = rig.reading.positionsRad.slice();
      const rest = leap[2]!;
      leap[2] = rest + 0.11;
      assert.equal(rig.driver.write(monotonicClock.nowNs(), leap, 0), 'fault');
      assert.match(rig.driver.fault, /step of joint 3/);
      await rig.cycles(300);
      assert.equal(rig.reading.positionsRad[2], rest);
      rig.driver.stop(monotonicClock.nowNs());
      assert.equal(await rig.enable(), 'ok');
      assert.deepEqual([...(await rig.sweep(200, 0.2))], ['ok']);
      leap.set(rig.reading.positionsRad);
      leap[2] = rest + 0.5;
      assert.equal(rig.driver.write(monotonicClock.nowNs(), leap, 0), 'fault', 'later too');
      leap[2] = Number.NaN;
      rig.driver.stop(monotonicClock.nowNs());
      assert.equal(await rig.enable(), 'ok');
      assert.equal(rig.driver.write(monotonicClock.nowNs(), leap, 0), 'fault', 'NaN');
    });
  });

  it('requires remote control, power and the right series', async () => {
    await withRobot(async (rig) => {
      rig.say('local');
      await rig.cycles(100);
      assert.equal(await rig.enable(), 'fault');
      assert.match(rig.driver.fault, /remote control/);
    }, 'e');
    await withRobot(
      async (rig) => {
        assert.equal(await rig.enable(), 'fault');
        assert.match(rig.driver.fault, /switch the robot on/);
      },
      'cb3',
      { powerOn: false },
    );
    await withRobot(
      async (rig) => {
        assert.equal(await rig.enable(), 'fault');
        assert.match(rig.driver.fault, /series is e/);
      },
      'cb3',
      { series: 'e' },
    );
  });

  it('rejects other control programs: connections without the token are dropped', async () => {
    await withRobot(
      async (rig) => {
        assert.equal(await rig.enable(), 'ok');
        const stranger = connect(50917, '127.0.0.1');
        const ended = new Promise<void>((resolve) => stranger.on('close', () => resolve()));
        stranger.on('error', () => {});
        stranger.write(Buffer.of(1, 2, 3, 4));
        await ended;
        assert.deepEqual([...(await rig.sweep(200, 0.2))], ['ok'], 'the robot is still ours');
      },
      'cb3',
      { reversePort: 50917 },
    );
  });

  it('closes a gripper on the tool output', async () => {
    await withRobot(
      async (rig) => {
        assert.equal(await rig.enable(), 'ok');
        const rest = rig.reading.positionsRad.slice();
        const gripped = (value: number) => {
          assert.equal(rig.driver.write(monotonicClock.nowNs(), rest, value), 'ok');
          rig.read();
          return rig.reading.gripper;
        };
        assert.deepEqual([0, 0.5, 0.7, 0.5, 0.3].map(gripped), [0, 0, 1, 1, 0]);
      },
      'cb3',
      { gripper: 'tool-output' },
    );
  });
});
