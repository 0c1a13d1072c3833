import { TeleopError } from '../core/errors.ts';
import { type S3Keys, type S3Request, s3Encode, signS3 } from './s3-sign.ts';

export interface S3Place {
  /** For example `https://s3.eu-central-1.amazonaws.com` or `http://127.0.0.1:9000`. */
  endpoint: string;
  region: string;
  bucket: string;
  /** Prefix of every name; empty, or ending in a slash. */
  prefix: string;
  keys: S3Keys;
}

const TRIES = 3;
const TIMEOUT_MS = 60_000;

/**
 * Path-style requests to one bucket (`endpoint/bucket/key`). A rejection is an answer; silence and 5xx are
 * retried.
 */
export class S3Client {
  readonly place: S3Place;

  constructor(place: S3Place) {
    this.place = place;
  }

  keyOf(name: string): string {
    return `${this.place.prefix}${name}`;
  }

  /** A null key addresses the bucket itself. */
  async ask(
    method: S3Request['method'],
    key: string | null,
    query: Record<string, string> = {},
    headers: Record<string, string> = {},
    body: Uint8Array = new Uint8Array(0),
  ): Promise<Response> {
    const { endpoint, bucket, keys, region } = this.place;
    const path = [bucket, ...(key === null ? [] : key.split('/'))].map(s3Encode).join('/');
    const url = new URL(`${endpoint.replace(/\/$/, '')}/${path}`);
    url.search = Object.entries(query)
      .map(([name, value]) => `${s3Encode(name)}=${s3Encode(value)}`)
      .join('&');
    let failure: unknown;
    for (let n = 0; n < TRIES; n++) {
      const silence = new AbortController();
      const timer = setTimeout(() => silence.abort(new Error('no answer')), TIMEOUT_MS);
      try {
        const signed = await signS3({ method, url, headers, body }, keys, region, new Date());
        const answer = await fetch(url, {
          method,
          headers: signed,
          signal: silence.signal,
          ...(body.byteLength > 0
            ? { body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) }
            : {}),
        });
        if (answer.status < 500) return answer;
        failure = new Error(`${answer.status} ${errorOf(await answer.text())}`);
      } catch (cause) {
        failure = cause;
      } finally {
        clearTimeout(timer);
      }
    }
    throw this.failed(failure);
  }

  /** The text of a successful answer; throws for any other. */
  async text(...request: Parameters<S3Client['ask']>): Promise<string> {
    const answer = await this.ask(...request);
    const text = await answer.text();
    // A completion may fail after its status was sent: the text then holds the error.
    if (!answer.ok || text.includes('<Error>'))
      throw this.failed(new Error(`${answer.status} ${errorOf(text)}`));
    return text;
  }

  failed(cause: unknown): TeleopError {
    const { endpoint, bucket } = this.place;
    const why = (cause as Error).cause ?? cause;
    return new TeleopError('transfer-failed', `${bucket} at ${endpoint}: ${(why as Error).message}`, {
      hint: 'Check --endpoint, the bucket and AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION.',
      cause,
    });
  }
}

const errorOf = (text: string): string =>
  `${valuesOf(text, 'Code')[0] ?? ''} ${valuesOf(text, 'Message')[0] ?? ''}`.trim() || 'no reason given';

/** The texts of all elements with that tag; enough for S3's flat answers. */
export function valuesOf(xml: string, tag: string): string[] {
  const found = [...xml.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))];
  return found.map(([, text = '']) =>
    text.replace(/&(lt|gt|quot|apos|amp|#34|#39);/g, (_, name: string) => ENTITIES[name] ?? ''),
  );
}

const ENTITIES: Record<string, string> = {
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  amp: '&',
  '#34': '"',
  '#39': "'",
};
