import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Peer, peerOf } from '../../src/wire/reactor.ts';
import { type Captured, isHandshake, OPERATOR, ROBOT, TunnelRig } from './tunnel-rig.ts';

const ONE_WAY_NS = 10e6;
/**
 * Two round trips for the keys, up to 10 ms until the operator's next packet, and half a round trip for it.
 */
const CONNECT_NS = 5 * ONE_WAY_NS + 10e6;
/** An operator that had keys knocks once the robot was silent for 1 s, at its next 250 ms tick. */
const RECONNECT_NS = 1e9 + 250e6 + CONNECT_NS;
/** The longest delay of the hostile network for what it does not lose. */
const MAX_DELAY_NS = 61e6;

const somewhere = (i: number): Peer => peerOf(`10.${(i >> 8) & 255}.${i & 255}.7`, 1024 + (i % 60_000));

/** The attacker's action in every millisecond. */
type Attack = (rig: TunnelRig, ms: number) => void;

function runUnder(rig: TunnelRig, ms: number, attack: Attack): void {
  for (let i = 0; i < ms; i++) {
    attack(rig, i);
    rig.runMs(1);
  }
}

/** Three operator processes, one after the other, on a network that recorded everything they sent. */
function recorded(): { rig: TunnelRig; toRobot: Captured[] } {
  const rig = new TunnelRig(undefined, undefined, () => ONE_WAY_NS);
  rig.startRobot();
  for (let i = 0; i < 3; i++) {
    rig.startOperator();
    rig.runMs(400);
  }
  rig.stopOperator();
  rig.runMs(50);
  const toRobot = rig.captured.filter((sent) => ROBOT.includes(sent.to) && isHandshake(sent));
  assert.ok(toRobot.length >= 3);
  return { rig, toRobot };
}

/**
 * Simulated time until a new operator's first packet reaches the robot, under an attack that started long
 * before.
 */
function connectNs(rig: TunnelRig, attack: Attack, beforeMs = 1000): number {
  runUnder(rig, beforeMs, attack);
  const [startNs, before] = [rig.clock.nowNs(), rig.robot.received.length];
  rig.startOperator();
  runUnder(rig, 3000, attack);
  return (rig.robot.received[before]?.atNs ?? Number.POSITIVE_INFINITY) - startNs;
}

const replay =
  (of: Captured[], everyMs: number, source: (i: number) => Peer): Attack =>
  (rig, ms) => {
    if (ms % everyMs !== 0) return;
    of.forEach(({ to, bytes }, i) => {
      rig.network.inject(source(ms * 31 + i), to, bytes);
    });
  };

describe('captured handshakes', () => {
  it('replayed at 50/s from forged addresses do not lock out a silent operator', () => {
    const { rig, toRobot } = recorded();
    assert.ok(connectNs(rig, replay(toRobot, 20, somewhere), 12_000) <= CONNECT_NS);
  });

  it('replayed from the operator’s own address, while their cookies are valid, do not either', () => {
    const { rig, toRobot } = recorded();
    assert.ok(
      connectNs(
        rig,
        replay(toRobot, 1, () => OPERATOR[1]!),
      ) <= CONNECT_NS,
    );
  });

  it('replayed after a robot restart do not either', () => {
    for (const source of [somewhere, () => OPERATOR[1]!]) {
      const { rig, toRobot } = recorded();
      rig.startRobot();
      assert.ok(connectNs(rig, replay(toRobot, 5, source)) <= CONNECT_NS);
    }
  });

  it('make the robot agree on no key and drop none, however many there are', () => {
    const { rig, toRobot } = recorded();
    const agreements = rig.agreements;
    rig.startOperator();
    rig.runMs(200);
    const before = { sent: rig.captured.length, received: rig.robot.received.length };
    runUnder(rig, 2000, replay(toRobot, 1, somewhere));
    runUnder(
      rig,
      2000,
      replay(toRobot, 1, () => OPERATOR[1]!),
    );
    assert.equal(rig.agreements, agreements + 1, 'one for the operator itself');
    const sent = rig.captured
      .slice(before.sent)
      .filter(({ to, bytes }) => ROBOT.includes(to) && bytes[3] === 0x78);
    assert.ok(
      rig.robot.received.length - before.received >= sent.length - 9,
      'every packet of the session arrived',
    );
  });

  it('flooded with forgeries from the operator’s address do not add round trips', () => {
    const { rig, toRobot } = recorded();
    const forged = toRobot.flatMap((sent) =>
      [5, 13, 30, sent.bytes.length - 1].map((at) => {
        const bytes = sent.bytes.slice();
        bytes[at]! ^= 0x40;
        return { ...sent, bytes };
      }),
    );
    const garbage = { from: 0, to: ROBOT[1]!, bytes: new Uint8Array(100) };
    const all = [...toRobot, ...forged, garbage, garbage, garbage];
    assert.ok(
      connectNs(
        rig,
        replay(all, 1, () => OPERATOR[1]!),
      ) <= CONNECT_NS,
    );
  });

  it('and answers, replayed to the operator from the robot’s address, do not lock it out', () => {
    const { rig } = recorded();
    const toOperator = rig.captured.filter((sent) => OPERATOR.includes(sent.to));
    const sample = [...toOperator.filter(isHandshake), ...toOperator.slice(-10)];
    const attack: Attack = (on) => {
      for (const { from, to, bytes } of sample) on.network.inject(from, to, bytes);
    };
    assert.ok(connectNs(rig, attack) <= CONNECT_NS);
  });
});

