import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Counters, REASONS, type Reason } from '../../src/core/counters.ts';
import { frameBody, frameType, type Json } from '../../src/wire/codecs/frame.ts';
import { type Peer, peerOf } from '../../src/wire/reactor.ts';
import { xorshift } from '../xorshift.ts';
import { MS, OPERATOR_HOST, robotPeer, SimulatedRig } from './simulated-rig.ts';

const STRANGER = peerOf('10.66.6.6', 6666);
const SAME_HOST = peerOf(OPERATOR_HOST, 12_345);
const RUN_MS = 6000;
const EVERY_MS = 3;

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The newest recorded command, modified. */
function forged(commands: readonly Uint8Array[], change: (body: Json) => Json): Uint8Array {
  const newest = commands.at(-1)!;
  return bytesOf(`FH1c${JSON.stringify(change(frameBody(newest, newest.length)!))}`);
}

const later = (body: Json, stampMs: number): Json => ({
  ...body,
  // A sequence number not used yet, so that only the stamp can cause the rejection.
  seq: (body['seq'] as number) + 5000,
  send_robot_ns: (body['send_robot_ns'] as number) + stampMs * MS,
});

type Forgery = (commands: readonly Uint8Array[], chance: () => number) => Uint8Array;

/** What a confused or hostile sender may send. None of it may have an effect. */
const FORGERIES: Record<string, Forgery> = {
  empty: () => new Uint8Array(0),
  random: (_, chance) => Uint8Array.from({ length: 1 + Math.floor(300 * chance()) }, () => 256 * chance()),
  'random after a good tag': (_, chance) =>
    Uint8Array.from([...bytesOf('FH1c'), ...Array.from({ length: 60 }, () => 256 * chance())]),
  truncated: (commands, chance) => commands.at(-1)!.slice(0, 6 + Math.floor(60 * chance())),
  'wrong tag': (commands) => bytesOf(textOf(commands.at(-1)!).replace('FH1c', 'HF1c')),
  'other version': (commands) => bytesOf(textOf(commands.at(-1)!).replace('FH1c', 'FH2c')),
  'other type': (commands) => bytesOf(textOf(commands.at(-1)!).replace('FH1c', 'FH1r')),
  'just sent': (commands) => commands.at(-1)!.slice(),
  'applied a moment ago': (commands) => commands.at(-12)!.slice(),
  'long ago': (commands) => commands.at(-100)!.slice(),
  'from the future': (commands) => forged(commands, (body) => later(body, 10_000)),
  'from the past': (commands) => forged(commands, (body) => later(body, -10_000)),
  'no number': (commands) => forged(commands, (body) => ({ ...later(body, 0), q: [0, 1, null, 0, 0, 0] })),
  'too few joints': (commands) => forged(commands, (body) => ({ ...later(body, 0), q: [0, 1, 2] })),
  'too many joints': (commands) =>
    forged(commands, (body) => ({ ...later(body, 0), q: [1, 2, 3, 4, 5, 6, 7] })),
  'gripper out of range': (commands) => forged(commands, (body) => ({ ...later(body, 0), gripper: 7 })),
  'no stamp': (commands) => forged(commands, (body) => ({ ...later(body, 0), send_robot_ns: 'soon' })),
  'other epoch': (commands) => forged(commands, (body) => ({ ...later(body, 0), epoch: 99 })),
  'other session': (commands) => forged(commands, (body) => ({ ...later(body, 0), session: 31_337 })),
  list: () => bytesOf('FH1c[1,2,3]'),
};

/** Valid commands that the operator could have sent: garbage only because of their sender. */
const IMPOSTURES: Forgery[] = [
  (commands) => forged(commands, (body) => ({ ...later(body, 0), q: [0, -1.5, 1.5, -1.5, -1.5, 0] })),
  (commands) => forged(commands, (body) => ({ ...later(body, 0), engagement: 0 })),
  (commands) => forged(commands, (body) => ({ ...later(body, 0), tracking: false })),
];

