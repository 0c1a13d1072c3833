import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, describe, it } from 'node:test';
import { Counters } from '../../src/core/counters.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { DeviceFiles } from '../../src/input/device-files.ts';
import plugin from '../../src/input/devices/spacemouse.ts';
import { emptyHandSample } from '../../src/messages/hand-sample.ts';
import { startSimProcess } from '../contract/sim-process.ts';
import { Lifetime } from '../lifetime.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const lifetime = new Lifetime();
after(() => lifetime.end());

/** Waits until `isTrue`, asked every 10 ms. */
async function until(isTrue: () => boolean, what: string): Promise<void> {
  for (let i = 0; i < 2000; i++) {
    if (isTrue()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`waited 20 s until ${what}`);
}

describe('a device file', () => {
  it('moves the hand of a SpaceMouse, and is opened again after it was unplugged', async () => {
    const file = `${temporaryFolder()}/mouse.events`;
    const start = async () =>
      lifetime.own(await startSimProcess(['evdev', '--file', file]), (each) => each.stop());
    const sim = await start();
    const socket = lifetime.own(createSocket('udp4'), (each) => each.close());
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const device = plugin.open(plugin.config.parse({}), monotonicClock.nowNs());
    socket.on('message', (bytes, { port }) =>
      assert.equal(device.ingest(bytes, bytes.length, monotonicClock.nowNs(), port, 0), null),
    );
    const said: string[] = [];
    const spec = {
      ...plugin.files!(plugin.config.parse({ device: file }))[0]!,
      toPort: socket.address().port,
    };
    lifetime.own(new DeviceFiles([spec], new Counters(), (text) => said.push(text)), (each) => each.close());
    const hand = emptyHandSample();
    const sample = () => device.sample(monotonicClock.nowNs(), hand);

    await until(() => sample() === 'ok', 'the device is open');
    assert.equal(hand.clutch, false, 'a cap at rest');
    sim.child.send('axis 2 -350');
    await until(() => sample() === 'ok' && hand.clutch && hand.positionM[1]! > 0.01, 'the hand moved up');
    assert.deepEqual([hand.positionM[0], hand.positionM[2]], [0, 0]);
    sim.child.send('axis 2 0');
    await until(() => sample() === 'ok' && !hand.clutch, 'the cap at rest opened the clutch');
    sim.child.send('press 256');
    await until(() => sample() === 'ok' && hand.gripper === 1, 'the left button closed the gripper');

    await sim.stop();
    await until(() => sample() === 'stale' && said.length > 0, 'the unplugged device was reported');
    assert.match(said.join('\n'), /spacemouse: /);
    await start();
    await until(() => sample() === 'ok', 'it was opened again');
  });
});