type Step =
  | { kind: 'run'; ms: number }
  | { kind: 'cut'; ms: number }
  | { kind: 'restart-robot' }
  | { kind: 'restart-operator' }
  | { kind: 'replay'; count: number; source: number; handshakeOnly: boolean }
  | { kind: 'forge'; count: number; at: number };

const ms = fc.integer({ min: 1, max: 1500 });
const count = fc.integer({ min: 1, max: 300 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('run' as const), ms }),
    fc.record({ kind: fc.constant('cut' as const), ms }),
    fc.record({ kind: fc.constant('restart-robot' as const) }),
    fc.record({ kind: fc.constant('restart-operator' as const) }),
    fc.record({
      kind: fc.constant('replay' as const),
      count,
      source: fc.integer({ min: 0, max: 3 }),
      handshakeOnly: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('forge' as const), count, at: fc.nat(80) }),
  ),
  { minLength: 1, maxLength: 12 },
);

/** The attacker's network: it loses, delays and reorders, and injects at will. */
class Hostile {
  calm = false;
  cut = false;
  readonly rig: TunnelRig;
  readonly #random: () => number;
  readonly #loss: number;

  constructor(seed: number, loss: number) {
    let x = seed | 1;
    this.#random = () => {
      x = (Math.imul(x, 1_664_525) + 1_013_904_223) | 0;
      return (x >>> 0) / 2 ** 32;
    };
    this.#loss = loss;
    this.rig = new TunnelRig(undefined, undefined, () => {
      if (this.calm) return ONE_WAY_NS;
      return this.cut || this.#random() < this.#loss ? null : 1e6 + (MAX_DELAY_NS - 1e6) * this.#random();
    }).start();
  }

  do(step: Step): void {
    const { rig } = this;
    if (step.kind === 'run') rig.runMs(step.ms);
    else if (step.kind === 'restart-robot') rig.startRobot();
    else if (step.kind === 'restart-operator') rig.startOperator();
    else if (step.kind === 'cut') {
      this.cut = true;
      rig.runMs(step.ms);
      this.cut = false;
    } else this.#inject(step);
  }

  #inject(step: Extract<Step, { kind: 'replay' | 'forge' }>): void {
    const { captured, network } = this.rig;
    const pool = step.kind === 'replay' && step.handshakeOnly ? captured.filter(isHandshake) : captured;
    for (let i = 0; i < step.count && pool.length > 0; i++) {
      const { from, to, bytes } = pool[Math.floor(this.#random() * pool.length)]!;
      if (step.kind === 'forge') {
        const forged = bytes.slice();
        forged[step.at % forged.length]! ^= 1 + Math.floor(255 * this.#random());
        network.inject(from, to, forged);
      } else network.inject(step.source === 0 ? from : somewhere(step.source * 1000 + i), to, bytes);
    }
  }
}

describe('a hostile network', () => {
  it('never delivers a frame twice, and never locks out an honest operator', () => {
    fc.assert(
      fc.property(steps, fc.integer(), fc.double({ min: 0, max: 0.5, noNaN: true }), (script, seed, loss) => {
        const hostile = new Hostile(seed, loss);
        const { rig } = hostile;
        const robots = new Set([rig.robot]);
        for (const step of script) {
          hostile.do(step);
          robots.add(rig.robot);
        }
        // It still records, replays and forges, but now delivers what honest peers send.
        hostile.calm = true;
        const since = rig.clock.nowNs();
        const pool = rig.captured.filter(isHandshake).slice(-40);
        runUnder(
          rig,
          (RECONNECT_NS + 300e6) / 1e6,
          replay(pool, 10, (i) => (i % 2 ? OPERATOR[1]! : somewhere(i))),
        );
        // Datagrams in flight at the restart are the last that the operator receives from the old robot.
        const limitNs = since + MAX_DELAY_NS + RECONNECT_NS + ONE_WAY_NS;
        const inTime = (atNs: number) => atNs > since && atNs <= limitNs;
        assert.ok(
          rig.robot.received.some(({ atNs }) => inTime(atNs)),
          'the robot receives from the operator',
        );
        assert.ok(
          rig.operator.received.some(({ atNs }) => inTime(atNs)),
          'the operator receives from the robot',
        );
        const texts = [...robots].flatMap(({ received }) => received.map(({ text }) => text));
        assert.equal(new Set(texts).size, texts.length, 'no frame was delivered twice, by any robot');
        const inits = rig.captured.filter((sent) => OPERATOR.includes(sent.from) && sent.bytes[3] === 0x69);
        const distinct = new Set(inits.map(({ bytes }) => Buffer.from(bytes).toString('hex')));
        assert.ok(rig.agreements <= distinct.size, 'at most one key agreement for each honest init');
      }),
      { numRuns: 60 },
    );
  });
});
