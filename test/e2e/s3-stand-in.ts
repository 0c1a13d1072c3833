import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export const S3_TEST_ENV = {
  AWS_ACCESS_KEY_ID: 'AKIATESTTESTTESTTEST',
  AWS_SECRET_ACCESS_KEY: 'not/a+secret',
  AWS_REGION: 'eu-test-1',
};

interface Upload {
  key: string;
  parts: Map<number, Buffer>;
  meta: string;
}

export interface S3StandIn {
  url: string;
  objects: Map<string, { bytes: Buffer; meta: string }>;
  uploads: Map<string, Upload>;
  /** Requests whose signature or body hash was wrong. */
  refused: number;
  /** Called with the number of every part before it is stored. */
  onPart: (number: number) => void;
  /** Parts stored. */
  puts: number;
  close(): Promise<void>;
}

const sha = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Recomputes the signature from the received request. */
function isSigned(request: IncomingMessage, body: Buffer): boolean {
  const said = /Credential=([^,]+), SignedHeaders=([^,]+), Signature=(\w+)/.exec(
    request.headers.authorization ?? '',
  );
  if (!said || request.headers['x-amz-content-sha256'] !== sha(body)) return false;
  const [, credential = '', signed = '', signature] = said;
  const [id, day = '', region = '', service = '', end = ''] = credential.split('/');
  const [pathname = '', query = ''] = request.url!.split('?');
  const canonical = [
    request.method,
    pathname,
    query.split('&').sort().join('&'),
    ...signed.split(';').map((name) => `${name}:${String(request.headers[name])}`),
    '',
    signed,
    sha(body),
  ].join('\n');
  let key: string | Buffer = `AWS4${S3_TEST_ENV.AWS_SECRET_ACCESS_KEY}`;
  for (const step of [day, region, service, end]) key = hmac(key, step);
  const scope = `${day}/${region}/${service}/${end}`;
  const text = `AWS4-HMAC-SHA256\n${String(request.headers['x-amz-date'])}\n${scope}\n${sha(canonical)}`;
  return id === S3_TEST_ENV.AWS_ACCESS_KEY_ID && signature === hmac(key, text).toString('hex');
}

const tagOf = (bytes: Buffer): string => `"${createHash('md5').update(bytes).digest('hex')}"`;

/** Enough of S3 for multipart uploads over a real socket. Rejects unsigned requests. */
export async function startS3StandIn(): Promise<S3StandIn> {
  let ids = 0;
  const self: S3StandIn = {
    url: '',
    objects: new Map(),
    uploads: new Map(),
    refused: 0,
    puts: 0,
    onPart: () => {},
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const answer = (
    request: IncomingMessage,
    body: Buffer,
  ): { status: number; text?: string | Buffer; headers?: Record<string, string> } => {
    if (!isSigned(request, body)) {
      self.refused++;
      return { status: 403, text: '<Error><Code>SignatureDoesNotMatch</Code></Error>' };
    }
    const url = new URL(request.url!, 'http://s3');
    const key = decodeURIComponent(url.pathname.split('/').slice(2).join('/'));
    const has = (name: string) => url.searchParams.has(name);
    const upload = self.uploads.get(url.searchParams.get('uploadId') ?? '');
    const meta = String(request.headers['x-amz-meta-sha256'] ?? '');
    if (has('uploadId') && upload === undefined)
      return { status: 404, text: '<Error><Code>NoSuchUpload</Code></Error>' };
    if (request.method === 'POST' && has('uploads')) {
      const id = `upload-${++ids}`;
      self.uploads.set(id, { key, parts: new Map(), meta });
      return { status: 200, text: `<R><UploadId>${id}</UploadId></R>` };
    }
    if (request.method === 'GET' && has('uploads')) {
      const lines = [...self.uploads].map(
        ([id, each]) => `<Upload><Key>${each.key}</Key><UploadId>${id}</UploadId></Upload>`,
      );
      return { status: 200, text: `<R>${lines.join('')}</R>` };
    }
    if (request.method === 'GET' && upload) {
      const after = Number(url.searchParams.get('part-number-marker') ?? 0);
      // Two per page, so that the reader must request the next page.
      const rest = [...upload.parts].filter(([number]) => number > after).sort(([a], [b]) => a - b);
      const lines = rest
        .slice(0, 2)
        .map(
          ([number, bytes]) =>
            `<Part><PartNumber>${number}</PartNumber><ETag>&quot;${tagOf(bytes).slice(1, -1)}&quot;</ETag><Size>${bytes.length}</Size></Part>`,
        );
      const next = rest.slice(0, 2).at(-1)?.[0] ?? after;
      return {
        status: 200,
        text: `<R>${lines.join('')}<NextPartNumberMarker>${next}</NextPartNumberMarker><IsTruncated>${rest.length > 2}</IsTruncated></R>`,
      };
    }
    if (request.method === 'PUT' && upload) {
      const number = Number(url.searchParams.get('partNumber'));
      self.onPart(number);
      self.puts++;
      upload.parts.set(number, body);
      return { status: 200, headers: { etag: tagOf(body) } };
    }
    if (request.method === 'POST' && upload) {
      const wanted = [...body.toString().matchAll(/<ETag>&quot;(\w+)&quot;</g)].map((m) => `"${m[1]}"`);
      const parts = [...upload.parts].sort(([a], [b]) => a - b).map(([, bytes]) => bytes);
      if (parts.map(tagOf).join() !== wanted.join())
        return { status: 400, text: '<Error><Code>InvalidPart</Code></Error>' };
      self.objects.set(upload.key, { bytes: Buffer.concat(parts), meta: upload.meta });
      self.uploads.delete(url.searchParams.get('uploadId')!);
      return { status: 200, text: '<R/>' };
    }
    if (request.method === 'PUT') {
      self.objects.set(key, { bytes: body, meta });
      return { status: 200, headers: { etag: tagOf(body) } };
    }
    if (request.method === 'DELETE') {
      self.objects.delete(key);
      return { status: 204 };
    }
    const found = self.objects.get(key);
    if (found === undefined) return { status: 404 };
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const headers = { 'x-amz-meta-sha256': found.meta };
    return { status: request.headers.range ? 206 : 200, text: found.bytes.subarray(from), headers };
  };
  const server = createServer((request, response) => {
    const got: Buffer[] = [];
    request.on('data', (data: Buffer) => got.push(data));
    request.on('end', () => {
      const { status, text = '', headers = {} } = answer(request, Buffer.concat(got));
      const size =
        request.method === 'HEAD' || status === 204
          ? {}
          : { 'content-length': String(Buffer.byteLength(text)) };
      if (request.method === 'HEAD') headers['content-length'] = String(Buffer.byteLength(text));
      response.writeHead(status, { ...headers, ...size });
      response.end(request.method === 'HEAD' || status === 204 ? undefined : text);
    });
    request.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  self.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return self;
}
