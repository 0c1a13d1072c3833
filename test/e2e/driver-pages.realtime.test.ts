import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Lifetime } from '../lifetime.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { root } from './farhand.ts';

const PAGES = path.join(root, 'docs', 'drivers');
/** Verbs that run until they are ended. */
const LASTING = /^bin\/farhand (sim|robot|operator|leader|demo)\b/;
/** Between two commands, and after the last: all run on. */
const [NEXT_MS, SETTLED_MS] = [300, 2000];
const FIRST_LINE_MS = 40_000;
const ENDED_MS = 30_000;

/** Blocks of commands that begin with a simulator: they need no hardware. A line's comment is part of it, as when it is pasted. */
const blocksOf = (page: string): string[][] =>
  [...readFileSync(path.join(PAGES, page), 'utf8').matchAll(/^```sh\n(.*?)^```/gms)]
    .map(([, body = '']) => body.trim().split('\n'))
    .filter(([first = '']) => first.startsWith('bin/farhand sim'));

interface Typed {
  line: string;
  child: ChildProcess;
  output: string;
}

/** A shell in a network of its own, so that the commands can use the ports that they name. */
function type(line: string, folder: string, network: string[]): Typed {
  const [program, ...words] = [...network, 'sh', '-c', `exec ${line}`];
  // A pipe or an echo is not one program.
  if (!line.startsWith('bin/farhand')) words[words.length - 1] = line;
  const child = spawn(program!, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const typed: Typed = { line, child, output: '' };
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (data: Buffer) => {
      typed.output += data.toString();
    });
  return typed;
}

const hasEnded = ({ child }: Typed): boolean => child.exitCode !== null || child.signalCode !== null;

const skip = needs('network namespaces');

// Each in a network of its own, where it mostly waits.
describe('the commands of the driver pages, as typed', { skip, concurrency: 2 }, () => {
  for (const page of readdirSync(PAGES).sort())
    for (const [i, lines] of blocksOf(page).entries())
      it(`${page}, block ${i + 1}: ${lines[0]}`, { timeout: 180_000 }, async (context) => {
        const life = new Lifetime();
        context.after(() => life.end());
        const folder = temporaryFolder();
        mkdirSync(path.join(folder, 'bin'));
        symlinkSync(path.join(root, 'bin', 'farhand'), path.join(folder, 'bin', 'farhand'));
        const keeper = spawn('unshare', ['-n', 'sh', '-c', 'ip link set lo up; echo up; exec sleep 300'], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        life.own(keeper, (each) => void each.kill('SIGKILL'));
        await once(keeper.stdout!, 'data');
        const network = ['nsenter', '-t', String(keeper.pid), '-n'];
        const lasting: Typed[] = [];
        for (const line of lines) {
          const typed = type(line, folder, network);
          const name = `${page}: ${line}`;
          if (!LASTING.test(line)) {
            await once(typed.child, 'close', { signal: AbortSignal.timeout(ENDED_MS) });
            assert.equal(typed.child.exitCode, 0, `${name}\n${typed.output}`);
            continue;
          }
          life.own(typed.child, (each) => void each.kill('SIGKILL'));
          lasting.push(typed);
          for (let ms = 0; typed.output === '' && !hasEnded(typed) && ms < FIRST_LINE_MS; ms += 50)
            await sleep(50);
          await sleep(NEXT_MS);
          assert.notEqual(typed.output, '', `${name} printed nothing`);
        }
        await sleep(SETTLED_MS);
        for (const each of lasting) assert.ok(!hasEnded(each), `${page}: ${each.line}\n${each.output}`);
        for (const { child, line, output } of lasting.toReversed()) {
          child.kill('SIGINT');
          if (child.exitCode === null) await once(child, 'close', { signal: AbortSignal.timeout(ENDED_MS) });
          assert.equal(child.exitCode, 0, `${page}: ${line}\n${output}`);
        }
      });
});
