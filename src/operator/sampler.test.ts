import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emptyControls, encodeControls, MAX_CONTROLS_BYTES } from '../input/codecs/controls-codec.ts';
import { emptyRctp, encodeRctp, RCTP_BYTES } from '../input/codecs/rctp-codec.ts';
import pedalPlugin from '../input/devices/pedal.ts';
import rctpPlugin from '../input/devices/rctp.ts';
import { Sampler } from './sampler.ts';

const MS = 1e6;
const CLUTCH = 30;
const RECORD = 48;

/** A headset without a clutch, and pedals; both send every 20 ms unless silent. */
function setUp(roles = { clutch: 'pedal', record: null as string | null }) {
  let nowNs = 10e9;
  const rctp = rctpPlugin.open(rctpPlugin.config.parse({ resumeAfterMs: 0 }), nowNs);
  const pedal = pedalPlugin.open(pedalPlugin.config.parse({}), nowNs);
  const inputs = new Map([
    ['rctp', { device: rctp, automatic: false, clutchless: true }],
    ['pedal', { device: pedal, automatic: false }],
  ]);
  const sampler = new Sampler(inputs, 'rctp', roles);
  const pressed = new Set<number>();
  const silent = new Set<string>();
  const run = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 20) {
      nowNs += 20 * MS;
      if (!silent.has('rctp')) {
        const packet = { ...emptyRctp(), timestampS: nowNs / 1e9, gripper: 0.5, tracking: true };
        packet.quatXyzw.set([0, 0, 0, 1]);
        const bytes = new Uint8Array(RCTP_BYTES);
        encodeRctp(packet, bytes);
        rctp.ingest(bytes, bytes.length, nowNs, 1, 0);
      }
      if (!silent.has('pedal')) {
        const controls = { ...emptyControls(), pressed: pressed.size };
        controls.keys.set([...pressed]);
        const bytes = new Uint8Array(MAX_CONTROLS_BYTES);
        pedal.ingest(bytes, encodeControls(controls, bytes), nowNs, 2, 0);
      }
      sampler.tick(nowNs);
    }
    return sampler.hand;
  };
  return { sampler, pressed, silent, run };
}

describe('inputs that share the work', () => {
  it('lets a pedal be the clutch of a headset that has none', () => {
    const { pressed, run } = setUp();
    const hand = run(100);
    assert.deepEqual(
      [hand.sample.tracking, hand.sample.clutch, hand.clutchless],
      [true, false, false],
      'a visible hand alone moves nothing',
    );
    pressed.add(CLUTCH);
    assert.equal(run(100).sample.clutch, true);
    pressed.delete(CLUTCH);
    assert.equal(run(20).sample.clutch, false);
  });

  it('loses the hand when either of the two is silent', () => {
    for (const name of ['rctp', 'pedal']) {
      const { pressed, silent, run } = setUp();
      run(40);
      pressed.add(CLUTCH);
      assert.ok(run(100).sample.tracking);
      silent.add(name);
      assert.equal(run(400).sample.tracking, false, name);
    }
  });

  it('counts pedals that were plugged in again as another source', () => {
    const { pressed, silent, run } = setUp();
    pressed.add(CLUTCH);
    const { source } = run(100);
    silent.add('pedal');
    run(1500);
    silent.clear();
    assert.ok(run(100).source > source);
  });

  it('counts the record button of every input, or of the one that has this role', () => {
    for (const [record, expected] of [
      [null, 1],
      ['pedal', 1],
      ['rctp', 0],
    ] as const) {
      const { pressed, run, sampler } = setUp({ clutch: 'pedal', record });
      run(40);
      pressed.add(RECORD);
      run(100);
      assert.equal(sampler.recordPresses, expected, String(record));
    }
  });
});
