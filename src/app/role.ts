import { monitorEventLoopDelay } from 'node:perf_hooks';
import { VideoGate } from '../camera/video-sampling.ts';
import { Counters } from '../core/counters.ts';
import { deferred } from '../core/deferred.ts';
import { hostPort } from '../core/ip-address.ts';
import { DurationHistogram } from '../core/statistics/histogram.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { DeviceFiles, type OpenFile } from '../input/device-files.ts';
import type { EpisodeInfo } from '../messages/recording.ts';
import { drivenFlag, type Role, stopFlag, windDownFlag } from '../messages/role-flags.ts';
import type { RoleReady, RoleReport } from '../messages/role-report.ts';
import type { VideoEvent } from '../messages/video-event.ts';
import { OPERATOR_SOCKETS } from '../operator/loop.ts';
import { recordedWidth } from '../operator/two-arm-rows.ts';
import { armRigs } from '../rig/arms.ts';
import { cameraNames } from '../rig/camera-channel.ts';
import { linkKeys, viewerKeys } from '../rig/link-keys.ts';
import type { Rig } from '../rig/rig.ts';
import { loadModel, rigModel } from '../rig/robot-models.ts';
import { FlightFiles } from '../robot/flight-files.ts';
import { keepPrior, loadPriors } from '../robot/network-memory.ts';
import { keyId } from '../wire/secure/key-file.ts';
import { resolveHost } from '../wire/transports/resolve-host.ts';
import type { CameraRobot } from './camera-worker.ts';
import { startRobotCameras } from './cameras.ts';
import { HandPublisher } from './hand-publisher.ts';
import { InputRelays, type OpenRelay } from './input-relay.ts';
import { inputRelays, inputSockets } from './open-operator.ts';
import { PairLink } from './pair-link.ts';
import { recordedArm, recordedRobot } from './recorded-robot.ts';
import { RecorderThread } from './recorder-thread.ts';
import {
  type ArmStart,
  type ControlMessage,
  type ControlStart,
  createRoleMemory,
  type RoleMemory,
} from './role-memory.ts';
import { Saving } from './saving.ts';
import { TelemetryPublisher } from './telemetry-publisher.ts';
import { TopicLink } from './topic-link.ts';
import { startTraceThread } from './trace-thread.ts';
import { watchVersion } from './version-watch.ts';
import { WorkerHost } from './worker-host.ts';

export interface RoleHandle {
  ready: Promise<RoleReady>;
  done: Promise<RoleReport>;
  /** Requests a clean end: the robot comes to rest; the last receipts and trace lines are kept. */
  windDown(): void;
  /** Files still being saved after the end was requested. */
  unfinished(): string[];
  /**
   * After a bug of our own: writes the robot's last seconds to a flight file. Does nothing on the operator.
   */
  keepFlight(cause: string): void;
  /** The control thread's shared memory; its board holds the newest state. */
  memory: RoleMemory;
}

type TransitionMessage = Extract<ControlMessage, { kind: 'transition' }>;

const STALL_NS = 20e6;
const SETTLE_MS = 10_000;
const MB = 2 ** 20;

/** ZeroMQ's own encryption cannot tell one key from another later: there, viewers' keys are not accepted at all. */
function drivingKeys(role: Role, rig: Rig, viewers: readonly string[]): Uint8Array[] {
  const keys = linkKeys(role, rig);
  return rig.link.transport === 'zmq' ? keys.filter((key) => !viewers.includes(keyId(key))) : keys;
}

