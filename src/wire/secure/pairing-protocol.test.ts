import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CpaceRun, lvCat } from './cpace.ts';
import {
  createCode,
  GUESSES_PER_CODE,
  LineSplitter,
  MAX_CODES,
  MAX_LINE_BYTES,
  OperatorExchange,
  type OperatorStep,
  PairingOffer,
  parseCode,
  type RobotStep,
} from './pairing-protocol.ts';

const CODE = '7KQ2-M9XD';
const offerOf = (code = CODE) => new PairingOffer('ur3-cell', () => code);

type Tamper = (line: string, step: 'hello' | 'offer' | 'proof' | 'accept') => string;

/** Runs one exchange, passing every line through `tamper`. */
function exchange(offer: PairingOffer, code: string, tamper: Tamper = (line) => line) {
  const robot = offer.open();
  const operator = new OperatorExchange('laptop', code);
  let atRobot: RobotStep = robot.receive(tamper(operator.hello(), 'hello'));
  let atOperator: OperatorStep = operator.receive(tamper(atRobot.line, 'offer'));
  if (atOperator.kind === 'reply') {
    atRobot = robot.receive(tamper(atOperator.line, 'proof'));
    atOperator = operator.receive(tamper(atRobot.line, 'accept'));
  }
  return { atRobot, atOperator };
}

const change = (line: string, fields: Record<string, unknown>) =>
  `${JSON.stringify({ ...(JSON.parse(line) as object), ...fields })}\n`;
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

describe('pairing code', () => {
  it('has 40 random bits in an unambiguous alphabet', () => {
    const seen = new Set(Array.from({ length: 500 }, () => createCode()));
    assert.equal(seen.size, 500);
    const symbols = new Set([...seen].join('').replaceAll('-', ''));
    assert.equal(symbols.size, 32);
    for (const code of seen) {
      assert.match(code, /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/);
      assert.equal(parseCode(code), code);
    }
  });

  it('is recognised however it is typed', () => {
    for (const typed of ['7kq2-m9xd', '7KQ2M9XD', ' 7kq2 m9xd\n', '7-K-Q-2-M-9-X-D'])
      assert.equal(parseCode(typed), CODE);
    assert.equal(parseCode('oil0-IL1o'), '0110-1110');
    for (const typed of ['', '7KQ2', '7KQ2-M9XDA', '7KQ2-M9XU', '7KQ2_M9XD', 'ä'.repeat(8)])
      assert.equal(parseCode(typed), null);
  });
});

describe('pairing', () => {
  it('gives both sides the same fresh key and the name of the other', () => {
    const keys = new Set<string>();
    for (let i = 0; i < 5; i++) {
      const { atRobot, atOperator } = exchange(offerOf(), CODE);
      assert.ok(atRobot.kind === 'paired' && atOperator.kind === 'paired');
      assert.deepEqual([atRobot.peer, atOperator.peer], ['laptop', 'ur3-cell']);
      assert.deepEqual(atRobot.key, atOperator.key);
      assert.equal(atRobot.key.length, 32);
      keys.add(base64(atRobot.key));
    }
    assert.equal(keys.size, 5);
  });

  it('fails on both sides with a wrong code', () => {
    const { atRobot, atOperator } = exchange(offerOf(), '7KQ2-M9XE');
    assert.ok(atRobot.kind === 'refused' && atRobot.reason === 'wrong-code');
    assert.deepEqual(atOperator, { kind: 'refused', reason: 'wrong-code' });
  });

  it('shows a new code after three wrong guesses and gives up after five codes', () => {
    const codes = Array.from({ length: MAX_CODES }, (_, i) => `0000-000${i}`);
    let next = 0;
    const offer = new PairingOffer('ur3-cell', () => codes[next++]!);
    for (const code of codes) {
      for (let left = GUESSES_PER_CODE; left > 0; left--) {
        assert.deepEqual([offer.code, offer.guessesLeft, offer.exhausted], [code, left, false]);
        exchange(offer, CODE);
      }
    }
    assert.equal(offer.exhausted, true);
    const { atRobot } = exchange(offer, offer.code);
    assert.ok(atRobot.kind === 'refused' && atRobot.reason === 'code-changed');
  });

  it('counts guesses over connections held open at the same time', () => {
    const offer = new PairingOffer('ur3-cell');
    const first = offer.code;
    const open = Array.from({ length: 10 }, () => {
      const robot = offer.open();
      const operator = new OperatorExchange('laptop', CODE);
      const proof = operator.receive(robot.receive(operator.hello()).line);
      assert.ok(proof.kind === 'reply');
      return () => robot.receive(proof.line);
    });
    const reasons = open.map((prove) => {
      const step = prove();
      return step.kind === 'refused' ? step.reason : step.kind;
    });
    assert.deepEqual(reasons.slice(0, 3), ['wrong-code', 'wrong-code', 'wrong-code']);
    assert.ok(reasons.slice(3).every((reason) => reason === 'code-changed'));
    assert.notEqual(offer.code, first);
    assert.equal(offer.guessesLeft, GUESSES_PER_CODE);
  });

  it('does not reveal whether a voided code was right', () => {
    const offer = new PairingOffer('ur3-cell');
    const robot = offer.open();
    const operator = new OperatorExchange('laptop', offer.code);
    const proof = operator.receive(robot.receive(operator.hello()).line);
    for (let i = 0; i < GUESSES_PER_CODE; i++) exchange(offer, CODE);
    const late = robot.receive(proof.kind === 'reply' ? proof.line : '');
    assert.ok(late.kind === 'refused' && late.reason === 'code-changed');
  });

  it('pairs once', () => {
    const offer = offerOf();
    assert.equal(exchange(offer, CODE).atRobot.kind, 'paired');
    assert.equal(offer.paired, true);
    assert.equal(exchange(offer, CODE).atRobot.kind, 'refused');
  });

  it('costs no guess when a connection ends before its proof', () => {
    const offer = offerOf();
    for (let i = 0; i < 20; i++) offer.open().receive(new OperatorExchange('x', CODE).hello());
    assert.equal(offer.guessesLeft, GUESSES_PER_CODE);
  });
});

