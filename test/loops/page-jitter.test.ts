import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openInputs } from '../../src/app/open-operator.ts';
import { ManualClock } from '../../src/core/time/clock.ts';
import { pageOperatorRig } from '../../src/fleet/page-operator/operator-rig.ts';
import { emptyHandSample } from '../../src/messages/hand-sample.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { impairmentSchema } from '../../src/wire/emulator/impairment.ts';
import { LinkModel } from '../../src/wire/emulator/link-model.ts';
import { PROFILES, type ProfileName } from '../../src/wire/emulator/profiles.ts';

const MS = 1e6;
const FRAME_NS = 1e9 / 72;
const SECONDS = 60;
/** The hand of a headset at 72 Hz: 10 cm at 0.5 Hz. */
const handM = (ns: number) => 0.1 * Math.sin((2 * Math.PI * 0.5 * ns) / 1e9);

/**
 * What the operator role of a page’s fleet session sees of the hand at its ticks, over an emulated link. Returns the
 * 99th percentile of the error against the same motion at a steady delay (the median of the run), and that delay.
 */
async function play(profile: ProfileName, handPlayout: 'none' | 'adaptive') {
  const { config } = loadRig('demo', []);
  const rig = pageOperatorRig(config, { link: [1, 2, 3], deskPort: 4, telemetryPort: 5 });
  assert.equal(rig.operator.handPlayout, 'adaptive', 'the default of such a session');
  const operator = { ...rig.operator, handPlayout };
  const { device } = (await openInputs({ ...rig, operator }, new ManualClock())).get('page')!;
  const impairment = impairmentSchema.parse(PROFILES[profile].impairment);
  const settings = { label: profile, impairment, events: [], trace: null, tracePhaseNs: 0 };
  const link = new LinkModel(settings, 7, 'forward', 0);
  const arrivals: { atNs: number; takenNs: number }[] = [];
  for (let takenNs = 1e9; takenNs < SECONDS * 1e9; takenNs += FRAME_NS) {
    const atNs = link.admit(takenNs, 200);
    if (atNs !== null) arrivals.push({ atNs, takenNs });
  }
  const out = emptyHandSample();
  const seen: { atNs: number; positionM: number; ageNs: number }[] = [];
  let next = 0;
  for (let nowNs = 1.1e9; nowNs < (SECONDS - 1) * 1e9; nowNs += 10 * MS) {
    for (; next < arrivals.length && arrivals[next]!.atNs <= nowNs; next++) {
      const { atNs, takenNs } = arrivals[next]!;
      const hand = {
        positionM: [handM(takenNs), 1, 0],
        quatXyzw: [0, 0, 0, 1],
        gripper: 0,
        clutch: true,
        takenNs,
      };
      const bytes = new TextEncoder().encode(JSON.stringify(hand));
      assert.equal(device.ingest(bytes, bytes.length, atNs, 1, 0), null);
    }
    device.sample(nowNs, out);
    if (nowNs > 11e9) seen.push({ atNs: nowNs, positionM: out.positionM[0]!, ageNs: nowNs - out.takenNs });
  }
  // The delay that a person is used to: the median age of the second around each tick.
  const errors = seen.map(({ atNs, positionM }, i) => {
    const around = seen.slice(Math.max(0, i - 50), i + 50).map(({ ageNs }) => ageNs);
    const usualNs = around.sort((a, b) => a - b)[around.length >> 1]!;
    return Math.abs(positionM - handM(atNs - usualNs));
  });
  errors.sort((a, b) => a - b);
  const ages = seen.map(({ ageNs }) => ageNs).sort((a, b) => a - b);
  return { p99Mm: errors[Math.floor(0.99 * errors.length)]! * 1000, delayMs: ages[ages.length >> 1]! / MS };
}

describe('a page in a fleet session', () => {
  for (const profile of ['wifi', 'wifi-untuned', '5g'] as const)
    it(`drives steadily over ${profile}: the jitter of its own network is absorbed`, async () => {
      const [raw, steady] = [await play(profile, 'none'), await play(profile, 'adaptive')];
      assert.ok(
        steady.p99Mm < raw.p99Mm / 3,
        `${raw.p99Mm.toFixed(2)} → ${steady.p99Mm.toFixed(2)} mm at ${steady.delayMs.toFixed(1)} ms`,
      );
      assert.ok(steady.delayMs < 110, `${steady.delayMs}`);
    });
});
