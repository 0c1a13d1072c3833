import type { LinkRequest } from '../../../src/wire/emulator/settings.ts';
import type { Fault } from '../fault.ts';
import { pause } from '../trial-rig.ts';
import { silenceOf } from './pauses.ts';

const CUTS_S = [0.1, 0.5, 2, 10];
const LEAD_MS = 50;
const AFTER_MS = 1800;

const cuts = CUTS_S.map(
  (seconds): Fault => ({
    name: `cut-${seconds}`,
    what: `network cut for ${seconds} s`,
    seconds: 7 + seconds,
    expected: silenceOf(seconds),
    async run(rig) {
      await rig.link.set({ events: [{ kind: 'hole', atMs: LEAD_MS, forMs: 1000 * seconds }] });
      rig.mark();
      rig.faultNs += LEAD_MS * 1e6;
      await pause(LEAD_MS + 1000 * seconds + AFTER_MS);
    },
  }),
);

const impaired = (name: string, what: string, impairment: NonNullable<LinkRequest['forward']>): Fault => ({
  name,
  what,
  seconds: 9,
  expected: { ends: ['engaged'], restMs: null, message: null },
  async run(rig) {
    rig.mark();
    await rig.link.set({ forward: impairment, return: impairment });
    await pause(3000);
  },
});

export const NETWORK: readonly Fault[] = [
  ...cuts,
  impaired('reorder', '20 % of all datagrams reordered, by 10 to 30 ms', {
    delayMs: 5,
    straggler: { share: 0.2 },
  }),
  impaired('duplicate', '30 % of all datagrams duplicated', { duplicate: { share: 0.3, afterMs: 5 } }),
  {
    name: 'stall',
    what: 'network holds everything for 0.7 s, then delivers it at once',
    seconds: 9,
    expected: { ...silenceOf(0.7), ends: ['engaged'] },
    async run(rig) {
      await rig.link.set({ events: [{ kind: 'stall', atMs: LEAD_MS, forMs: 700 }] });
      rig.mark();
      rig.faultNs += LEAD_MS * 1e6;
      await pause(LEAD_MS + 700 + AFTER_MS);
    },
  },
];