/** Runs one role in this process: a control thread, for the operator a trace thread, and this main thread. */
export function startRole(
  role: Role,
  rig: Rig,
  onTransition: (message: TransitionMessage) => void,
  onEpisode: (info: EpisodeInfo, file: string) => void = () => {},
  givenKeys?: Uint8Array[],
  onSaving: (text: string) => void = () => {},
): RoleHandle {
  const viewers = givenKeys === undefined && role === 'robot' ? viewerKeys(rig) : [];
  const arms = openArms(role, rig, (own) => givenKeys ?? drivingKeys(role, own, viewers));
  const [{ model, memory, keys }] = arms;
  const flights =
    role === 'robot' ? arms.map(({ rig, model, memory }) => openFlights(rig, model, memory)) : [];
  const video = new VideoGate((event) => void trace.then((opened) => opened?.video(event)).catch(() => {}));
  const recorder = role === 'operator' ? openRecorder(rig, arms, onEpisode, video, givenKeys) : null;
  const identity = 1 + Math.floor(Math.random() * 0x7ffffffe);
  const eventLoop = monitorEventLoopDelay({ resolution: 10 });
  eventLoop.enable();
  let settledRss = 0;
  const settle = setTimeout(() => {
    settledRss = process.memoryUsage.rss();
  }, SETTLE_MS);
  settle.unref();

  const priors = role === 'robot' ? loadPriors() : {};
  const control = controlThread({ role, identity, viewers, priors }, arms, (message) => {
    const which = arms.findIndex(({ side }) => side === message.side);
    onTransition(
      message.side === null ? message : { ...message, cause: `${message.side}: ${message.cause}` },
    );
    flights[which]?.onTransition(message);
  });
  const failFlights = (cause: string) => {
    for (const flight of flights) flight.onFailure(cause);
  };
  control.done.catch((error: unknown) => failFlights(String(error)));
  let traceTrouble = '';
  const onTraceTrouble = (text: string) => {
    traceTrouble = text;
    console.error(`farhand: ${text || 'Writing the trace again.'}`);
  };
  const traces = arms.map((arm) =>
    control.ready.then((ready) =>
      role === 'operator' && rig.trace.dir !== ''
        ? startTraceThread(arm.rig, identity, ready, arm.memory, onTraceTrouble)
        : null,
    ),
  );
  const [trace, secondTrace = Promise.resolve(null)] = traces as [(typeof traces)[0], (typeof traces)[0]?];
  const telemetry = control.ready.then((ready) =>
    recorder === null
      ? null
      : TelemetryPublisher.open(
          rig,
          arms,
          ready.stampSource,
          recorder,
          {
            onVideo: (event) => {
              const isKnown = cameraNames(rig).includes(event.camera);
              if (isKnown) video.fromConsole(event);
              return isKnown;
            },
            onPulse: (event) => {
              const driven = traces[Atomics.load(drivenFlag(memory), 0)];
              void driven?.then((opened) => opened?.pulse(event)).catch(() => {});
              return null;
            },
          },
          () => traceTrouble,
        ),
  );
  const relays = control.ready.then((ready) => (role === 'operator' ? openRelays(arms, ready.ports) : null));
  const published = control.ready.then(() =>
    role === 'operator' ? HandPublisher.open(rig, memory, model.joints.length) : null,
  );
  const cameras = control.ready.then(() =>
    role === 'robot'
      ? startRobotCameras(
          rig,
          [cameraRobot(arms[0]), ...arms.slice(1).map(cameraRobot)],
          memory.counters,
          (text) => console.error(`farhand: ${text}`),
          givenKeys,
        )
      : null,
  );
  const [{ neighbour }] = arms;
  // Two arms in one process need no link between them.
  const pair = control.ready.then(() =>
    role === 'robot' && arms.length === 1 && neighbour !== null
      ? PairLink.open(rig.robot.pair!, memory, model, neighbour)
      : null,
  );
  const topics = control.ready.then(() =>
    role === 'robot' && rig.robot.topics !== null ? TopicLink.open(rig.robot.topics, memory, model) : null,
  );
  const version = watchVersion(memory.counters, (text) => console.error(`farhand: ${text}`));
  const ready = Promise.all([
    control.ready,
    trace,
    telemetry,
    relays,
    published,
    pair,
    topics,
    secondTrace,
  ]).then(([info, opened, , relayed, , , , second]) => ({
    role,
    ports: info.ports,
    inputs: [...info.inputs, ...(relayed?.names ?? [])],
    reactor: info.reactor,
    stampSource: info.stampSource,
    scheduling: info.scheduling,
    security: keys.length === 0 ? 'plain' : rig.link.transport === 'zmq' ? 'curve' : 'sealed',
    fallback: info.fallback,
    tracePath: opened?.path ?? null,
    ...(second && { secondTracePath: second.path }),
  }));
  const saving = new Saving(onSaving);
  const done = (async (): Promise<RoleReport> => {
    const open = [telemetry, relays, published, pair, topics];
    await ready.catch(async (error: unknown) => {
      Atomics.store(stopFlag(memory), 0, 1);
      // Anything left open would keep the process alive.
      await closeAll([...traces, cameras, ...open]);
      await recorder?.close();
      version.close();
      eventLoop.disable();
      throw error;
    });
    await control.done;
    version.close();
    if (recorder !== null)
      await saving.wait(recorder.file, recorder.close(), `\`farhand recover ${recorder.file}\` finishes it.`);
    const opened = await trace;
    const closed =
      opened && (await saving.wait(opened.path, opened.close(), 'The end of the trace is missing.'));
    const other = await secondTrace;
    const second =
      other && (await saving.wait(other.path, other.close(), 'The end of the trace is missing.'));
    const filmed = (await (await cameras)?.close()) ?? [];
    await closeAll(open);
    eventLoop.disable();
    clearTimeout(settle);
    const rss = process.memoryUsage.rss();
    const lateness = new DurationHistogram(memory.lateness);
    return {
      role,
      counters: new Counters(memory.counters).snapshot() as Record<string, number>,
      wakeLatenessMs: lateness.percentilesMs(),
      stallsOver20Ms: lateness.countAbove(STALL_NS),
      mainThreadMaxMs: eventLoop.max / 1e6,
      rssMb: { settled: (settledRss || rss) / MB, end: rss / MB },
      tracePath: closed?.path ?? null,
      ...(second && { secondTracePath: second.path }),
      traceDropped: (closed?.dropped ?? 0) + (second?.dropped ?? 0),
      cameras: filmed,
      recordTrouble: recorder?.trouble ?? '',
      losses: [
        ...[closed?.loss ?? '', second?.loss ?? '', recorder?.loss ?? ''],
        ...flights.map((flight) => flight.trouble),
        ...saving.givenUp,
      ].filter((text) => text !== ''),
    };
  })();
  ready.catch(() => {});
  return {
    ready,
    done,
    memory,
    windDown: () => void Atomics.store(windDownFlag(memory), 0, 1),
    unfinished: () => saving.files,
    keepFlight: failFlights,
  };
}

