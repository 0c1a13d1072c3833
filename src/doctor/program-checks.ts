import { bad, type Check, type Finding, good, note } from './check.ts';
import type { Probe } from './probe.ts';

const PROGRAMS = [
  {
    name: 'Chromium',
    commands: ['chromium', 'chromium-browser', 'google-chrome'],
    why: 'only the page’s tests need it; the page works in any browser',
    fix: 'sudo apt install chromium, or FARHAND_CHROMIUM=PATH',
  },
  {
    name: 'ffmpeg',
    commands: ['ffmpeg'],
    why: 'only videos of exported datasets need it',
    fix: 'sudo apt install ffmpeg',
  },
] as const;

const PACKAGES = [
  ['zeromq', 'link.transport=zmq, OpenTeach’s app and cameras over ZeroMQ need it'],
  ['koffi', 'kernel stamps, DSCP, precise timers and SocketCAN need it'],
  ['serialport', 'drivers on serial lines need it'],
  ['@julusian/jpeg-turbo', 'cameras that deliver raw pictures and operator.handPublish.viewPort need it'],
] as const;

export const programs: Check = async (probe) =>
  PROGRAMS.map(({ name, commands, why, fix }) => {
    const path = commands.map((command) => probe.run('which', command)).find((found) => found);
    return path ? good(name, path) : note(name, { found: 'not installed', why, fix });
  });

export const packages: Check = async (probe) => {
  const found: Finding[] = [];
  for (const [name, why] of PACKAGES) {
    const version = await probe.packageVersion(name);
    const fix = `npm install ${name}`;
    found.push(version === null ? note(name, { found: 'not installed', why, fix }) : good(name, version));
  }
  return found;
};

export const pairedKeys: Check = async (probe: Probe) => {
  const name = 'paired keys';
  const keys = probe.keys();
  const problem = keys.find((key) => key.problem !== null);
  if (problem)
    return [
      bad(name, {
        found: `${problem.name}: ${problem.problem}`,
        why: 'the key is not used',
        fix: `chmod 600 ${problem.path}, or pair again`,
      }),
    ];
  if (keys.length > 0) return [good(name, keys.map((key) => `${key.name} (${key.id})`).join(', '))];
  const why = 'operator and robot on two machines need one; the demo creates its own';
  return [note(name, { found: 'none', why, fix: '`farhand pair` on both machines' })];
};
