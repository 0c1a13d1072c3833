import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  decodeControls,
  emptyControls,
  encodeControls,
  isPressed,
  MAX_CONTROLS_BYTES,
} from './controls-codec.ts';
import { EVENT_BYTES, EvdevState, encodeEvent } from './evdev-codec.ts';

const SYN = encodeEvent('syn', 0, 0);
const DROPPED = encodeEvent('syn', 3, 0);

function stateAfter(events: readonly Uint8Array[], nowNs = 0) {
  const state = new EvdevState();
  for (const event of events) state.take(event, 0);
  const controls = emptyControls();
  state.fill(nowNs, controls);
  return {
    state,
    controls,
    keys: [...controls.keys.subarray(0, controls.pressed)],
    axes: [...controls.axes],
  };
}

describe('EvdevState', () => {
  it('reads the events of a 64-bit kernel', () => {
    // As read from a 3Dconnexion SpaceNavigator's layout: time 1 s 2 µs, EV_REL, REL_Z, −350.
    const hex = '0100000000000000' + '0200000000000000' + '0200' + '0200' + 'a2feffff';
    const { axes } = stateAfter([Buffer.from(hex, 'hex')]);
    assert.deepEqual(axes, [0, 0, -350, 0, 0, 0]);
  });

  it('gives the same state however the bytes are split', () => {
    const event = fc.oneof(
      fc.tuple(fc.constant('key' as const), fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 2 })),
      fc.tuple(fc.constant('absolute' as const), fc.nat(7), fc.integer({ min: -500, max: 500 })),
      fc.tuple(fc.constant('syn' as const), fc.constantFrom(0, 3), fc.constant(0)),
    );
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 30 }),
        fc.array(fc.integer({ min: 1, max: 70 })),
        (events, cuts) => {
          const whole = Buffer.concat(events.map(([type, code, value]) => encodeEvent(type, code, value)));
          const parts: Uint8Array[] = [];
          let at = 0;
          for (const cut of cuts) {
            parts.push(whole.subarray(at, at + cut));
            at += cut;
          }
          parts.push(whole.subarray(at));
          assert.deepEqual(stateAfter(parts).controls, stateAfter([whole]).controls);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('lets a relative axis return to zero, which the kernel does not report', () => {
    const events = [encodeEvent('relative', 0, 200), encodeEvent('absolute', 1, 100), SYN];
    assert.deepEqual(stateAfter(events, 20e6).axes.slice(0, 2), [200, 100]);
    assert.deepEqual(stateAfter(events, 100e6).axes.slice(0, 2), [0, 100]);
  });

  it('counts nothing as pressed after lost events, until it is pressed again', () => {
    const press = encodeEvent('key', 30, 1);
    assert.deepEqual(stateAfter([press, SYN]).keys, [30]);
    assert.deepEqual(stateAfter([press, SYN, DROPPED, encodeEvent('key', 31, 1)]).keys, []);
    assert.deepEqual(stateAfter([press, SYN, DROPPED, SYN, encodeEvent('key', 30, 2)]).keys, []);
    assert.deepEqual(stateAfter([press, SYN, DROPPED, SYN, press]).keys, [30]);
  });

  it('is unharmed by any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 * EVENT_BYTES }), (bytes) => {
        const { controls } = stateAfter([bytes]);
        const out = new Uint8Array(MAX_CONTROLS_BYTES);
        const back = emptyControls();
        assert.ok(decodeControls(out, encodeControls(controls, out), back));
        assert.deepEqual(back.axes, controls.axes);
        for (let i = 0; i < controls.pressed; i++) assert.ok(isPressed(back, controls.keys[i]!));
      }),
      { numRuns: 200 },
    );
  });
});
