import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { packageRoot } from '../../src/files/package-root.ts';
import { deleteEpisodes, relabel } from '../../src/record/edit/edits.ts';
import { checkDataset } from '../../src/record/lerobot/check.ts';
import { LeRobotWriter, type WriterOptions } from '../../src/record/lerobot/dataset-writer.ts';
import { needs } from '../needs.ts';
import { SEED } from '../seed.ts';
import { openSmallDisk } from '../small-disk.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { xorshift } from '../xorshift.ts';
import { sourceEpisode } from './source-episode.ts';

const OPTIONS: WriterOptions = { fps: 30, codec: 'h264', maxGapS: 1, version: '0.0.0' };
const KILLS = 12;

describe('interrupted edits', { skip: needs('ffmpeg') }, () => {
  let root = '';
  let whole = '';
  let count = 0;
  const running = new Set<ChildProcess>();

  before(async () => {
    root = temporaryFolder('interrupted');
    whole = path.join(root, 'whole');
    const writer = await LeRobotWriter.open(whole, OPTIONS);
    for (const [id, seconds] of Object.entries({ a: 1, b: 0.5, c: 0.8 }))
      await writer.add(sourceEpisode({ id, seconds, cameras: ['front'] }));
    writer.close();
  });
  after(() => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true });
  });

  const copy = (): string => {
    const dir = path.join(root, `copy-${count++}`);
    cpSync(whole, dir, { recursive: true });
    return dir;
  };
  const contents = async (dir: string): Promise<string[]> => {
    const { problems, episodes } = await checkDataset(dir, 'none');
    assert.deepEqual(problems.list, []);
    return episodes.map(({ length, tasks }) => `${length} ${tasks.join()}`);
  };
  const farhand = (...words: string[]): ChildProcess => {
    const child = spawn(process.execPath, [path.join(packageRoot, 'bin', 'farhand'), 'dataset', ...words], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    return child;
  };
  const ended = async (child: ChildProcess): Promise<{ code: number | null; errors: string }> => {
    let errors = '';
    child.stderr!.on('data', (data: Buffer) => {
      errors += data.toString();
    });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, errors };
  };
  const leftovers = (dir: string): string[] =>
    readdirSync(path.dirname(dir)).filter(
      (name) => name.startsWith(`${path.basename(dir)}.`) && name.includes('.farhand-'),
    );

  it('are the old or the new dataset, whenever the process is killed', {
    timeout: 180_000,
  }, async (context) => {
    const random = xorshift(SEED || 1);
    const before = ['30 put the cup down', '15 put the cup down', '24 put the cup down'];
    const edits = [
      { words: ['delete', '--episodes', '1'], result: [before[0], before[2]] },
      {
        words: ['trim', '--episodes', '0', '--to', '0.4'],
        result: ['12 put the cup down', before[1], before[2]],
      },
      { words: ['relabel', '--task', 'wave'], result: ['30 wave', '15 wave', '24 wave'] },
    ];
    const dir = copy();
    const startedNs = monotonicClock.nowNs();
    assert.equal((await ended(farhand('delete', dir, '--episodes', '1'))).code, 0);
    const wholeMs = (monotonicClock.nowNs() - startedNs) / 1e6;
    const seen = { old: 0, new: 0, working: 0 };
    for (let i = 0; i < KILLS; i++) {
      const { words, result } = edits[i % edits.length]!;
      const [verb = '', ...rest] = words;
      const place = copy();
      const child = farhand(verb, place, ...rest);
      const end = ended(child);
      // From when it has locked the dataset: before, it has only loaded the program.
      const isLocked = () => existsSync(`${place}.farhand-lock`);
      while (!isLocked() && running.has(child)) await new Promise((resolve) => setTimeout(resolve, 1));
      await new Promise((resolve) => setTimeout(resolve, random() * 0.7 * wholeMs));
      child.kill('SIGKILL');
      await end;
      seen.working += Number(existsSync(`${place}.farhand-new`) || existsSync(`${place}.farhand-old`));
      const found = await contents(place);
      if (found.join() === before.join()) seen.old++;
      else {
        assert.deepEqual(found, result, `${words.join(' ')}, killed`);
        seen.new++;
      }
      await relabel(place, 'again', null);
      assert.ok((await contents(place)).every((each) => each.endsWith('again')));
      assert.deepEqual(leftovers(place), []);
    }
    context.diagnostic(`${KILLS} kills: ${seen.old} old, ${seen.new} new, ${seen.working} while writing`);
    assert.ok(seen.old > 0 && seen.working > 0, 'no edit was interrupted');
  });

  it('let an export continue with the dataset, not beside it', async () => {
    const dir = copy();
    const edited = copy();
    await deleteEpisodes(edited, [1]);
    renameSync(dir, `${dir}.farhand-old`);
    renameSync(edited, `${dir}.farhand-new`);
    const writer = await LeRobotWriter.open(dir, OPTIONS);
    assert.deepEqual(
      ['a', 'b', 'c'].map((id) => writer.has(id)),
      [true, false, true],
    );
    writer.close();
    assert.deepEqual(leftovers(dir), []);
  });

  it('keep both datasets where another program took the name meanwhile', async () => {
    const dir = copy();
    cpSync(whole, `${dir}.farhand-old`, { recursive: true });
    cpSync(whole, `${dir}.farhand-new`, { recursive: true });
    await assert.rejects(relabel(dir, 'wave', null), { code: 'bad-dataset', message: /unfinished/ });
    assert.deepEqual(leftovers(dir).sort(), [
      `${path.basename(dir)}.farhand-new`,
      `${path.basename(dir)}.farhand-old`,
    ]);
  });

  it('wait for each other: of two at once, none is lost', async () => {
    const dir = copy();
    const results = await Promise.all(
      ['0', '1', '2'].map(async (episode) => ({
        episode,
        ...(await ended(farhand('relabel', dir, '--episodes', episode, '--task', `task ${episode}`))),
      })),
    );
    assert.ok(results.some(({ code }) => code === 0));
    const found = await contents(dir);
    for (const { episode, code, errors } of results)
      if (code === 0) assert.match(found[Number(episode)]!, new RegExp(`task ${episode}$`));
      else assert.match(errors, /process \d+ is exporting into it or editing it/);
    assert.deepEqual(leftovers(dir), []);
  });

  it('replace the folder behind a symbolic link, not the link', async () => {
    const dir = copy();
    const link = path.join(root, 'link');
    symlinkSync(dir, link);
    await deleteEpisodes(link, [1]);
    assert.equal((await contents(dir)).length, 2);
    assert.equal((await contents(link)).length, 2);
  });

  it('leave the dataset as it was on a full disk', { skip: needs('mounts') }, async () => {
    const disk = await openSmallDisk(4 << 20);
    try {
      const dir = path.join(disk.dir, 'cups');
      cpSync(whole, dir, { recursive: true });
      const info = readFileSync(path.join(dir, 'meta/info.json'), 'utf8');
      disk.fill(20_000);
      await assert.rejects(relabel(dir, 'wave', null), {
        code: 'file-unwritable',
        message: /the disk is full/,
      });
      disk.free();
      assert.deepEqual(disk.names(), ['cups']);
      assert.equal(readFileSync(path.join(dir, 'meta/info.json'), 'utf8'), info);
      assert.equal((await contents(dir)).length, 3);
      disk.readOnly();
      await assert.rejects(relabel(dir, 'wave', null), { code: 'file-unwritable', message: /read-only/ });
      assert.equal((await contents(dir)).length, 3, 'a dataset on a read-only disk can be checked');
    } finally {
      await disk.close();
    }
  });

  it('name what is wrong with the folder', async () => {
    const empty = path.join(root, 'empty');
    mkdirSync(empty);
    await assert.rejects(deleteEpisodes(path.join(root, 'typo', 'cups'), [0]), { code: 'file-missing' });
    assert.ok(!existsSync(path.join(root, 'typo')));
    await assert.rejects(deleteEpisodes(empty, [0]), { message: /not a LeRobot v3 dataset/ });
    await assert.rejects(deleteEpisodes(path.join(whole, 'meta/info.json'), [0]), { code: 'bad-dataset' });
  });
});
