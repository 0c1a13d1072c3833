import { spawnSync } from 'node:child_process';
import { closeSync, cpSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { HowToRun, VerbProcess } from '../../estop/verb-process.ts';
import { BY_PAGE, DrivingPage } from '../driving-page.ts';
import type { Fault } from '../fault.ts';
import { pause, type TrialRig } from '../trial-rig.ts';

const DISK_BYTES = 4 * 2 ** 20;

/** A private file system at `folder` for one process: it disappears with the process, and no other process sees it. */
const mounted = (options: string, folder: string): string[] => [
  ...['unshare', ...(process.getuid?.() === 0 ? ['-m'] : ['-r', '-m'])],
  ...['sh', '-c', `mount -t tmpfs -o ${options} tmpfs "$0" && exec "$@"`, folder],
];

function noMounts(): string | null {
  const [program, ...args] = mounted('size=1m', '/mnt');
  return spawnSync(program!, [...args, 'true']).status === 0
    ? null
    : 'needs root, or user namespaces (unshare -r -m), to mount a small disk';
}

/** The folder as that process sees it. */
const seenBy = ({ child }: VerbProcess, folder: string): string =>
  path.join('/proc', String(child.pid), 'root', folder);

/** Fills the disk. */
function fill(folder: string): void {
  const fd = openSync(path.join(folder, 'filler'), 'w');
  const block = new Uint8Array(4096);
  try {
    for (;;) writeSync(fd, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(fd);
  }
}

const smallDisk =
  (name: string) =>
  (folder: string): HowToRun => ({
    within: mounted(`size=${DISK_BYTES}`, path.join(folder, name)),
  });

const readOnlyState = (folder: string): HowToRun => ({
  within: mounted('ro', path.join(folder, 'state')),
});

/** Copies the operator's files out before its disk disappears with it. */
async function fullDisk(rig: TrialRig): Promise<void> {
  const data = path.join(rig.folder, 'data');
  const disk = openSync(seenBy(rig.operator, data), 'r');
  const seen = `/proc/self/fd/${disk}`;
  try {
    fill(seen);
    rig.mark();
    await pause(3000);
    rig.check(
      (await rig.operator.end()) !== 0,
      'the operator ended with exit code 0 despite the truncated trace',
    );
    await rig.waitFor('disconnected');
    const empty = readdirSync(seen, { recursive: true, encoding: 'utf8' }).filter(
      (name) => statSync(path.join(seen, name)).size === 0,
    );
    rig.check(empty.length === 0, `empty files left: ${empty.join(', ')}`);
    cpSync(`${seen}/`, data, { recursive: true, filter: (file) => path.basename(file) !== 'filler' });
  } finally {
    closeSync(disk);
  }
}

export const DISKS: readonly Fault[] = [
  {
    name: 'disk-full-operator',
    what: 'disk of traces and recordings full',
    seconds: 10,
    settings: {
      operator: ['record.minFreeMb=0'],
      runOperator: smallDisk('data'),
    },
    obstacle: noMounts,
    expected: {
      // Because the operator was asked to end.
      ends: ['disconnected'],
      restMs: null,
      message: /^operator: .*(disk|space|ENOSPC)/i,
      // Nothing can be written, and that is reported.
      lostMs: Number.POSITIVE_INFINITY,
    },
    run: fullDisk,
  },
  {
    name: 'disk-full-robot',
    what: 'disk of the flight records full, then an e-stop',
    seconds: 9,
    settings: { runRobot: smallDisk('flights') },
    obstacle: noMounts,
    expected: {
      through: ['stopped'],
      ends: ['stopped'],
      restMs: 500,
      message: /^robot: .*(disk|space|ENOSPC)/i,
    },
    async run(rig) {
      const flights = seenBy(rig.robot, path.join(rig.folder, 'flights'));
      fill(flights);
      rig.mark();
      await rig.ask('estop');
      await pause(1000);
      const files = readdirSync(flights).filter((name) => name !== 'filler');
      const empty = files.filter((name) => statSync(path.join(flights, name)).size === 0);
      rig.check(empty.length === 0, `empty flight file left: ${empty.join(', ')}`);
    },
  },
  {
    name: 'state-read-only',
    what: 'state folder read-only for robot, operator and console; its page drives',
    seconds: 10,
    settings: { ...BY_PAGE, runRobot: readOnlyState, runOperator: readOnlyState },
    obstacle: noMounts,
    expected: { ends: ['engaged'], restMs: null, message: /^console: .*read-only/ },
    async run(rig) {
      rig.mark();
      const page = await DrivingPage.lead(rig, readOnlyState);
      page.close();
    },
  },
];
