import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { TeleopError } from '../core/errors.ts';
import { packageRoot } from '../files/package-root.ts';
import { openpiPolicy } from './openpi-policy.ts';
import type { Policy } from './policy.ts';

const SERVER = path.join(packageRoot, 'python', 'farhand-policy');
/** Importing torch and LeRobot takes most of it. */
const START_MS = 180_000;

/** `lerobot:CHECKPOINT`: starts our Python server for it, and ends it with the policy. */
export async function lerobotPolicy(checkpoint: string): Promise<Policy> {
  const python = process.env['FARHAND_PYTHON'] ?? 'python3';
  const paths = [SERVER, process.env['PYTHONPATH']].filter((each) => each);
  const child = spawn(python, ['-m', 'farhand_policy', checkpoint, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PYTHONPATH: paths.join(path.delimiter) },
  });
  const end = () => void child.kill();
  process.once('exit', end);
  try {
    const policy = await openpiPolicy(await addressOf(child, checkpoint));
    return {
      facts: { ...policy.facts, name: `lerobot:${checkpoint}` },
      infer: (observation, signal) => policy.infer(observation, signal),
      close() {
        process.off('exit', end);
        policy.close();
        end();
      },
    };
  } catch (error) {
    process.off('exit', end);
    end();
    throw error;
  }
}

/** What the server prints once it listens. */
function addressOf(child: ChildProcess, checkpoint: string): Promise<string> {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + String(chunk)).slice(-4000);
  });
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer);
      reject(unavailable(checkpoint, why));
    };
    const timer = setTimeout(() => fail(`no answer within ${START_MS / 1000} s`), START_MS);
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code) => fail(said.trim().split('\n').at(-1) || `it ended with ${code}`));
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const [, url] = /^listening (ws:\/\/\S+)$/.exec(line) ?? [];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
  });
}

const unavailable = (checkpoint: string, why: string): TeleopError =>
  new TeleopError('policy-failed', `lerobot:${checkpoint} cannot be run: ${why}`, {
    hint: 'Install the server with `pip install python/farhand-policy`, and set FARHAND_PYTHON to that Python.',
  });
