import { readFileSync } from 'node:fs';
import { monotonicClock } from '../../core/clock.ts';
import { TeleopError } from '../../core/errors.ts';
import { percentiles } from '../../core/percentiles.ts';
import { type DatagramHandler, peerOf, type Reactor } from '../../wire/reactor.ts';
import { keyFolder, listKeys } from '../../wire/secure/key-file.ts';
import { openNativeReactor } from '../../wire/transports/udp-native.ts';
import { type Check, type Finding, good } from './check.ts';

const PROBES = 100;
const PERIOD_NS = 5e6;

interface SelfTest {
  reactor: Reactor;
  stampGapNs: number[];
  wakeLateNs: number[];
}

/** Sends itself a datagram every 5 ms through the very sockets a role uses. */
async function selfTest(priority: number): Promise<SelfTest> {
  const spec = { name: 'doctor', host: '127.0.0.1', port: 0 };
  const reactor = await openNativeReactor([spec], undefined, monotonicClock, priority);
  const own = peerOf('127.0.0.1', reactor.localPort(0));
  const stampGapNs: number[] = [];
  const wakeLateNs: number[] = [];
  let nextNs = monotonicClock.nowNs() + PERIOD_NS;
  const handler: DatagramHandler = {
    nextDeadlineNs: () => nextNs,
    onDeadline(nowNs) {
      wakeLateNs.push(nowNs - nextNs);
      nextNs = nowNs + PERIOD_NS;
      reactor.send(0, Uint8Array.of(1), 1, own);
      if (wakeLateNs.length >= PROBES) reactor.stop();
    },
    onDatagram: (_socket, _bytes, _length, _from, receivedNs, kernelNs) => {
      stampGapNs.push(receivedNs - kernelNs);
    },
    onOversize: () => {},
  };
  await reactor.run(handler);
  reactor.close();
  return { reactor, stampGapNs, wakeLateNs };
}

const us = (ns: number): string => `${(ns / 1000).toFixed(0)} µs`;

/** The kernel stamps lazily at first; a gap that stays a number is a stamp. */
export const kernelStamps: Check = async () => {
  const name = 'kernel receive stamps';
  try {
    const gaps = percentiles((await selfTest(0)).stampGapNs.slice(5));
    if (gaps)
      return good(name, `on every packet; kernel to program p50 ${us(gaps.p50)}, p99 ${us(gaps.p99)}`);
    return lostStamps(name, 'packets came without a stamp');
  } catch (error) {
    if (!(error instanceof TeleopError)) throw error;
    return lostStamps(name, error.message);
  }
};

function lostStamps(name: string, found: string): Finding {
  return {
    name,
    verdict: 'note',
    found: `${found}; traces will say stamp_source "userspace"`,
    why: 'without them a stall of this program looks like a slow network, and DSCP marks and precise timers are missing too',
    fix: 'use 64-bit Linux and `npm install koffi`',
  };
}

export const wakeUps: Check = async () => {
  const name = 'timer wake-ups';
  try {
    const late = percentiles((await selfTest(0)).wakeLateNs)!;
    const found = `late by p50 ${us(late.p50)}, p99 ${us(late.p99)}, max ${us(late.max)} over ${PROBES}`;
    if (late.p99 < 1e6) return good(name, found);
    const fix =
      'close other programs, or give the control threads priority: robot.realtimePriority=60 (see the next line)';
    return { name, verdict: 'note', found, why: 'commands are applied that much after they are due', fix };
  } catch {
    return {
      name,
      verdict: 'note',
      found: 'event-loop timers, ±1 ms',
      why: 'no native wait here',
      fix: 'use 64-bit Linux',
    };
  }
};

export const realtime: Check = async () => {
  const name = 'real-time scheduling';
  const scheduling = await selfTest(1).then(
    ({ reactor }) => reactor.scheduling,
    () => 'not available here',
  );
  if (scheduling === 'fifo:1')
    return good(name, 'permitted; off unless robot.realtimePriority or operator.realtimePriority is set');
  return {
    name,
    verdict: 'note',
    found: scheduling,
    why: 'other programs can delay the control thread by milliseconds',
    fix: 'run as a user with an rtprio limit: echo "$USER - rtprio 80" | sudo tee /etc/security/limits.d/farhand.conf, then log in again',
  };
};

const WANTED_BUFFER_BYTES = 4 << 20;

export const socketBuffers: Check = async () => {
  const name = 'socket buffers';
  let max: number;
  try {
    max = Number(readFileSync('/proc/sys/net/core/rmem_max', 'utf8'));
  } catch {
    return good(name, 'limit not visible on this system');
  }
  if (max >= WANTED_BUFFER_BYTES) return good(name, `up to ${max} bytes`);
  return {
    name,
    verdict: 'note',
    found: `limited to ${max} bytes, ${WANTED_BUFFER_BYTES} asked for`,
    why: 'a stall of some 100 ms under a flood loses packets in the kernel',
    fix: `sudo sysctl -w net.core.rmem_max=${WANTED_BUFFER_BYTES}`,
  };
};

export const zeromq: Check = async () => {
  const name = 'ZeroMQ';
  try {
    const { version } = await import('zeromq');
    return good(name, `libzmq ${version}; link.transport=zmq can be compared with udp`);
  } catch {
    return {
      name,
      verdict: 'note',
      found: 'not installed',
      why: 'only link.transport=zmq needs it',
      fix: 'npm install zeromq',
    };
  }
};

export const pairedKeys: Check = async () => {
  const name = 'paired keys';
  const keys = listKeys(keyFolder());
  const problem = keys.find((key) => key.problem !== null);
  if (problem)
    return {
      name,
      verdict: 'bad',
      found: `${problem.name}: ${problem.problem}`,
      why: 'the key is not used',
      fix: `chmod 600 ${problem.path}, or pair again`,
    };
  if (keys.length > 0) return good(name, keys.map((key) => `${key.name} (${key.id})`).join(', '));
  const why = 'operator and robot on two machines need one; the demo makes its own';
  return { name, verdict: 'note', found: 'none', why, fix: '`farhand pair` on both machines' };
};
