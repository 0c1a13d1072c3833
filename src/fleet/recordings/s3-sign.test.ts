import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type S3Request, signS3 } from './s3-sign.ts';

/** The worked examples of "Signature Calculations for the Authorization Header" in Amazon's S3 API reference. */
const KEYS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const AT = new Date('2013-05-24T00:00:00Z');
const url = (rest: string) => new URL(`https://examplebucket.s3.amazonaws.com/${rest}`);
const empty = new Uint8Array(0);

const signatureOf = (request: S3Request): string =>
  /Signature=(\w+)$/.exec(signS3(request, KEYS, 'us-east-1', AT)['authorization']!)![1]!;

describe('a signed request to S3', () => {
  it('is signed as in Amazon’s examples', () => {
    assert.equal(
      signatureOf({ method: 'GET', url: url('test.txt'), headers: { range: 'bytes=0-9' }, body: empty }),
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    );
    assert.equal(
      signatureOf({ method: 'GET', url: url('?lifecycle='), headers: {}, body: empty }),
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    );
    assert.equal(
      signatureOf({ method: 'GET', url: url('?max-keys=2&prefix=J'), headers: {}, body: empty }),
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    );
    assert.equal(
      signatureOf({
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

  it('changes with every byte', () => {
    const sign = (body: string) =>
      signatureOf({ method: 'PUT', url: url('a'), headers: {}, body: Buffer.from(body) });
    assert.notEqual(sign('a'), sign('b'));
  });
});
