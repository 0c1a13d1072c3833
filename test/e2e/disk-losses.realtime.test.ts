import assert from 'node:assert/strict';
import type { Socket } from 'node:dgram';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSocket, sendTo, telemetryOf } from '../../src/desk/ask.ts';
import { encodeHello } from '../../src/wire/codecs/desk.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { openSmallDisk, type SmallDisk } from '../small-disk.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand, type Running, startFarhand } from './farhand.ts';

/** Three processes start on a machine that may be busy. */
const MS = 120_000;
const timeout = 2 * MS;

/** A demo without a page that follows the scripted hand, with its files on `dir`. */
async function startDemo(dir: string, ...more: string[]): Promise<Running & { page: Page }> {
  const [telemetryPort = 0] = await freeUdpPorts(1);
  const demo = startFarhand([
    ...['demo', '--headless', `trace.dir=${dir}/traces`, `record.dir=${dir}/recordings`],
    ...[`console.telemetryPort=${telemetryPort}`, 'record.minFreeMb=0', ...more],
  ]);
  return { ...demo, page: await Page.open(demo, telemetryPort) };
}

/** What the page has received so far. */
class Page {
  /** Why the trace cannot be written; empty if it can. */
  trouble = '';
  readonly troubles: string[] = [];
  recording = false;
  /** Messages of recordings that stopped. A new engagement starts another recording. */
  readonly failures: string[] = [];
  readonly #hello: NodeJS.Timeout;
  readonly #socket: Socket;

  readonly #demo: Running;

  constructor(demo: Running, socket: Socket, port: number) {
    this.#demo = demo;
    this.#socket = socket;
    this.#hello = setInterval(() => sendTo(socket, port, (bytes) => encodeHello(1, bytes)), 100);
    socket.on('message', (data) => {
      const { trouble = '', record } = telemetryOf(data) ?? {};
      this.trouble = trouble;
      if (trouble !== '') this.troubles.push(trouble);
      this.recording ||= record?.state === 'recording';
      if (record?.state === 'failed') this.failures.push(record.message);
    });
  }

  static async open(demo: Running, port: number): Promise<Page> {
    return new Page(demo, await openSocket(), port);
  }