describe('pairing under attack', () => {
  it('fails when a man in the middle swaps shares', () => {
    const session = new Uint8Array(32);
    const inputs = { secret: new Uint8Array(8), channel: lvCat(), session };
    const mine = () => base64(new CpaceRun('a', inputs, new Uint8Array(0)).message.share);
    for (const where of ['offer', 'proof'] as const) {
      const offer = offerOf();
      const swap: Tamper = (line, step) => (step === where ? change(line, { share: mine() }) : line);
      const { atRobot, atOperator } = exchange(offer, CODE, swap);
      assert.ok(atRobot.kind === 'refused' && atRobot.reason === 'wrong-code', where);
      assert.ok(atOperator.kind === 'refused', where);
      assert.equal(offer.guessesLeft, GUESSES_PER_CODE - 1);
    }
  });

  it('fails when a man in the middle alters names, nonces or proofs', () => {
    const changes: [Parameters<Tamper>[1], Record<string, unknown>][] = [
      ['hello', { name: 'mallory' }],
      ['hello', { nonce: base64(randomBytes(16)) }],
      ['offer', { name: 'mallory' }],
      ['offer', { nonce: base64(randomBytes(16)) }],
      ['proof', { tag: base64(randomBytes(64)) }],
    ];
    for (const [where, fields] of changes) {
      const { atRobot, atOperator } = exchange(offerOf(), CODE, (line, step) =>
        step === where ? change(line, fields) : line,
      );
      assert.ok(atRobot.kind === 'refused' && atRobot.reason === 'wrong-code', JSON.stringify(fields));
      assert.ok(atOperator.kind === 'refused', JSON.stringify(fields));
    }
  });

  it('rejects a robot that cannot prove the code', () => {
    const forged = exchange(offerOf(), CODE, (line, step) =>
      step === 'accept' ? change(line, { tag: base64(randomBytes(64)) }) : line,
    );
    assert.deepEqual(forged.atOperator, { kind: 'refused', reason: 'impostor' });
    const blind = exchange(offerOf('0000-0000'), CODE, (line, step) =>
      step === 'accept' ? `${JSON.stringify({ tag: base64(randomBytes(64)) })}\n` : line,
    );
    assert.deepEqual(blind.atOperator, { kind: 'refused', reason: 'impostor' });
  });

  it('does not accept its own message as an answer', () => {
    let proof = '';
    const { atOperator } = exchange(offerOf(), CODE, (line, step) => {
      if (step === 'proof') proof = line;
      return step === 'accept'
        ? `${JSON.stringify({ tag: (JSON.parse(proof) as { tag: string }).tag })}\n`
        : line;
    });
    assert.deepEqual(atOperator, { kind: 'refused', reason: 'impostor' });
    const { atRobot } = exchange(offerOf(), CODE, (line, step) => {
      if (step === 'offer') proof = line;
      return step === 'proof'
        ? change(line, { share: (JSON.parse(proof) as { share: string }).share })
        : line;
    });
    assert.ok(atRobot.kind === 'refused' && atRobot.reason === 'bad-message');
  });

  it('rejects invalid shares on either side without using up a guess', () => {
    const invalid = [
      new Uint8Array(32),
      new Uint8Array(32).fill(255),
      Uint8Array.of(1, ...new Uint8Array(31)),
    ];
    for (const share of invalid)
      for (const where of ['offer', 'proof'] as const) {
        const offer = offerOf();
        const { atRobot, atOperator } = exchange(offer, CODE, (line, step) =>
          step === where ? change(line, { share: base64(share) }) : line,
        );
        assert.notEqual(atRobot.kind, 'paired');
        assert.deepEqual(atOperator, { kind: 'refused', reason: 'bad-message' });
        assert.equal(offer.guessesLeft, GUESSES_PER_CODE);
      }
  });

  it('reports an unsupported version', () => {
    const step = offerOf().open().receive('{"protocol":"farhand-pair/2","shape":"unknown"}');
    assert.ok(step.kind === 'refused' && step.reason === 'other-version');
    assert.deepEqual(new OperatorExchange('x', CODE).receive(step.line), {
      kind: 'refused',
      reason: 'other-version',
    });
  });

  it('rejects any other line and never throws', () => {
    const hello = new OperatorExchange('laptop', CODE).hello();
    const lines = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({ protocol: fc.string(), name: fc.string(), nonce: fc.string() })
        .map((o) => JSON.stringify(o)),
      fc.record({ name: fc.string(), nonce: fc.base64String() }).map((fields) => change(hello, fields)),
      fc.record({ share: fc.base64String(), tag: fc.base64String() }).map((o) => JSON.stringify(o)),
      fc.constantFrom(
        '',
        '{}',
        '{"__proto__":null}',
        '[[[[',
        '{"refused":"no such reason"}',
        'null',
        '1e999',
      ),
    );
    fc.assert(
      fc.property(lines, lines, (first, second) => {
        const offer = offerOf();
        const robot = offer.open();
        const started = robot.receive(hello);
        assert.equal(started.kind, 'reply');
        assert.equal(robot.receive(first).kind, 'refused');
        assert.equal(offer.open().receive(second).kind, 'refused');
        assert.equal(new OperatorExchange('x', CODE).receive(second).kind, 'refused');
        assert.equal(offer.guessesLeft, GUESSES_PER_CODE);
      }),
      { numRuns: 60 },
    );
    for (const name of ['..', 'a/b', '\u001b[2J', '', 'x'.repeat(65)])
      assert.equal(offerOf().open().receive(change(hello, { name })).kind, 'refused', name);
  });
});

