import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';

export interface S3Keys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

export interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  url: URL;
  /** All of them are signed. */
  headers: Record<string, string>;
  body: Uint8Array;
}

/** RFC 3986: escapes all but letters, digits and -._~. */
export const s3Encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** All headers to send, with the signature. `at`: wall time; servers reject one that is 15 minutes off. */
export async function signS3(request: S3Request, keys: S3Keys, region: string, at: Date): Promise<Headers> {
  const { method, url, body } = request;
  // Without this header the signer leaves the body unsigned.
  const hash = { 'x-amz-content-sha256': createHash('sha256').update(body).digest('hex') };
  const signer = new AwsV4Signer({
    ...keys,
    method,
    url: url.href,
    headers: { ...request.headers, ...hash },
    service: 's3',
    region,
    datetime: at.toISOString().replaceAll(/[-:]|\.\d{3}/g, ''),
    allHeaders: true,
  });
  return (await signer.sign()).headers;
}
