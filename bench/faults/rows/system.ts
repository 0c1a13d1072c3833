import { spawnSync } from 'node:child_process';
import { closeSync, cpSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import type { HowToRun, VerbProcess } from '../../estop/verb-process.ts';
import { DrivingPage } from '../driving-page.ts';
import type { Fault } from '../fault.ts';
import { pause, type TrialRig } from '../trial-rig.ts';

const FILES = 40;
const DISK_BYTES = 4 * 2 ** 20;

/** A file system of its own at `folder`, for one process alone: it goes with it, and nobody else sees it. */
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

function noPrlimit(): string | null {
  return spawnSync('prlimit', [`--nofile=${FILES}`, 'true']).status === 0 ? null : 'needs prlimit';
}

/** The folder as that process sees it. */
const seenBy = ({ child }: VerbProcess, folder: string): string =>
  path.join('/proc', String(child.pid), 'root', folder);

/** Takes what is left of the disk. */
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

const fewFiles = (): HowToRun => ({ within: ['prlimit', `--nofile=${FILES}`] });

/** What the operator leaves on its disk is brought here: the disk goes with it. */
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
      'the operator ended with exit code 0: nobody learns of the truncated trace',
    );
    const empty = readdirSync(seen, { recursive: true, encoding: 'utf8' }).filter(
      (name) => statSync(path.join(seen, name)).size === 0,
    );
    rig.check(empty.length === 0, `empty files left: ${empty.join(', ')}`);
    cpSync(`${seen}/`, data, { recursive: true, filter: (file) => path.basename(file) !== 'filler' });
  } finally {
    closeSync(disk);
  }
}

const DISKS: readonly Fault[] = [
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
      ends: ['engaged', 'disconnected', 'stopped'],
      restMs: null,
      message: /^operator: .*(disk|space|ENOSPC)/i,
      // Nothing can be written: it is told.
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
    settings: {
      operator: ['operator.input=page'],
      first: 'armed',
      runRobot: readOnlyState,
      runOperator: readOnlyState,
    },
    obstacle: noMounts,
    expected: { ends: ['engaged'], restMs: null, message: /read-only|EROFS/i },
    async run(rig) {
      rig.mark();
      const server = rig.startConsole(readOnlyState);
      const page = await DrivingPage.open(
        (await rig.ready(server, /console: http/)).slice('console: '.length),
      );
      try {
        await rig.waitFor('engaged');
        await pause(1500);
      } finally {
        page.close();
      }
    },
  },
];

const limitFiles = ({ child }: VerbProcess): void => {
  spawnSync('prlimit', ['--pid', String(child.pid), `--nofile=${FILES}:${FILES}`]);
};

const DESCRIPTORS: readonly Fault[] = [
  {
    name: 'descriptors',
    what: `robot and operator left with ${FILES} file descriptors, then an e-stop`,
    seconds: 9,
    obstacle: noPrlimit,
    expected: {
      through: ['stopped'],
      ends: ['stopped'],
      restMs: 500,
      message: /^robot: engaged → stopped: e-stop/,
    },
    async run(rig) {
      limitFiles(rig.robot);
      limitFiles(rig.operator);
      await pause(1500);
      rig.check(rig.state === 'engaged', `robot is ${rig.state} before the e-stop`);
      rig.mark();
      await rig.ask('estop');
      await pause(1000);
      const flights = readdirSync(path.join(rig.folder, 'flights'));
      const isTold = rig.robot.said.some(({ text }) => /flight record/i.test(text));
      rig.check(flights.length > 0 || isTold, 'no flight record, and nobody is told');
    },
  },
  {
    name: 'descriptors-start',
    what: `robot started with ${FILES} file descriptors: too few for Node to load it`,
    seconds: 9,
    obstacle: noPrlimit,
    expected: { ends: ['gone'], restMs: 500, message: /^robot: .*(EMFILE|too many open files)/i },
    async run(rig) {
      rig.mark();
      await rig.robot.end();
      rig.settings.runRobot = fewFiles;
      rig.startRobot();
      await Promise.race([rig.robot.exited, pause(5000)]);
      rig.check(rig.robot.child.exitCode !== 0, 'it ended with exit code 0');
    },
  },
  {
    name: 'descriptors-console',
    what: `console left with ${FILES} file descriptors, and 60 connections to it while its page drives`,
    seconds: 12,
    settings: { operator: ['operator.input=page'], first: 'armed' },
    obstacle: noPrlimit,
    expected: { ends: ['engaged'], restMs: null, message: null },
    async run(rig) {
      const server = rig.startConsole();
      const url = (await rig.ready(server, /console: http/)).slice('console: '.length);
      const page = await DrivingPage.open(url);
      try {
        await rig.waitFor('engaged');
        limitFiles(server);
        rig.mark();
        const crowd = await Promise.allSettled(Array.from({ length: 60 }, () => crowdPage(url)));
        await pause(1500);
        rig.check(!server.hasEnded, 'the console ended');
        for (const each of crowd) if (each.status === 'fulfilled') each.value();
        const isFull = crowd.some(({ status }) => status === 'rejected');
        rig.check(isFull, 'every connection got in: the limit was not reached');
      } finally {
        page.close();
      }
    },
  },
];

/** A connection that says nothing; rejects when it is refused or not answered. */
async function crowdPage(url: string): Promise<() => void> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n');
  await new Promise<void>((resolve, reject) => {
    socket.once('data', () => resolve());
    socket.once('close', () => reject(new Error('closed')));
    setTimeout(() => reject(new Error('no answer')), 1500);
  });
  return () => socket.destroy();
}

export const SYSTEM: readonly Fault[] = [...DISKS, ...DESCRIPTORS];