describe('line splitter', () => {
  it('yields the same lines however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[^\n]*$/)),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        (lines, cuts) => {
          const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
          const splitter = new LineSplitter();
          const out: string[] = [];
          for (let at = 0; at < bytes.length; ) {
            const size = cuts.next().value as number;
            const chunk = Uint8Array.from(bytes.subarray(at, at + size));
            out.push(...(splitter.push(chunk) ?? []));
            chunk.fill(0);
            at += size;
          }
          assert.deepEqual(out, lines);
        },
      ),
    );
  });

  it('rejects a line only once it is too long', () => {
    const line = Buffer.alloc(MAX_LINE_BYTES, 'x');
    assert.deepEqual(new LineSplitter().push(line), []);
    assert.deepEqual(new LineSplitter().push(Buffer.concat([line, Buffer.from('\n')])), [line.toString()]);
    assert.equal(new LineSplitter().push(Buffer.alloc(MAX_LINE_BYTES + 1, 'x')), null);
    assert.equal(new LineSplitter().push(Buffer.from(`${'x'.repeat(MAX_LINE_BYTES + 1)}\n`)), null);
    const slow = new LineSplitter();
    for (let i = 0; i < MAX_LINE_BYTES; i++) assert.deepEqual(slow.push(Buffer.from('x')), []);
    assert.equal(slow.push(Buffer.from('x')), null);
  });
});
