import { AwsV4Signer } from 'aws4fetch';
import { type S3Request, sha256Hex, signS3 } from '../../src/fleet/recordings/s3-sign.ts';
import type { Check } from '../text-table.ts';
import { type Comparison, compare } from './compare.ts';

const CALLS = 50;
const KEYS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const AT = new Date('2026-01-02T03:04:05Z');
const [PART_BYTES, REGION] = [8 << 20, 'eu-central-1'];

const REQUESTS: S3Request[] = [
  { method: 'GET', path: 'bucket/a%20b/c%2Bd%21', query: 'prefix=a%2Fb%20c&list-type=2', headers: {} },
  { method: 'GET', path: 'bucket/r%C3%B6bot.mcap', query: '', headers: { range: 'bytes=5-' } },
  {
    method: 'POST',
    path: 'bucket/x',
    query: 'uploads=',
    headers: { 'x-amz-meta-sha256': 'ab', 'content-type': 'text/xml' },
  },
].map(({ method, path, query, headers }) => ({
  method: method as S3Request['method'],
  url: new URL(`https://s3.example:9000/${path}?${query}`),
  headers: headers as Record<string, string>,
  body: Buffer.from(path),
}));

function theirs({ method, url, headers, body }: S3Request): Promise<Headers> {
  const signer = new AwsV4Signer({
    method,
    url: url.href,
    headers: { ...headers, 'x-amz-content-sha256': sha256Hex(body) },
    ...KEYS,
    service: 's3',
    region: REGION,
    datetime: AT.toISOString().replaceAll(/[-:]|\.\d{3}/g, ''),
    allHeaders: true,
  });
  return signer.sign().then((signed) => signed.headers);
}

/** `aws4fetch` beside our own signature, for a request without a body and for a part of a recording. */
export async function compareSigning(): Promise<{ rows: Comparison[]; checks: Check[] }> {
  const small = REQUESTS[0]!;
  const part: S3Request = { ...small, method: 'PUT', body: new Uint8Array(PART_BYTES) };
  const rows = [
    await compare(
      'S3: sign a small request',
      CALLS,
      () => signS3(small, KEYS, REGION, AT),
      () => theirs(small),
    ),
    await compare(
      'S3: sign a part of 8 MiB',
      2,
      () => signS3(part, KEYS, REGION, AT),
      () => theirs(part),
    ),
  ];
  const checks = [];
  for (const request of REQUESTS) {
    const ours = signS3(request, KEYS, REGION, AT)['authorization'];
    const ok = (await theirs(request)).get('authorization') === ours;
    checks.push({
      what: `S3 library: the same signature of ${request.url.pathname}`,
      ok,
      found: ok ? 'yes' : 'no',
    });
  }
  return { rows, checks };
}