  async until(isIt: () => boolean): Promise<void> {
    for (const untilMs = performance.now() + MS; performance.now() < untilMs; await sleep(50))
      if (isIt()) return;
    const reported = JSON.stringify([this.troubles.at(-1), this.failures.at(-1)]);
    throw new Error(
      [`the page received only ${reported}`, this.#demo.stdout(), this.#demo.stderr()].join('\n'),
    );
  }

  close(): void {
    clearInterval(this.#hello);
    this.#socket.close();
  }
}

const filesIn = (dir: string, pattern: RegExp): string[] => {
  const names = statSync(dir, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(dir);
  return names.filter((name) => pattern.test(name)).map((name) => path.join(dir, name));
};

describe('a disk that fills during a run', { skip: needs('mounts') }, () => {
  let disk: SmallDisk;
  before(async () => {
    disk = await openSmallDisk(16 << 20);
  });
  after(() => disk?.close());

  it('is reported on the page, by the exit code and by the report; the recording can be recovered', {
    timeout,
  }, async () => {
    const demo = await startDemo(disk.dir, '--record');
    const { page } = demo;
    try {
      await page.until(() => page.recording);
      await sleep(2000);
      disk.fill();
      await page.until(() => page.troubles.length > 0 && page.failures.length > 0);
      assert.match(
        page.troubles[0]!,
        /The trace .*robot_trace_.* cannot be written: the disk is full \(ENOSPC\)\./,
      );
      assert.match(page.failures[0]!, /the disk is full.*farhand recover/);
      demo.process.kill('SIGTERM');
      assert.equal(await demo.exited, 1, `${demo.stdout()}\n${demo.stderr()}`);
    } finally {
      demo.page.close();
      demo.process.kill('SIGKILL');
    }
    assert.match(
      demo.stderr(),
      /farhand: The trace .* cannot be written: the disk is full .*\d+ commands are missing/,
    );
    assert.match(demo.stderr(), /farhand: No flight record written: .*flight-.* the disk is full/);
    assert.match(demo.stderr(), /farhand: Cannot continue recording in .*: the disk is full/);
    const [trace = ''] = filesIn(path.join(disk.dir, 'traces'), /^robot_trace_/);
    const report = await farhand(['trace', 'report', trace], MS);
    assert.match(report.stdout, /the last line is torn|the trace was not closed/);
    const json = await farhand(['trace', 'report', trace, '--json'], MS);
    assert.equal((JSON.parse(json.stdout) as { complete: boolean }).complete, false);
    assertNoEmptyFiles(disk.dir);
    disk.free();
    const [part = ''] = filesIn(path.join(disk.dir, 'recordings'), /\.part$/);
    const recovered = await farhand(['recover', part], MS);
    assert.ok([0, 3].includes(recovered.code ?? -1), recovered.stderr);
    assert.match(recovered.stdout, /[1-9]\d* rows over/);
  });

  it('loses nothing if it has space again in time', { timeout }, async () => {
    rmSync(path.join(disk.dir, 'traces'), { recursive: true, force: true });
    const demo = await startDemo(disk.dir);
    const { page } = demo;
    try {
      await demo.waitFor(/→ engaged/, MS);
      // A role that finds no space for its trace does not start.
      await page.until(() => filesIn(path.join(disk.dir, 'traces'), /_trace_/).length > 0);
      disk.fill();
      await page.until(() => page.trouble !== '');
      disk.free();
      await page.until(() => page.trouble === '');
      demo.process.kill('SIGTERM');
      assert.equal(await demo.exited, 0, demo.stderr());
    } finally {
      demo.page.close();
      demo.process.kill('SIGKILL');
    }
    const [trace = ''] = filesIn(path.join(disk.dir, 'traces'), /^robot_trace_/);
    assert.match(readFileSync(trace, 'utf8'), /"kind":"footer".*"ring_dropped":0.*\n$/);
  });

  it('leaves no empty file if it is full before a recording starts or the robot stops', {
    timeout,
  }, async () => {
    for (const folder of ['traces', 'recordings'])
      rmSync(path.join(disk.dir, folder), { recursive: true, force: true });
    const traces = temporaryFolder();
    mkdirSync(path.join(disk.dir, 'flights'));
    disk.fill();
    const demo = await startDemo(disk.dir, '--record', `trace.dir=${traces}`);
    try {
      await demo.page.until(() => demo.page.failures.length > 0);
      demo.process.kill('SIGTERM');
      assert.equal(await demo.exited, 1, demo.stderr());
      assert.match(demo.stderr(), /Cannot start a recording in .*: the disk is full/);
      assert.deepEqual(filesIn(path.join(disk.dir, 'recordings'), /./), []);
    } finally {
      demo.page.close();
      demo.process.kill('SIGKILL');
      disk.free();
      rmSync(traces, { recursive: true, force: true });
    }
  });
});

function assertNoEmptyFiles(dir: string): void {
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile()) assert.ok(statSync(file).size > 0, `${file} is empty`);
    assert.ok(!entry.name.endsWith('.tmp'), `${file} was left behind`);
  }
}

describe('a folder that cannot be written to', () => {
  const dir = temporaryFolder();
  after(() => rmSync(dir, { recursive: true, force: true }));

  it('is rejected before anything starts', { skip: needs('mounts'), timeout }, async () => {
    const disk = await openSmallDisk(1 << 20);
    try {
      disk.readOnly();
      for (const setting of ['trace.dir', 'record.dir']) {
        const { code, stderr } = await farhand(
          [
            'demo',
            '--headless',
            '--record',
            '--duration',
            '2',
            `trace.dir=${dir}`,
            `${setting}=${disk.dir}/new`,
          ],
          MS,
        );
        assert.equal(code, 2, stderr);
        assert.match(stderr, /new cannot be written: the file system is read-only \(EROFS\)/);
        assert.match(stderr, new RegExp(`${setting}=FOLDER chooses another`));
      }
      assert.deepEqual(readdirSync(dir), [], 'no trace was started');
    } finally {
      await disk.close();
    }
  });

  it('is reported if it was deleted during the run', { timeout }, async () => {
    const place = path.join(dir, 'gone');
    const demo = await startDemo(place, '--record');
    const { page } = demo;
    try {
      await page.until(() => page.recording);
      rmSync(place, { recursive: true, force: true });
      await page.until(() => page.troubles.length > 0 && page.failures.length > 0);
      assert.match(page.troubles[0]!, /the file was deleted/);
      assert.match(page.failures[0]!, /was deleted|ENOENT/);
      assert.doesNotMatch(page.failures[0]!, /farhand recover/);
      demo.process.kill('SIGTERM');
      assert.notEqual(await demo.exited, 0);
      assert.match(demo.stderr(), /The trace .* cannot be written: the file was deleted/);
    } finally {
      demo.page.close();
      demo.process.kill('SIGKILL');
    }
  });
});