type OpenArm = Omit<ArmStart, 'robotHost'>;

const cameraRobot = ({ model, memory: { board, world } }: OpenArm): CameraRobot => ({ model, board, world });

/** The arms of the rig with their memory; what belongs to the process is in the memory of the first. */
function openArms(role: Role, rig: Rig, keysOf: (rig: Rig) => Uint8Array[]): [OpenArm, ...OpenArm[]] {
  const found = armRigs(rig).map((arm) => ({ ...arm, model: rigModel(arm.rig) }));
  const width = found.reduce((sum, arm) => sum + recordedWidth(recordedArm(arm)), 0);
  const recorded = found.length === 1 ? found[0]!.model.joints.length : width;
  let first: RoleMemory | null = null;
  const arms = found.map(({ side, rig, model }) => {
    const { pair, controlHz } = rig.robot;
    const neighbour = pair === null ? null : loadModel(pair.model);
    const joints = model.joints.length;
    const own = createRoleMemory(role, joints, controlHz, neighbour?.joints.length ?? 0, recorded);
    const { flags, counters, lateness, person } = first ?? own;
    const memory = { ...own, flags, counters, lateness, person };
    first ??= memory;
    return { side, rig, model, neighbour, memory, keys: keysOf(rig) };
  });
  if (role === 'operator' && arms.length > 1) Atomics.store(drivenFlag(first!), 0, arms.length - 1);
  return arms as [OpenArm, ...OpenArm[]];
}

