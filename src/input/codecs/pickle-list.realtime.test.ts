import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { needs, PYTHON } from '../../../test/needs.ts';
import { decodeHand, emptyHandToken } from './openteach-codec.ts';
import { decodePickledList } from './pickle-list.ts';

/** What Python itself writes for an expression. */
function pickled(expression: string, protocol = 5): Uint8Array | null {
  const script = `import pickle,sys,os\nsys.stdout.buffer.write(pickle.dumps(${expression}, ${protocol}))`;
  const { status, stdout } = spawnSync(PYTHON, ['-c', script]);
  return status === 0 ? new Uint8Array(stdout) : null;
}

const decode = (bytes: Uint8Array, most = 80): number[] | null => {
  const out = new Float64Array(most);
  const count = decodePickledList(bytes, out);
  return count < 0 ? null : [...out.subarray(0, count)];
};

describe('a pickled list of numbers', { skip: needs('python') }, () => {
  it('is decoded as Python writes it, in every binary protocol', () => {
    for (const protocol of [2, 3, 4, 5]) {
      assert.deepEqual(
        decode(pickled('[0, 1.5, -2.25, 70000, 300, 1e-05]', protocol)!),
        [0, 1.5, -2.25, 70000, 300, 1e-5],
      );
      assert.deepEqual(decode(pickled('[7.5]', protocol)!), [7.5]);
      assert.deepEqual(decode(pickled('[]', protocol)!), []);
    }
  });

  it('may contain nothing else: no object, no nesting, no text, no call', () => {
    const rejected = [
      '1.5',
      '(1.5, 2.5)',
      '[[1.0]]',
      '["1.5"]',
      '{"a": 1.0}',
      '[None]',
      '[os.system]',
      'os.system',
      'b"x"',
      '[True]',
    ];
    for (const expression of rejected) assert.equal(decode(pickled(expression)!), null, expression);
    assert.equal(decode(pickled('[1.5, 2.5]', 0)!), null, 'text protocol');
    assert.equal(decode(pickled('[0.5] * 81')!), null, 'too long');
  });

  it('carries a hand of OpenTeach’s detector', () => {
    const pickle = pickled('[0] + [i / 8 for i in range(72)]')!;
    const bytes = new Uint8Array([...new TextEncoder().encode('right '), ...pickle]);
    const token = emptyHandToken();
    assert.equal(decodeHand(bytes, bytes.length, token), 'malformed', 'only where enabled');
    assert.equal(decodeHand(bytes, bytes.length, token, true), null);
    assert.deepEqual([token.mode, token.count], ['absolute', 24]);
    assert.equal(token.pointsM[71], 71 / 8);
    const short = pickled('[1] + [0.5] * 69')!;
    const topic = new TextEncoder().encode('left ');
    const wrong = new Uint8Array([...topic, ...short]);
    assert.equal(decodeHand(wrong, wrong.length, token, true), 'point-count');
  });

  it('is rejected when a byte is cut off or changed into another instruction', () => {
    const whole = pickled('[0, 1.5, 2.5]')!;
    for (let end = 0; end < whole.length; end++) assert.equal(decode(whole.slice(0, end)), null);
    assert.equal(decode(new Uint8Array([...whole, 0x2e])), null);
  });
});

describe('any bytes as a pickle', () => {
  it('are read without throwing or exceeding the output', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const found = decode(new Uint8Array([0x80, 5, ...bytes]), 8);
        return found === null || found.length <= 8;
      }),
    );
  });
});
