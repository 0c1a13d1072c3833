import { percentiles } from '../core/statistics/percentiles.ts';
import { bad, type Check, type Finding, good, note } from './check.ts';
import type { Probe } from './probe.ts';

const us = (ns: number): string => `${(ns / 1000).toFixed(0)} µs`;
const EF = 0xb8;

/** The kernel does not stamp the first packets, so they are skipped. */
export const kernelStamps: Check = async (probe) => {
  const name = 'kernel receive stamps';
  const tested = await probe.selfTest(0);
  const gaps = typeof tested === 'string' ? null : percentiles(tested.stampGapNs.slice(5));
  if (gaps) {
    const found = `on every packet; kernel to program p50 ${us(gaps.p50)}, p99 ${us(gaps.p99)}`;
    return [good(name, found)];
  }
  const why = typeof tested === 'string' ? tested : 'packets arrived without a stamp';
  return [
    note(name, {
      found: `${why}; traces will have stamp_source "userspace"`,
      why: 'without them a stall of this process looks like a slow network; DSCP marks and precise timers (0.1 instead of 1 ms) are missing too',
      fix: 'use 64-bit Linux and `npm install koffi`',
    }),
  ];
};

export const wakeUps: Check = async (probe) => {
  const name = 'timer wake-ups';
  const tested = await probe.selfTest(0);
  const late = typeof tested === 'string' ? null : percentiles(tested.wakeLateNs);
  if (late === null || typeof tested === 'string') {
    const why = 'without native sockets commands are applied up to 1 ms early or late';
    return [note(name, { found: 'event-loop timers, ±1 ms', why, fix: 'use 64-bit Linux' })];
  }
  const count = tested.wakeLateNs.length;
  const found = `late by p50 ${us(late.p50)}, p99 ${us(late.p99)}, max ${us(late.max)} over ${count}`;
  if (late.p99 < 1e6) return [good(name, found)];
  return [
    note(name, {
      found,
      why: `commands are applied up to ${(late.p99 / 1e6).toFixed(1)} ms after they are due`,
      fix: 'close other programs, or give the control threads priority: robot.realtimePriority=60 operator.realtimePriority=60',
    }),
  ];
};

export const realtime: Check = async (probe) => {
  const name = 'real-time scheduling';
  const tested = await probe.selfTest(1);
  const scheduling = typeof tested === 'string' ? 'not available here' : tested.scheduling;
  if (scheduling === 'fifo:1') {
    const found = 'permitted; off unless robot.realtimePriority or operator.realtimePriority is set';
    return [good(name, found)];
  }
  return [
    note(name, {
      found: scheduling,
      why: 'other programs can delay the control thread by 1 to 10 ms at a time (an estimate)',
      fix: 'run as a user with an rtprio limit: echo "$USER - rtprio 80" | sudo tee /etc/security/limits.d/farhand.conf, then log in again',
    }),
  ];
};

export const timeSlice: Check = async (probe) => {
  const name = 'time slice';
  const tested = await probe.selfTest(0);
  if (typeof tested === 'string') return [good(name, 'not available without native sockets')];
  if (tested.scheduling.includes('slice')) return [good(name, 'control and driver threads get 0.1 ms')];
  return [
    note(name, {
      found: 'the kernel’s own, usually 3 ms',
      why: 'a control thread that wakes up waits for the rest of another thread’s slice: up to 3 ms, and under load often',
      fix: 'use Linux 6.12 or newer, or set robot.realtimePriority=60 operator.realtimePriority=60',
    }),
  ];
};

/** DSCP marks and clock, measured against the robot's echo if a host is given. */
export const marksAndClock =
  (host: string | null): Check =>
  async (probe) => {
    const seen = await probe.marks(host);
    if (typeof seen !== 'string') return [dscp(seen), clockSync(seen)].filter((finding) => finding !== null);
    if (host === null)
      return [
        note('DSCP', {
          found: `not set: ${seen}`,
          why: 'on Wi-Fi, unmarked packets queue behind downloads for tens of milliseconds (an estimate)',
          fix: 'use 64-bit Linux and `npm install koffi`',
        }),
      ];
    return [
      bad('echo', {
        found: `no reply from ${host}: ${seen}`,
        why: 'DSCP marks, clock and round trip could not be measured',
        fix: `on ${host}: farhand check echo --listen 0.0.0.0 (UDP 4754 must pass the firewall)`,
      }),
    ];
  };

type Seen = Exclude<Awaited<ReturnType<Probe['marks']>>, string>;

function dscp({ where, there, back }: Seen): Finding {
  const name = 'DSCP';
  const word = (tos: number | null) =>
    tos === null ? 'unknown' : tos === EF ? 'EF' : `0x${tos.toString(16)}`;
  const isLost = (tos: number | null) => tos !== null && tos !== EF;
  const legs = `at ${where} ${word(there)}${back === null ? '' : `, on replies ${word(back)}`}`;
  if (!isLost(there) && !isLost(back)) {
    const more = where === 'this machine' ? '; --robot HOST measures the path to the robot and back' : '';
    return good(name, `marks on arrival: ${legs}${more}`);
  }
  const leg = isLost(there) ? 'on the way to the robot' : 'on the way back';
  return bad(name, {
    found: `the mark is lost ${leg}: ${legs}`,
    why: 'an access point sends unmarked packets after all other traffic: up to tens of milliseconds late, mostly towards the client (an estimate)',
    fix: 'configure the switch, router or VPN to keep DSCP (often "trust DSCP" or WMM/QoS), or bypass it',
  });
}

const MOST_UNCERTAIN_MS = 1;

function clockSync({ where, oneWayMs, clockUncertaintyMs }: Seen): Finding | null {
  const name = 'clock synchronization';
  if (clockUncertaintyMs === null) return null;
  const trip = oneWayMs ? `; one way p50 ${oneWayMs.p50.toFixed(2)}, p99 ${oneWayMs.p99.toFixed(2)} ms` : '';
  const found = `clock of ${where} known to ±${clockUncertaintyMs.toFixed(3)} ms${trip}`;
  if (clockUncertaintyMs <= MOST_UNCERTAIN_MS) return good(name, found);
  return note(name, {
    found,
    why: `one-way times are accurate only to ±${clockUncertaintyMs.toFixed(1)} ms, at most half the shortest round trip`,
    fix: 'use a path with a shorter or steadier round trip: a cable, or a quieter channel',
  });
}
