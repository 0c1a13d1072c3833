import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openSocket, sendTo, telemetryOf } from '../../src/app/ask.ts';
import { freeUdpPorts } from '../../src/app/free-ports.ts';
import { encodeHello } from '../../src/wire/codecs/desk.ts';
import { needs } from '../needs.ts';
import { openSmallDisk, type SmallDisk } from '../small-disk.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand, type Running, startFarhand } from './farhand.ts';

const MS = 60_000;

/** A demo without a page that follows the scripted hand, with its files on `dir`. */
async function startDemo(dir: string, ...more: string[]): Promise<Running & { telemetryPort: number }> {
  const [telemetryPort = 0] = await freeUdpPorts(1);
  const demo = startFarhand([
    ...['demo', '--headless', '--record', `trace.dir=${dir}/traces`, `record.dir=${dir}/recordings`],
    ...[`console.telemetryPort=${telemetryPort}`, 'record.minFreeMb=0', ...more],
  ]);
  return { ...demo, telemetryPort };
}

/** What the page is told, as soon as `isIt`. */
async function telemetryWhen(port: number, isIt: (trouble: string, record: string) => boolean) {
  const socket = await openSocket();
  const hello = setInterval(() => sendTo(socket, port, (bytes) => encodeHello(1, bytes)), 100);
  try {
    return await new Promise<{ trouble: string; record: string }>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('the page was never told')), MS);
      socket.on('message', (data) => {
        const { trouble = '', record } = telemetryOf(data) ?? {};
        const state = record?.state ?? '';
        if (!isIt(trouble, state)) return;
        clearTimeout(late);
        resolve({ trouble, record: `${state}: ${record?.message ?? ''}` });
      });
    });
  } finally {
    clearInterval(hello);
    socket.close();
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

  it('is reported on the page, by the exit code and by the report; what was written can be had', async () => {
    const demo = await startDemo(disk.dir);
    try {
      await demo.waitFor(/→ engaged/, MS);
      await new Promise((resolve) => setTimeout(resolve, 2000));
      disk.fill();
      const told = await telemetryWhen(
        demo.telemetryPort,
        (trouble, state) => trouble !== '' && state === 'failed',
      );
      assert.match(
        told.trouble,
        /The trace .*robot_trace_.* cannot be written: the disk is full \(ENOSPC\)\./,
      );
      assert.match(told.record, /^failed: .*the disk is full.*farhand recover/);
      demo.process.kill('SIGTERM');
      assert.equal(await demo.exited, 1, `${demo.stdout()}\n${demo.stderr()}`);
    } finally {
      demo.process.kill('SIGKILL');
    }
    assert.match(
      demo.stderr(),
      /farhand: The trace .* cannot be written: the disk is full .*It lacks \d+ commands/,
    );
    assert.match(demo.stderr(), /farhand: No flight record written: .*flight-.* the disk is full/);
    assert.match(demo.stderr(), /farhand: Cannot go on recording in .*: the disk is full/);
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

  it('that has room again in time loses nothing', async () => {
    rmSync(path.join(disk.dir, 'traces'), { recursive: true, force: true });
    const [telemetryPort = 0] = await freeUdpPorts(1);
    const demo = startFarhand([
      ...['demo', '--headless', `trace.dir=${disk.dir}/traces`, `console.telemetryPort=${telemetryPort}`],
    ]);
    try {
      await demo.waitFor(/→ engaged/, MS);
      disk.fill();
      await telemetryWhen(telemetryPort, (trouble) => trouble !== '');
      disk.free();
      await telemetryWhen(telemetryPort, (trouble) => trouble === '');
      demo.process.kill('SIGTERM');
      assert.equal(await demo.exited, 0, demo.stderr());
    } finally {
      demo.process.kill('SIGKILL');
    }
    const [trace = ''] = filesIn(path.join(disk.dir, 'traces'), /^robot_trace_/);
    assert.match(readFileSync(trace, 'utf8'), /"kind":"footer".*"ring_dropped":0.*\n$/);
  });

  it('that is full before a recording begins, or a robot stops, leaves no empty file', async () => {
    for (const folder of ['traces', 'recordings'])
      rmSync(path.join(disk.dir, folder), { recursive: true, force: true });
    const traces = temporaryFolder();
    mkdirSync(path.join(disk.dir, 'flights'));
    disk.fill();
    const demo = await startDemo(disk.dir, `trace.dir=${traces}`);
    try {
      await demo.waitFor(/→ engaged/, MS);
      await telemetryWhen(demo.telemetryPort, (_, state) => state === 'failed');
      demo.process.kill('SIGTERM');
      assert.equal(await demo.exited, 1, demo.stderr());
      assert.match(demo.stderr(), /Cannot begin a recording in .*: the disk is full/);
      assert.deepEqual(filesIn(path.join(disk.dir, 'recordings'), /./), []);
    } finally {
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

  it('is refused before anything starts', { skip: needs('mounts') }, async () => {
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
      assert.deepEqual(readdirSync(dir), [], 'no trace was begun');
    } finally {
      await disk.close();
    }
  });

  it('because it was deleted during the run is reported', async () => {
    const place = path.join(dir, 'gone');
    const demo = await startDemo(place);
    try {
      await demo.waitFor(/→ engaged/, MS);
      await telemetryWhen(demo.telemetryPort, (_, state) => state === 'recording');
      rmSync(place, { recursive: true, force: true });
      const told = await telemetryWhen(
        demo.telemetryPort,
        (trouble, state) => trouble !== '' && state === 'failed',
      );
      assert.match(told.trouble, /it was deleted/);
      assert.match(told.record, /was deleted|ENOENT/);
      assert.doesNotMatch(told.record, /farhand recover/);
      demo.process.kill('SIGTERM');
      assert.notEqual(await demo.exited, 0);
      assert.match(demo.stderr(), /The trace .* cannot be written: it was deleted/);
    } finally {
      demo.process.kill('SIGKILL');
      chmodSync(dir, 0o755);
    }
  });
});
