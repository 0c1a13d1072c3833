// Finds and ends what a test has started. Everything a test starts inherits the variable FARHAND_TEST_RUN,
// even in another process group or session.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export const MARKER = 'FARHAND_TEST_RUN';
const POLL_MS = 50;

/** Fields of what follows the name in /proc/<pid>/stat; the name may hold spaces and brackets. */
const STATE = 0;
const SESSION = 3;
/** User and system time of the process, then of the children it has waited for, in hundredths of a second. */
const TIMES = [11, 12, 13, 14];

const fieldsOf = (pid) => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};

/** CPU time of this process and of all that have ended below it; only its own where there is no /proc. */
export function cpuMs() {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
  const fields = fieldsOf('self');
  return TIMES.reduce((sum, field) => sum + 10 * Number(fields[field]), 0);
}

/** Live processes that carry the marker, or belong to the session; Linux only, else none. */
export function markedProcesses(marker, session = null) {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const fields = fieldsOf(pid);
        if (fields[STATE] === 'Z') return [];
        const marked = readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${MARKER}=${marker}`);
        if (!marked && Number(fields[SESSION]) !== session) return [];
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        return [{ pid: Number(pid), command: command.slice(0, 200) }];
      } catch {
        return []; // It has ended meanwhile, or belongs to another user.
      }
    });
}

/** Waits for them to end; returns those still alive after `graceMs`. */
export async function remaining(marker, session, graceMs) {
  const untilMs = performance.now() + graceMs;
  for (;;) {
    const found = markedProcesses(marker, session);
    if (found.length === 0 || performance.now() > untilMs) return found;
    await sleep(POLL_MS);
  }
}

/** Kills all marked processes, and what they start meanwhile. */
export async function killMarked(marker, session = null) {
  for (let round = 0; round < 40; round++) {
    const found = markedProcesses(marker, session);
    if (found.length === 0) return;
    for (const { pid } of found) signal(pid);
    await sleep(POLL_MS);
  }
}

export function signal(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
