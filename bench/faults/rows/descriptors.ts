import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import type { HowToRun, VerbProcess } from '../../estop/verb-process.ts';
import { BY_PAGE, DrivingPage } from '../driving-page.ts';
import type { Fault } from '../fault.ts';
import { pause } from '../trial-rig.ts';

const FILES = 40;

function noPrlimit(): string | null {
  return spawnSync('prlimit', [`--nofile=${FILES}`, 'true']).status === 0 ? null : 'needs prlimit';
}

const fewFiles = (): HowToRun => ({ within: ['prlimit', `--nofile=${FILES}`] });

const limitFiles = ({ child }: VerbProcess): void => {
  spawnSync('prlimit', ['--pid', String(child.pid), `--nofile=${FILES}:${FILES}`]);
};

export const DESCRIPTORS: readonly Fault[] = [
  {
    name: 'descriptors',
    what: `robot and operator limited to ${FILES} file descriptors, then an e-stop`,
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
      const isReported = rig.robot.said.some(({ text }) => /flight record/i.test(text));
      rig.check(flights.length > 0 || isReported, 'no flight record, and no report of it');
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
      rig.startRobot(fewFiles);
      await Promise.race([rig.robot.exited, pause(5000)]);
      rig.check(rig.robot.child.exitCode !== 0, 'it ended with exit code 0');
    },
  },
  {
    name: 'descriptors-console',
    what: `console limited to ${FILES} file descriptors, and 60 connections to it while its page drives`,
    seconds: 12,
    settings: BY_PAGE,
    obstacle: noPrlimit,
    // A console short of descriptors may be late; then its page counts as gone, and the robot holds.
    expected: { ends: ['engaged', 'hold'], restMs: null, message: null },
    async run(rig) {
      const page = await DrivingPage.lead(rig);
      limitFiles(page.server);
      rig.mark();
      const crowd = await Promise.allSettled(Array.from({ length: 60 }, () => crowdPage(page.url)));
      await pause(1500);
      rig.check(!page.server.hasEnded, 'the console ended');
      for (const each of crowd) if (each.status === 'fulfilled') each.value();
      const isFull = crowd.some(({ status }) => status === 'rejected');
      rig.check(isFull, 'every connection was accepted: the limit was not reached');
      page.close();
    },
  },
];

/** An idle connection; rejects if it is refused or gets no reply. */
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
