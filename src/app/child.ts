import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { deferred } from '../core/deferred.ts';
import { TeleopError } from '../core/errors.ts';
import { packageRoot } from '../files/package-root.ts';
import type { LinkEvent } from '../messages/console.ts';
import type { RoleReady, RoleReport } from '../messages/role-report.ts';

/** Messages from a role or console process to its parent. */
export type ChildMessage =
  | { kind: 'ready'; info: RoleReady | { url: string; lan: string } }
  | { kind: 'transition'; from: string; to: string; cause: string }
  | { kind: 'episode'; text: string }
  /** It ends as soon as a file is saved, and gives up when saving makes no progress. */
  | { kind: 'saving'; text: string }
  | { kind: 'report'; report: RoleReport }
  | { kind: 'link'; profile: string };

/** Messages from the parent to a console process. */
export type ParentMessage = LinkEvent;

export interface Child {
  readonly verb: string;
  readonly process: ChildProcess;
  ready: Promise<RoleReady | { url: string; lan: string }>;
  /** Exit code; null when a signal ended it. */
  exited: Promise<number | null>;
  report: RoleReport | null;
  /**
   * Sends SIGTERM, then SIGKILL after `graceMs` without a message. Waits for a process that is saving a file.
   */
  end(graceMs: number): Promise<number | null>;
}

const END_POLL_MS = 100;

/** Starts a Farhand verb as a child process with a message channel; `at` may place it in another network. */
export function startChild(
  verb: string,
  args: readonly string[],
  onMessage: (message: ChildMessage) => void,
  at: (command: string[]) => string[] = (command) => command,
): Child {
  const bin = path.join(packageRoot, 'bin', 'farhand');
  const [command, ...rest] = at([process.execPath, bin, verb, ...args]);
  const child = spawn(command!, rest, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  const ready = deferred<RoleReady | { url: string; lan: string }>();
  const exited = deferred<number | null>();
  let errors = '';
  child.stderr?.on('data', (data: Buffer) => {
    errors = (errors + data.toString()).slice(-4000);
  });
  let receivedMs = 0;
  const handle: Child = {
    verb,
    process: child,
    ready: ready.promise,
    exited: exited.promise,
    report: null,
    async end(graceMs) {
      child.kill('SIGTERM');
      receivedMs = performance.now();
      const timer = setInterval(() => {
        if (performance.now() - receivedMs > graceMs) child.kill('SIGKILL');
      }, END_POLL_MS);
      const code = await exited.promise;
      clearInterval(timer);
      return code;
    },
  };
  child.on('message', (message: ChildMessage) => {
    receivedMs = performance.now();
    if (message.kind === 'ready') ready.resolve(message.info);
    if (message.kind === 'report') handle.report = message.report;
    onMessage(message);
  });
  child.on('close', (code) => {
    exited.resolve(code);
    const [first = '', hint = ''] = errors.trim().split('\n');
    ready.reject(
      new TeleopError(
        'child-failed',
        `the ${verb} process ended (${code ?? 'killed'}): ${first.replace('farhand: ', '')}`,
        {
          hint: hint.trim().replace(/^→ /, '') || `Run \`farhand ${verb}\` by itself to see why.`,
        },
      ),
    );
  });
  ready.promise.catch(() => {});
  return handle;
}
