import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventText, startCameraThread } from '../app/cameras.ts';
import { checkCameras } from '../app/check-settings.ts';
import { type CameraSeen, CameraWatch } from '../camera/watch.ts';
import { Counters } from '../core/counters.ts';
import { TeleopError } from '../core/errors.ts';
import { hostPort } from '../core/ip-address.ts';
import type { Percentiles } from '../core/statistics/percentiles.ts';
import { writeWhole } from '../files/write-whole.ts';
import { cameraNames, frameReceiverConfig } from '../rig/camera-channel.ts';
import { loadRig, type Rig } from '../rig/rig.ts';
import { loadModel, rigModel } from '../rig/robot-models.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { cameraLine } from './camera-text.ts';
import { onEndRequest, parentChannel } from './process.ts';

export const cameraVerb: Verb = {
  name: 'camera',
  usage: '[view] [--rig NAME|FILE] [key=value …]',
  about: 'Runs the cameras of a rig without a robot; with `view`, shows what arrives from them.',
  details: `A robot process runs its rig's cameras itself; this verb is for a host that has only cameras. Configure a camera
like this: cameras.list.front.source=test-pattern. \`farhand plugins\` lists the sources; see docs/cameras.md.

view prints, once a second, how many pictures arrived, their size and age, and what was rejected. Ages need a common
clock, so they are shown only for cameras on this machine. Ctrl-C ends it.`,
  examples: [
    'farhand camera cameras.list.front.source=test-pattern',
    'farhand camera view --out pictures --seconds 10',
  ],
  options: {
    rig: RIG_OPTION,
    out: { type: 'string', value: 'DIR', about: 'view: save one picture per second and camera in DIR' },
    seconds: { type: 'string', value: 'S', about: 'end after S seconds (default: on Ctrl-C)' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(cameraVerb, given, 0, 1);
    const [word] = given.words;
    if (word !== undefined && word !== 'view')
      throw new TeleopError('bad-option', `camera has no action "${word}"`, {
        hint: 'Use `farhand camera` to send pictures, `farhand camera view` to receive them.',
      });
    const { config } = loadRig(String(given.values['rig'] ?? 'demo'), given.overrides);
    if (cameraNames(config).length === 0)
      throw new TeleopError('bad-config', `rig "${config.name}" has no camera`, {
        hint: 'Add one to the rig, or here: cameras.list.front.source=test-pattern',
      });
    const seconds = numberOption(given, 'seconds', 0.1, 1e6);
    loadModel(config.model);
    await checkCameras(config);
    const over = new Promise<void>((resolve) => onEndRequest(resolve));
    const end =
      seconds === null ? over : Promise.race([over, sleep(seconds * 1000, undefined, { ref: false })]);
    const json = given.values['json'] === true;
    return word === 'view'
      ? view(config, given.values['out'] as string | undefined, end, json)
      : film(config, end, json);
  },
};

async function film(rig: Rig, end: Promise<void>, json: boolean): Promise<number> {
  const counters = new Counters();
  const print = (line: unknown, text: string) => console.log(json ? JSON.stringify(line) : text);
  const thread = await startCameraThread(rig, rigModel(rig), {
    robots: [],
    counters: counters.buffer,
    onEvent: (event) => print(event, eventText(event)),
  });
  const cameras = cameraNames(rig);
  print({ kind: 'ready', cameras, where: thread.where }, `cameras ${cameras.join(', ')} on ${thread.where}`);
  void parentChannel()({ kind: 'ready', info: { url: thread.where } });
  await Promise.race([end, thread.ended]);
  const reports = await thread.close();
  const counted = counters.snapshot();
  for (const report of reports) print({ kind: 'report', ...report }, cameraLine(report));
  if (Object.keys(counted).length > 0) print({ kind: 'counted', ...counted }, countedText(counted));
  return reports.length > 0 ? 0 : 1;
}

async function view(rig: Rig, out: string | undefined, end: Promise<void>, json: boolean): Promise<number> {
  const receiver = frameReceiverConfig(rig);
  // Frames that a fleet's agent forwards carry another machine's clock.
  const clock = rig.link.transport === 'webrtc' ? null : undefined;
  const watch = await CameraWatch.open(receiver, rig.cameras, clock);
  const wire = receiver.wire === 'zmq' ? `ZeroMQ tcp` : 'UDP slices, udp';
  if (!json)
    console.log(
      `listening for ${receiver.cameras.join(', ')}: ${wire}://${hostPort(receiver.host, receiver.port)}`,
    );
  if (out !== undefined) mkdirSync(out, { recursive: true });
  let round = 0;
  const timer = setInterval(() => {
    show(watch, json);
    if (out !== undefined) keep(watch, out, ++round);
    watch.restart();
  }, 1000);
  await end;
  clearInterval(timer);
  watch.close();
  return watch.cache.cameras().length > 0 ? 0 : 1;
}

function show(watch: CameraWatch, json: boolean): void {
  const seen = watch.seen();
  const refused = watch.counters.snapshot();
  if (json) console.log(JSON.stringify({ cameras: seen, refused }));
  else {
    for (const camera of seen) console.log(seenText(camera));
    if (Object.keys(refused).length > 0) console.log(countedText(refused));
  }
}

function keep(watch: CameraWatch, folder: string, round: number): void {
  for (const camera of watch.cache.cameras()) {
    const file = path.join(folder, `${camera}-${String(round).padStart(4, '0')}.jpg`);
    writeWhole(file, watch.cache.newest(camera)!.bytes);
  }
}

function seenText({ camera, rateHz, kilobytes, ageMs, gapMs, stale }: CameraSeen): string {
  const four = (values: Percentiles | null, unit: string) =>
    values === null
      ? '–'
      : `p50 ${values.p50.toFixed(1)} p95 ${values.p95.toFixed(1)} p99 ${values.p99.toFixed(1)} max ${values.max.toFixed(1)} ${unit}`;
  const size = kilobytes === null ? '–' : `${kilobytes.p50.toFixed(1)} kB`;
  return `${camera.padEnd(12)}${rateHz.toFixed(1).padStart(6)} Hz  ${size}  age ${four(ageMs, 'ms')}  gap ${four(gapMs, 'ms')}${stale ? '  STALE' : ''}`;
}

const countedText = (counted: Partial<Record<string, number>>): string =>
  `counted: ${Object.entries(counted)
    .map(([reason, count]) => `${reason} ${count}`)
    .join(', ')}`;
