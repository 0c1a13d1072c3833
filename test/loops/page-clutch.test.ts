import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { ConsoleClients, type PageSocket } from '../../src/console/clients.ts';
import type { DeskRequest } from '../../src/messages/telemetry.ts';
import { OPERATOR_SOCKETS } from '../../src/operator/loop.ts';
import { writeFrame } from '../../src/wire/codecs/frame.ts';
import { SimulatedRig } from './simulated-rig.ts';

const HAND = { kind: 'hand', positionM: [0, 1.2, -0.3], quatXyzw: [0, 0, 0, 1], gripper: 0 };
const SEND_MS = 20;

/** One page's connection, driven by the test. */
class Tab implements PageSocket {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  closed = false;
  readonly #listeners: Record<string, (data?: unknown, isBinary?: boolean) => void> = {};

  on(event: string, listener: (...args: never[]) => void): this {
    this.#listeners[event] = listener as () => void;
    return this;
  }

  send(): void {}

  say(message: object): void {
    this.#listeners['message']?.(JSON.stringify(message), false);
  }

  hand(): void {
    this.say({ ...HAND, clutch: this.closed });
  }

  close(): void {
    this.readyState = 3;
    this.#listeners['close']?.();
  }
}

describe('the clutch of pages behind a console', () => {
  let rig: SimulatedRig;
  let clients: ConsoleClients;
  const consoles: ConsoleClients[] = [];

  const forward = (request: DeskRequest | { kind: 'link' }) => {
    const bytes = new Uint8Array(1024);
    const length = writeFrame(request.kind === 'hand' ? 'hand' : 'request', request, bytes);
    rig.operator.loop.onDatagram(OPERATOR_SOCKETS.desk, bytes, length, 1, rig.nowNs, Number.NaN);
  };
  const open = (device = 'local'): Tab => {
    const tab = new Tab();
    clients.add(tab, { role: 'operator', device, name: device }, forward as never);
    return tab;
  };
  const run = (ms: number, ...tabs: Tab[]) => {
    for (let passed = 0; passed < ms; passed += SEND_MS) {
      for (const tab of tabs) if (tab.readyState === 1) tab.hand();
      rig.runFor(SEND_MS);
    }
  };
  const follow = (tab: Tab, ...others: Tab[]) => {
    tab.closed = false;
    run(400, tab, ...others);
    tab.closed = true;
    run(300, tab, ...others);
    assert.equal(rig.state, 'engaged');
  };

  beforeEach(async () => {
    rig = await SimulatedRig.create({ overrides: ['operator.input=page'] });
    clients = new ConsoleClients({
      access: { stillKnown: () => true },
      ask: forward,
      hands: () => assert.fail('no headset here'),
      nowNs: () => rig.nowNs,
      rtcAddress: '',
      warn: (text) => assert.fail(text),
    });
    consoles.push(clients);
  });
  after(() => {
    for (const each of consoles) each.close();
  });

  for (const gapMs of [0, 40, 100, 160, 220, 600, 2000, 4000])
    it(`holds when the page reconnects after ${gapMs} ms with its clutch closed`, async () => {
      const before = open();
      follow(before);
      before.close();
      rig.runFor(gapMs);
      const reloaded = open();
      reloaded.closed = true;
      run(1000, reloaded);
      assert.equal(rig.state, 'hold');
      follow(reloaded);
    });

  it('does not transfer the clutch of one tab to another', () => {
    const [one, two] = [open(), open()];
    follow(one, two);
    two.closed = true;
    run(500, one, two);
    assert.equal(rig.state, 'engaged', 'the second is not in control');
    one.close();
    run(1000, two);
    assert.equal(rig.state, 'hold');
    follow(two);
  });

  it('holds when another tab takes control, until its own clutch is seen open', () => {
    const [one, two] = [open(), open('tablet')];
    follow(one, two);
    two.closed = true;
    two.say({ kind: 'control', action: 'take' });
    run(1000, one, two);
    assert.equal(rig.state, 'hold');
    follow(two, one);
  });

  it('follows the first press although another tab sends its open clutch in between', () => {
    const [one, two] = [open(), open()];
    follow(two, one);
  });
});
