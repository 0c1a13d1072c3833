import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export const HUB_TEST_TOKEN = 'hf_notatokennotatoken';

export interface HubStandIn {
  url: string;
  /** `owner/name` → what the branch main holds. */
  repos: Map<string, HubRepo>;
  /** Large files by SHA-256, as they arrived: also those of pushes that never committed. */
  large: Map<string, Buffer>;
  /** SHA-256 of every large file whose upload began. */
  uploads: string[];
  /** Called before an uploaded large file is stored; false: the connection breaks. */
  onUpload: (count: number) => boolean;
  /** Called before bytes of a file are sent; how many of them are, before the connection breaks. */
  onDownload: (name: string, bytes: number) => number;
  /** Resolves once no request has been open for a while: a client that failed may still be sending others. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export interface HubRepo {
  isPrivate: boolean;
  commits: { id: string; files: Map<string, { bytes: Buffer; isLarge: boolean }>; title: string }[];
  tags: Map<string, string>;
}

const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
const gitId = (data: Buffer): string =>
  createHash('sha1').update(`blob ${data.length}\0`).update(data).digest('hex');
const PAGE = 4;

/**
 * Enough of the Hugging Face hub for one client: datasets, tree pages, pre-upload, Git LFS by plain PUT, commits,
 * tags, ranges. It trusts nothing: a large file must have the announced hash, and a commit must name files that arrived.
 */
export async function startHubStandIn(): Promise<HubStandIn> {
  let open = 0;
  const self: HubStandIn = {
    url: '',
    repos: new Map(),
    large: new Map(),
    uploads: [],
    onUpload: () => true,
    onDownload: (_, bytes) => bytes,
    idle: async () => {
      for (let quiet = 0; quiet < 10; quiet = open === 0 ? quiet + 1 : 0) await sleep(20);
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const server = createServer((request, response) => {
    open++;
    response.on('close', () => open--);
    const got: Buffer[] = [];
    request.on('data', (data: Buffer) => got.push(data));
    request.on('error', () => {});
    request.on('end', () => answer(self, request, response, Buffer.concat(got)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  self.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return self;
}

type Reply = (status: number, body?: unknown, headers?: Record<string, string>) => void;

function answer(self: HubStandIn, request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const reply: Reply = (status, value = {}, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(request.method === 'HEAD' ? undefined : JSON.stringify(value));
  };
  const url = new URL(request.url!, self.url);
  const [, , name = '', action = '', rest = ''] =
    /^\/(api\/)?datasets\/([\w.-]+\/[\w.-]+?)(?:\.git\/(info\/lfs\/objects\/batch)|\/(?:(revision|tree|preupload|commit|tag|resolve)\/(.*)|(refs)))?$/
      .exec(url.pathname)
      ?.map((part, i, all) => (i === 3 ? (part ?? all[4] ?? all[6]) : i === 4 ? all[5] : part)) ?? [];
  const known = request.headers.authorization === `Bearer ${HUB_TEST_TOKEN}`;
  const isWrite = request.method !== 'GET' && request.method !== 'HEAD';
  if (url.pathname.startsWith('/lfs/')) return upload(self, url.pathname.slice(5), response, body);
  if (isWrite && !known) return reply(401, { error: 'Invalid username or password.' });
  if (url.pathname === '/api/repos/create') return create(self, body, reply);
  const repo = self.repos.get(name);
  if (repo === undefined || (repo.isPrivate && !known)) return reply(404, { error: 'Repository not found' });
  if (action === 'info/lfs/objects/batch') return batch(self, body, reply);
  if (action === 'preupload') return preupload(body, reply);
  if (action === 'commit') return commit(self, repo, body, reply);
  if (action === 'tag') return tag(repo, request.method!, rest, body, reply);
  if (action === 'refs') return refs(repo, reply);
  const [revision = '', ...file] = decodeURIComponent(rest).split('/');
  const at = commitOf(repo, revision);
  if (at === undefined) return reply(404, { error: 'Revision not found' });
  if (action === 'revision')
    return reply(200, {
      ...{
        _id: '1',
        id: name,
        sha: at.id,
        private: repo.isPrivate,
        lastModified: '2026-01-01T00:00:00.000Z',
      },
      ...{ downloads: 0, likes: 0, gated: false },
      siblings: [...at.files.keys()].map((rfilename) => ({ rfilename })),
    });
  if (action === 'tree') return tree(self, at.files, url, reply);
  return resolve(self, at, file.join('/'), request, response);
}

function refs(repo: HubRepo, reply: Reply): void {
  const tags = [...repo.tags].map(([name, targetCommit]) => ({
    name,
    ref: `refs/tags/${name}`,
    targetCommit,
  }));
  const main = { name: 'main', ref: 'refs/heads/main', targetCommit: repo.commits.at(-1)!.id };
  reply(200, { branches: [main], tags, converts: [] });
}

const commitOf = (repo: HubRepo, revision: string) => {
  const id = repo.tags.get(revision) ?? revision;
  if (id === 'main' || id === 'HEAD') return repo.commits.at(-1);
  return repo.commits.find((commit) => commit.id === id);
};

function create(self: HubStandIn, body: Buffer, reply: Reply): void {
  const { name, organization, type, visibility } = JSON.parse(body.toString()) as Record<string, string>;
  if (type !== 'dataset') return reply(400, { error: 'not a dataset' });
  const id = `${organization}/${name}`;
  if (self.repos.has(id)) return reply(409, { error: 'exists' });
  const first = { id: '0'.repeat(40), files: new Map(), title: 'initial commit' };
  self.repos.set(id, { isPrivate: visibility === 'private', commits: [first], tags: new Map() });
  reply(200, { url: `${self.url}/datasets/${id}`, id });
}

function preupload(body: Buffer, reply: Reply): void {
  const { files } = JSON.parse(body.toString()) as { files: { path: string; size: number }[] };
  const isLarge = (path: string, size: number) => /\.(parquet|mp4)$/.test(path) || size > 1e6;
  reply(200, {
    files: files.map(({ path, size }) => ({ path, uploadMode: isLarge(path, size) ? 'lfs' : 'regular' })),
  });
}

function batch(self: HubStandIn, body: Buffer, reply: Reply): void {
  const { objects } = JSON.parse(body.toString()) as { objects: { oid: string; size: number }[] };
  reply(200, {
    transfer: 'basic',
    objects: objects.map(({ oid, size }) =>
      self.large.has(oid)
        ? { oid, size }
        : { oid, size, actions: { upload: { href: `${self.url}/lfs/${oid}` } } },
    ),
  });
}

function upload(self: HubStandIn, oid: string, response: ServerResponse, body: Buffer): void {
  if (!self.onUpload(self.uploads.push(oid))) return void response.destroy();
  const isRight = sha256(body) === oid;
  if (isRight) self.large.set(oid, body);
  response.writeHead(isRight ? 200 : 400).end();
}

function commit(self: HubStandIn, repo: HubRepo, body: Buffer, reply: Reply): void {
  const last = repo.commits.at(-1)!;
  const files = new Map(last.files);
  let title = '';
  for (const line of body.toString().trim().split('\n')) {
    const { key, value } = JSON.parse(line) as { key: string; value: Record<string, string> };
    const path = value['path'] ?? '';
    if (key === 'header') {
      title = value['summary'] ?? '';
      if (value['parentCommit'] !== undefined && value['parentCommit'] !== last.id)
        return reply(412, { error: 'A commit has happened since' });
    } else if (key === 'file')
      files.set(path, { bytes: Buffer.from(value['content']!, 'base64'), isLarge: false });
    else if (key === 'lfsFile') {
      const bytes = self.large.get(value['oid'] ?? '');
      if (bytes === undefined) return reply(400, { error: `${path} was never uploaded` });
      files.set(path, { bytes, isLarge: true });
    } else if (!files.delete(path)) return reply(400, { error: `${path} does not exist` });
  }
  const id = createHash('sha1').update(`${last.id}${title}`).digest('hex');
  repo.commits.push({ id, files, title });
  reply(200, { commitOid: id, commitUrl: `${self.url}/commit/${id}`, success: true, hookOutput: '' });
}

function tag(repo: HubRepo, method: string, rest: string, body: Buffer, reply: Reply): void {
  if (method === 'DELETE') return reply(repo.tags.delete(rest) ? 200 : 404);
  const name = (JSON.parse(body.toString()) as { tag: string }).tag;
  if (repo.tags.has(name)) return reply(409, { error: 'the tag exists' });
  repo.tags.set(name, commitOf(repo, rest)!.id);
  reply(200);
}

function tree(self: HubStandIn, files: HubRepo['commits'][0]['files'], url: URL, reply: Reply): void {
  const from = Number(url.searchParams.get('cursor') ?? 0);
  const all = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  const page = all.slice(from, from + PAGE).map(([path, { bytes, isLarge }]) => ({
    type: 'file',
    path,
    size: bytes.length,
    oid: gitId(bytes),
    ...(isLarge && { lfs: { oid: sha256(bytes), size: bytes.length, pointerSize: 130 } }),
  }));
  const next = new URL(url);
  next.searchParams.set('cursor', String(from + PAGE));
  const isMore = from + PAGE < all.length;
  const link = `<${self.url}${next.pathname}${next.search}>; rel="next"`;
  reply(200, page, isMore ? { link } : {});
}

function resolve(
  self: HubStandIn,
  { id, files }: HubRepo['commits'][0],
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const found = files.get(name);
  if (found === undefined)
    return void response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end('Entry not found');
  const { bytes, isLarge } = found;
  const [, from, to] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? [];
  const part = from === undefined ? bytes : bytes.subarray(Number(from), to ? Number(to) + 1 : undefined);
  const first = Number(from ?? 0);
  response.writeHead(from === undefined ? 200 : 206, {
    'content-length': part.length,
    'accept-ranges': 'bytes',
    etag: `"${isLarge ? sha256(bytes) : gitId(bytes)}"`,
    'x-repo-commit': id,
    ...(from !== undefined && {
      'content-range': `bytes ${first}-${first + part.length - 1}/${bytes.length}`,
    }),
  });
  if (request.method === 'HEAD') return void response.end();
  const sent = self.onDownload(name, part.length);
  if (sent >= part.length) response.end(part);
  else response.write(part.subarray(0, sent), () => response.destroy());
}
