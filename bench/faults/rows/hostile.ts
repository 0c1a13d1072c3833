import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { fileURLToPath } from 'node:url';
import type { LinkEntry } from '../../../src/app/link-worker.ts';
import type { FloodOrder } from '../../flood/sender.ts';
import { interruption } from '../../interrupt.ts';
import { type Fault, HOLD_REST_MS } from '../fault.ts';
import { pause, type TrialRig } from '../trial-rig.ts';

const SENDER = fileURLToPath(new URL('../../flood/sender.js', import.meta.url));
const FLOOD_PER_SECOND = 20_000;
const REPLAY_EVERY_MS = 20;
const REPLAY_MS = 3000;
const STRANGERS = 4;
/** A ready operator is in control within this time. */
const CONNECT_MS = 10_000;
/** The first datagrams of a session are its handshake, with repetitions. */
const HANDSHAKE = 6;

/** Replays captured datagrams from unknown addresses: all within three seconds, repeated until `over`. */
async function replay(rig: TrialRig, entries: readonly LinkEntry[], over: () => boolean): Promise<void> {
  const sockets = Array.from({ length: STRANGERS }, () => createSocket('udp4'));
  try {
    const perTurn = Math.ceil((entries.length * REPLAY_EVERY_MS) / REPLAY_MS);
    for (let at = 0; !over(); ) {
      for (let i = 0; i < perTurn; i++, at++) {
        const { bytes, mapping } = entries[at % entries.length]!;
        sockets[at % STRANGERS]!.send(bytes, rig.robotPorts[mapping]!, '127.0.0.1', () => {});
      }
      await pause(REPLAY_EVERY_MS);
    }
  } finally {
    for (const socket of sockets) socket.close();
  }
}

const after = (ms: number): (() => boolean) => {
  const untilMs = performance.now() + ms;
  return () => performance.now() >= untilMs;
};

async function restartRobot(rig: TrialRig): Promise<void> {
  await rig.robot.end('SIGKILL');
  rig.startRobot();
  await rig.ready(rig.robot, /^robot ready/);
}

function flood(rig: TrialRig, seconds: number): Promise<void> {
  const names = ['command', 'hello', 'probe'] as const;
  const targets = names.map((accepts, i) => ({ name: accepts, port: rig.robotPorts[i]!, accepts }));
  const order: FloodOrder = { targets, perSecond: FLOOD_PER_SECOND, seconds };
  const args = [SENDER, JSON.stringify(order)];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { signal: interruption }, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}

export const HOSTILE: readonly Fault[] = [
  {
    name: 'replay',
    what: 'all datagrams of the session replayed from other addresses while it runs',
    seconds: 9,
    expected: {
      ends: ['engaged'],
      restMs: null,
      message: /^robot: counted: .*(replayed|bad-auth|not-operator)/,
    },
    async run(rig) {
      rig.mark();
      await replay(rig, [...rig.sent], after(REPLAY_MS));
    },
  },
  {
    name: 'replay-restart',
    what: 'the same after a restart of the robot, without an operator',
    seconds: 12,
    expected: { ends: ['disconnected'], restMs: null, message: /^robot: counted: /, lostMs: 3000 },
    async run(rig) {
      await rig.operator.end('SIGKILL');
      rig.changes.length = 0;
      await restartRobot(rig);
      rig.mark();
      await replay(rig, [...rig.sent], after(REPLAY_MS));
      rig.check(rig.changes.length === 0, `replayed datagrams moved it: ${rig.changes[0]?.cause}`);
    },
  },
  {
    name: 'replay-handshake',
    what: 'captured handshakes replayed 50 times a second at a restarted robot while an operator connects',
    seconds: 22,
    expected: {
      ends: ['engaged'],
      restMs: null,
      message: /^robot: disconnected → idle: operator connected/,
      lostMs: 3000,
    },
    async run(rig) {
      await rig.operator.end('SIGKILL');
      const handshake = rig.sent.slice(0, HANDSHAKE);
      await restartRobot(rig);
      rig.mark();
      let isOver = false;
      const replayed = replay(rig, handshake, () => isOver);
      try {
        rig.startOperator();
        await rig.ready(rig.operator, /^operator ready/);
        const readyNs = rig.nowNs();
        await rig.waitFor('engaged', CONNECT_MS).catch(() => {});
        const tookMs = (rig.nowNs() - readyNs) / 1e6;
        rig.check(tookMs < CONNECT_MS, `the operator was not connected after ${Math.round(tookMs)} ms`);
        await pause(2000);
      } finally {
        isOver = true;
      }
      await replayed;
    },
  },
  {
    name: 'flood',
    what: `${FLOOD_PER_SECOND / 1000},000 foreign datagrams a second at all ports of the robot`,
    seconds: 9,
    expected: { ends: ['engaged'], restMs: null, message: /^robot: counted: / },
    async run(rig) {
      rig.mark();
      await flood(rig, 3);
    },
  },
  {
    name: 'flood-estop',
    what: 'e-stop during that flood',
    seconds: 9,
    expected: {
      through: ['stopped'],
      ends: ['stopped'],
      restMs: HOLD_REST_MS,
      message: /^robot: engaged → stopped: /,
    },
    async run(rig) {
      const flooding = flood(rig, 3);
      await pause(1500);
      rig.mark();
      await rig.ask('estop');
      await flooding;
    },
  },
];
