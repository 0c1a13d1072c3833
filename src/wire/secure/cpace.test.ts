import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { ED25519_TORSION_SUBGROUP } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import {
  type CpaceInputs,
  CpaceRun,
  calculateGenerator,
  confirmationTag,
  generatorString,
  intermediateKey,
  lvCat,
  sampleScalar,
  scalarMult,
  sha512,
  transcript,
} from './cpace.ts';

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const ascii = (value: string) => new TextEncoder().encode(value);
const hex = (value: Uint8Array | null) => (value === null ? null : Buffer.from(value).toString('hex'));

// Numbers of draft-irtf-cfrg-cpace-21, appendices A.1 and B.3 (ristretto255 with SHA-512).
const inputs: CpaceInputs = {
  secret: ascii('Password'),
  channel: bytes('0b415f696e69746961746f720b425f726573706f6e646572'),
  session: bytes('7e4b4791d6a8ef019b936c79fb7f2c57'),
};
const GENERATOR_HASH =
  'da6d3ddc8802fca9058755ffd3ebde08a9c2c74945901a258482a288b6663af06bf645c93cd1c51512307199c80e84908916d983b34af77205f90851a657ee27';
const GENERATOR = '222b6b195fe84b1652badb6f6a3ae3d24341e7306967f0b8115b40d5698c7e56';
const SCALAR_A = 'da3d23700a9e5699258aef94dc060dfda5ebb61f02a5ea77fad53f4ff0976d08';
const SCALAR_B = 'd2316b454718c35362d83d69df6320f38578ed5984651435e2949762d900b80d';
const SHARE_A = 'd6bac480f2c386c394efc7c47adb9925dcd2630b64f240c50f8d0eec482b9157';
const SHARE_B = '3ea7e0b19560d7c0b0f5734f63b955286dfa8232b5ebe63324e2d9e7433f7258';
const K = '80b69a8a76457ab6a4d7f887a4bf6b55a2f80ac19c333f917a05fc9887c8b40f';
const TRANSCRIPT = `20${SHARE_A}0341446120${SHARE_B}03414462`;
const ISK =
  'b69effbf61b51d56401c0f65601abe428de8206feaaf0e32198896dcae7b35cd2b38950a39dfd5d4a79164614c2984f7daa460b588c1e80c3fa2068af7900447';
const MULT_SCALAR = '7cd0e075fa7955ba52c02759a6c90dbbfc10e6d40aea8d283e407d88cf538a05';
const MULT_ELEMENT = '2c3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c';
const MULT_RESULT = '7c13645fe790a468f62c39beb7388e541d8405d1ade69d1778c5fe3e7f6b600e';
const NOT_AN_ELEMENT = '2b3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c';
const NEUTRAL = '00'.repeat(32);

const a = { share: bytes(SHARE_A), data: ascii('ADa') };
const b = { share: bytes(SHARE_B), data: ascii('ADb') };

describe('CPace against the vectors of the draft', () => {
  it('encodes lengths', () => {
    const range = (count: number) => Uint8Array.from({ length: count }, (_, i) => i);
    assert.equal(hex(lvCat(new Uint8Array(0))), '00');
    assert.equal(hex(lvCat(range(127)))?.slice(0, 6), '7f0001');
    assert.equal(hex(lvCat(range(128)))?.slice(0, 8), '80010001');
    assert.equal(hex(lvCat(ascii('1234'), ascii('5'), ascii(''), ascii('678'))), '043132333401350003363738');
    const parties = [ascii('123'), ascii('PartyA'), ascii('234'), ascii('PartyB')] as const;
    assert.equal(
      hex(transcript({ share: parties[0], data: parties[1] }, { share: parties[2], data: parties[3] })),
      '03313233065061727479410332333406506172747942',
    );
  });

  it('computes the generator', () => {
    assert.equal(generatorString(inputs).length, 170);
    assert.equal(hex(sha512(generatorString(inputs))), GENERATOR_HASH);
    assert.equal(hex(calculateGenerator(inputs)), GENERATOR);
  });

  it('computes shares, the secret point and the key', () => {
    assert.equal(hex(scalarMult(bytes(SCALAR_A), bytes(GENERATOR))), SHARE_A);
    assert.equal(hex(scalarMult(bytes(SCALAR_B), bytes(GENERATOR))), SHARE_B);
    assert.equal(hex(scalarMult(bytes(SCALAR_A), bytes(SHARE_B))), K);
    assert.equal(hex(scalarMult(bytes(SCALAR_B), bytes(SHARE_A))), K);
    assert.equal(hex(transcript(a, b)), TRANSCRIPT);
    assert.equal(hex(intermediateKey(inputs.session, bytes(K), a, b)), ISK);
  });

  it('runs both roles to the key of the draft', () => {
    const runA = new CpaceRun('a', inputs, ascii('ADa'), bytes(SCALAR_A));
    const runB = new CpaceRun('b', inputs, ascii('ADb'), bytes(SCALAR_B));
    assert.equal(hex(runA.message.share), SHARE_A);
    assert.equal(hex(runB.message.share), SHARE_B);
    const resultA = runA.finish(b);
    const resultB = runB.finish(a);
    assert.equal(hex(resultA!.isk), ISK);
    assert.equal(hex(resultB!.isk), ISK);
    assert.equal(hex(resultA!.tag), hex(resultB!.peerTag));
    assert.equal(hex(resultB!.tag), hex(resultA!.peerTag));
    assert.notEqual(hex(resultA!.tag), hex(resultB!.tag));
  });

  it('multiplies a valid element and rejects the invalid ones', () => {
    assert.equal(hex(scalarMult(bytes(MULT_SCALAR), bytes(MULT_ELEMENT))), MULT_RESULT);
    assert.equal(scalarMult(bytes(MULT_SCALAR), bytes(NOT_AN_ELEMENT)), null);
    assert.equal(scalarMult(bytes(MULT_SCALAR), bytes(NEUTRAL)), null);
  });
});

