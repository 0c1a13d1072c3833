import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type S3Keys, type S3Request, signS3 } from './s3-sign.ts';

/**
 * The worked examples in "Signature Calculations for the Authorization Header" in Amazon's S3 API reference.
 */
const KEYS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const AT = new Date('2013-05-24T00:00:00Z');
const url = (rest: string) => new URL(`https://examplebucket.s3.amazonaws.com/${rest}`);
const empty = new Uint8Array(0);

/**
 * Names and queries with escaped characters; their signatures are from another implementation, on
 * node:crypto.
 */
const ESCAPED = [
  [
    'a%20b/c%2Bd%21%27%28%29%2A~/%C3%A9.mcap',
    'a5eafdc862a4f9badac55664fb50bd46af8df28a4394d4931c52561d63b868aa',
  ],
  [
    '100%25/a%3Bb%3Dc%26d%2Ce%3A%40%24?prefix=a%2Fb%20c%2Bd%27%C3%A9&list-type=2',
    '413065eb3eb070db2e1d861ffe6226f3b6198de848e0a595c4322cebb56d153e',
  ],
  ['x//y', '603461b462d57a95f550d49c38bae42a9ea853205cbe65b7c96c45e7dfd050f5'],
] as const;

const authorizationOf = async (request: S3Request, keys: S3Keys = KEYS): Promise<string> =>
  (await signS3(request, keys, 'us-east-1', AT)).get('authorization')!;
const signatureOf = async (request: S3Request): Promise<string> =>
  /Signature=(\w+)$/.exec(await authorizationOf(request))![1]!;

describe('a signed request to S3', () => {
  it('has the signature of Amazon’s examples', async () => {
    assert.equal(
      await signatureOf({
        method: 'GET',
        url: url('test.txt'),
        headers: { range: 'bytes=0-9' },
        body: empty,
      }),
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    );
    assert.equal(
      await signatureOf({ method: 'GET', url: url('?lifecycle='), headers: {}, body: empty }),
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    );
    assert.equal(
      await signatureOf({ method: 'GET', url: url('?max-keys=2&prefix=J'), headers: {}, body: empty }),
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    );
    assert.equal(
      await signatureOf({
        method: 'PUT',
        url: url('test%24file.text'),
        headers: {
          date: 'Fri, 24 May 2013 00:00:00 GMT',
          'x-amz-storage-class': 'REDUCED_REDUNDANCY',
        },
        body: Buffer.from('Welcome to Amazon S3.'),
      }),
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    );
  });

  it('changes with every byte of the body', async () => {
    const sign = (body: string) =>
      signatureOf({ method: 'PUT', url: url('a'), headers: {}, body: Buffer.from(body) });
    assert.notEqual(await sign('a'), await sign('b'));
  });

  it('carries the body’s hash and the session token, both signed', async () => {
    const request: S3Request = { method: 'PUT', url: url('a'), headers: {}, body: Buffer.from('abc') };
    const headers = await signS3(request, { ...KEYS, sessionToken: 'token' }, 'us-east-1', AT);
    const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    assert.equal(headers.get('x-amz-content-sha256'), abc);
    assert.equal(headers.get('x-amz-security-token'), 'token');
    assert.match(
      headers.get('authorization')!,
      /SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, /,
    );
  });

  it('signs every header, including range and content-type', async () => {
    const headers = { range: 'bytes=0-9', 'content-type': 'text/xml' };
    const signed = await authorizationOf({ method: 'GET', url: url('a'), headers, body: empty });
    assert.match(signed, /SignedHeaders=content-type;host;range;x-amz-content-sha256;x-amz-date, /);
  });

  it('is signed correctly for names and queries with escaped characters', async () => {
    for (const [rest, signature] of ESCAPED)
      assert.equal(
        await signatureOf({ method: 'GET', url: url(rest), headers: {}, body: empty }),
        signature,
        rest,
      );
  });
});