const openRecorder = (
  rig: Rig,
  arms: readonly OpenArm[],
  onSaved: (info: EpisodeInfo, file: string) => void,
  video: VideoGate,
  keys?: Uint8Array[],
): RecorderThread => {
  const say = (text: string) => console.error(`farhand: ${text}`);
  const hooks = { onSaved, say, onVideo: (event: VideoEvent) => video.fromRecorder(event) };
  return new RecorderThread(rig, recordedRobot(arms), arms[0]!.memory, hooks, keys);
};

async function closeAll(opening: readonly Promise<{ close(): unknown } | null>[]): Promise<void> {
  for (const opened of await Promise.allSettled(opening))
    if (opened.status === 'fulfilled') await opened.value?.close();
}

/** ZeroMQ sockets and device files of the inputs; they feed the sockets of the control thread. */
async function openRelays(
  arms: readonly OpenArm[],
  ports: readonly number[],
): Promise<{ names: string[]; close(): void }> {
  const specs: OpenRelay[] = [];
  const files: OpenFile[] = [];
  let first = arms.length * OPERATOR_SOCKETS.desk + 1;
  for (const { rig } of arms) {
    const found = await inputRelays(rig, ports.slice(first));
    specs.push(...found.relays);
    files.push(...found.files);
    first += (await inputSockets(rig)).length;
  }
  const counters = new Counters(arms[0]!.memory.counters);
  const relays = await InputRelays.open(specs, counters);
  const devices = new DeviceFiles(files, counters, (text) => console.error(`farhand: ${text}`));
  const names = specs.map(
    ({ name, bind, host, port }) => `${name} ${bind ? 'on' : 'from'} ZeroMQ tcp://${hostPort(host, port)}`,
  );
  const close = () => {
    relays.close();
    devices.close();
  };
  return { names, close };
}

/** The role was told to end before it was ready: it has opened nothing. */
export class EndedEarly extends Error {
  constructor(role: Role) {
    super(`the ${role} was stopped before it was ready`);
  }
}

type ReadyMessage = Extract<ControlMessage, { kind: 'ready' }>;

function controlThread(
  start: Omit<ControlStart, keyof ArmStart | 'second'>,
  arms: readonly OpenArm[],
  onTransition: (message: TransitionMessage) => void,
): { ready: Promise<ReadyMessage>; done: Promise<void> } {
  const ready = deferred<ReadyMessage>();
  const done = deferred<void>();
  const fail = (error: unknown) => {
    ready.reject(error);
    done.reject(error);
  };
  done.promise.catch(() => {});
  const { role } = start;
  const resolved = arms.map(async (arm) => ({
    ...arm,
    robotHost:
      role === 'operator'
        ? await resolveHost(arm.rig.link.robotHost, 'the robot’s host', 'link.robotHost')
        : '127.0.0.1',
  }));
  Promise.all(resolved).then(([first, second = null]) => {
    const host = new WorkerHost<ControlMessage>(new URL('./control-worker.js', import.meta.url), {
      name: `the control thread of the ${role}`,
      isOnPath: true,
      start: { ...start, ...first!, second } satisfies ControlStart,
      onMessage: (message) => {
        if (message.kind === 'transition') return onTransition(message);
        if (message.kind === 'learnt') return remember(message);
        // Only matters if it was told to end before it was ready.
        ready.reject(new EndedEarly(role));
        done.resolve();
      },
      onGone: fail,
    });
    host.ready.then(ready.resolve, fail);
  }, fail);
  return { ready: ready.promise, done: done.promise };
}

function openFlights(rig: Rig, model: RobotModel, { flight }: RoleMemory): FlightFiles {
  const place = {
    dir: rig.trace.dir,
    rig: rig.name,
    model: model.name,
    joints: model.joints.map(({ name }) => name),
    controlHz: rig.robot.controlHz,
  };
  return new FlightFiles(place, flight, () => new Date());
}

/** Losing what was learnt costs the next session some delay or a stutter: worth a line, not an error. */
function remember({ network, prior }: Extract<ControlMessage, { kind: 'learnt' }>): void {
  try {
    keepPrior(network, prior);
  } catch (error) {
    console.error(
      `farhand: could not save what playout learnt about ${network}: ${(error as Error).message}`,
    );
  }
}