/**
 * Only a command socket accepts commands, from the operator's address; elsewhere even a valid one is garbage.
 */
const TARGETS = [
  'robot command',
  'robot state',
  'robot sync',
  'operator command',
  'operator state',
  'operator sync',
];

interface Shot {
  from: Peer;
  to: Peer;
  bytes: Uint8Array;
}

/** Cycles through every forgery, sender and socket. */
function* shots(rig: SimulatedRig, commands: readonly Uint8Array[]): Generator<Shot> {
  const chance = xorshift(99);
  const { peers } = rig.operator;
  const robot = [robotPeer(0), robotPeer(1), robotPeer(2)];
  for (;;) {
    for (const forge of IMPOSTURES)
      for (const from of [STRANGER, SAME_HOST]) yield { from, to: robot[0]!, bytes: forge(commands, chance) };
    for (const forge of Object.values(FORGERIES))
      for (const target of TARGETS) {
        const socket = TARGETS.indexOf(target) % 3;
        const [own, to] = target.startsWith('robot')
          ? [peers[socket]!, robot[socket]!]
          : [robot[socket]!, peers[socket]!];
        for (const from of [STRANGER, SAME_HOST, own]) yield { from, to, bytes: forge(commands, chance) };
      }
  }
}

const total = (counters: Counters): number => REASONS.reduce((sum, reason) => sum + counters.get(reason), 0);

async function run(withGarbage: boolean): Promise<{ rig: SimulatedRig; fired: number; atRobot: number }> {
  const rig = await SimulatedRig.create();
  const commands: Uint8Array[] = [];
  rig.onOperatorSend = (_socket, bytes) => {
    if (frameType(bytes, bytes.length) === 'command') commands.push(bytes);
  };
  rig.runFor(1500);
  assert.equal(rig.state, 'engaged');
  let fired = 0;
  let atRobot = 0;
  const garbage = shots(rig, commands);
  for (let ms = 0; ms < RUN_MS; ms += EVERY_MS) {
    for (let i = 0; withGarbage && i < 3; i++) {
      const { from, to, bytes } = garbage.next().value as Shot;
      rig.network.inject(from, to, bytes);
      fired++;
      if (!rig.operator.peers.includes(to)) atRobot++;
    }
    rig.runFor(EVERY_MS);
  }
  rig.runFor(100);
  return { rig, fired, atRobot };
}

describe('garbage on every socket, from unknown and from known addresses', () => {
  it('changes nothing, and is counted by reason', async () => {
    const clean = (await run(false)).rig;
    const { rig, fired, atRobot } = await run(true);
    assert.ok(fired > 5000);

    const shown = (one: SimulatedRig) => ({
      applied: one.robot.answers.filter(({ outcome }) => outcome === 'applied'),
      writes: one.robot.driver.writes,
      transitions: one.robot.transitions,
      pose: [...one.robot.loop.supervisor.reading.positionsRad],
      closed: one.operator.closed.map(({ seq, outcome, appliedNs, offsetNs }) => [
        seq,
        outcome,
        appliedNs,
        offsetNs,
      ]),
      totals: one.operator.loop.link.totals,
      seen: JSON.stringify(one.operator.loop.robot.state),
    });
    assert.deepEqual(shown(rig), shown(clean));

    const robotReasons: Reason[] = [
      'bad-json',
      'bad-range',
      'bad-tag',
      'dropped-stale',
      'duplicate',
      'empty',
      'future-stamp',
      'joint-count',
      'malformed',
      'non-finite',
      'not-operator',
      'too-old',
      'wrong-epoch',
      'wrong-port',
    ];
    for (const reason of robotReasons)
      assert.ok(rig.robot.counters.get(reason) > clean.robot.counters.get(reason), reason);
    const operatorReasons: Reason[] = ['bad-tag', 'empty', 'unknown-source', 'wrong-port'];
    for (const reason of operatorReasons) assert.ok(rig.operator.counters.get(reason) > 0, reason);
    assert.equal(total(rig.robot.counters) - total(clean.robot.counters), atRobot, 'each counted once');
  });
});