describe('CPace', () => {
  const run = (role: 'a' | 'b', given: Partial<CpaceInputs> = {}) =>
    new CpaceRun(role, { ...inputs, ...given }, ascii(role));

  it('agrees for any inputs, and disagrees when one of them differs', () => {
    const some = fc.uint8Array({ maxLength: 40 });
    fc.assert(
      fc.property(some, some, some, fc.constantFrom('secret', 'channel', 'session'), (...given) => {
        const [secret, channel, session, changed] = given;
        const same = { secret, channel, session };
        const [one, other] = [run('a', same), run('b', same)];
        assert.deepEqual(one.finish(other.message)?.isk, other.finish(one.message)?.isk);
        const differs = { ...same, [changed]: Uint8Array.of(...same[changed], 1) };
        const [left, right] = [run('a', same), run('b', differs)];
        assert.notDeepEqual(left.finish(right.message)?.isk, right.finish(left.message)?.isk);
      }),
      { numRuns: 25 },
    );
  });

  it('rejects low-order, non-canonical, odd, short, long and reflected shares', () => {
    const p = 2n ** 255n - 19n;
    const little = (value: bigint) => {
      const big = value.toString(16).padStart(64, '0');
      return Uint8Array.from(Buffer.from(big, 'hex').reverse());
    };
    // Encodings around the field's prime; then the Edwards points of low order.
    const bad = [0n, 1n, 2n, p - 2n, p - 1n, p, p + 1n, p + 2n, 2n ** 255n, 2n ** 256n - 1n].map(little);
    bad.push(...ED25519_TORSION_SUBGROUP.map(bytes));
    bad.push(bytes(SHARE_A).subarray(1), bytes(`${SHARE_A}00`), new Uint8Array(0));
    for (const share of bad)
      assert.equal(run('b').finish({ share, data: ascii('a') }), null, hex(share) ?? '');
    const own = run('a');
    assert.equal(own.finish({ share: own.message.share, data: ascii('b') }), null);
  });

  it('uses a scalar once only', () => {
    const [one, other] = [run('a'), run('b')];
    assert.notEqual(one.finish(other.message), null);
    assert.throws(() => one.finish(other.message), RangeError);
  });

  it('samples scalars in range and never repeats one', () => {
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const seen = new Set<string>();
    for (let i = 0; i < 200; i++) {
      const scalar = Buffer.from(sampleScalar()).reverse().toString('hex');
      assert.ok(BigInt(`0x${scalar}`) > 0n && BigInt(`0x${scalar}`) < order);
      seen.add(scalar);
    }
    assert.equal(seen.size, 200);
  });

  it('confirms with an HMAC over its own message, under a key derived from session and ISK', () => {
    const hash = createHash('sha512').update('CPaceMac').update(inputs.session).update(bytes(ISK));
    const mac = createHmac('sha512', hash.digest()).update(bytes(`20${SHARE_A}03414461`));
    assert.equal(hex(confirmationTag(inputs.session, bytes(ISK), a)), mac.digest('hex'));
  });
});
