import { createSocket, type Socket } from 'node:dgram';
import { Counters, type Reason } from '../core/counters.ts';
import { EntryBoundary } from '../core/entry-boundary.ts';
import { TeleopError } from '../core/errors.ts';
import { hostPort } from '../core/ip-address.ts';
import { RecordRing } from '../core/memory/ring.ts';
import { SnapshotBoard } from '../core/memory/snapshot.ts';
import type { StructOf } from '../core/memory/struct-layout.ts';
import { parseJson } from '../core/parse-json.ts';
import { monotonicClock } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { HAND_POINTS } from '../hand/points.ts';
import { sideRequestSchema } from '../messages/desk-requests.ts';
import { knowsMotors, MOTOR_FIELDS, type MotorHealth, type MotorReport } from '../messages/motor-health.ts';
import type { Person } from '../messages/person.ts';
import { PLAYOUT_MODES } from '../messages/playout-request.ts';
import type { PulseEvent } from '../messages/pulse-event.ts';
import { drivenFlag } from '../messages/role-flags.ts';
import type { StateSample } from '../messages/state-sample.ts';
import type { ClosedCommand, InputStream, Telemetry, WorldTelemetry } from '../messages/telemetry.ts';
import { OUTCOMES, SEGMENTS, TRACE, type TraceRecord } from '../messages/trace-record.ts';
import type { VideoEvent } from '../messages/video-event.ts';
import { WORLD_POSE_SIZE, WORLD_STATE } from '../messages/world-state.ts';
import { BOARD, BOARD_INPUTS, boardWords } from '../operator/board.ts';
import { LiveFeel } from '../operator/live-feel.ts';
import { type PersonBoard, personBoard, writePersonBoard } from '../operator/person-board.ts';
import { inTurn, stateWatch } from '../operator/state-watch.ts';
import { twoArmTelemetry } from '../operator/two-arm-telemetry.ts';
import type { Side } from '../rig/arms-config.ts';
import { savePerson } from '../rig/people.ts';
import type { Rig } from '../rig/rig.ts';
import { oneWayNs, segmentsNs } from '../trace/segments.ts';
import { decodeHello } from '../wire/codecs/desk.ts';
import { frameBody, frameType, TAG_BYTES } from '../wire/codecs/frame.ts';
import { peerAddress, peerPort } from '../wire/reactor.ts';
import { socketError } from '../wire/transports/socket-error.ts';
import type { RecorderThread } from './recorder-thread.ts';
import type { RoleMemory } from './role-memory.ts';

const PERIOD_MS = 33;
/** A contact is published without waiting for the next message: people feel a delay. */
const CONTACT_MS = 4;
const CONTACT_NM = 0.1;
const SUBSCRIPTION_MS = 3000;
/** One message must fit a datagram; at 1 kHz this is still every command. */
const MAX_CLOSED = 60;
const MAX_SUBSCRIBERS = 8;
const MAX_REQUEST_BYTES = 2048;
const CONNECTED_MS = 500;

/**
 * Sends the control thread's shared memory as telemetry to consoles on this machine. Main thread; no
 * deadline.
 */
export class TelemetryPublisher {
  readonly #socket: Socket;
  readonly #timer: NodeJS.Timeout;
  readonly #subscribers = new Map<string, Subscriber>();
  readonly #build: () => Telemetry | null;
  readonly #recorder: RecorderThread;
  readonly #person: PersonBoard;
  readonly #traced: TracedEvents;
  #dueMs = 0;

  private constructor(
    socket: Socket,
    counters: Counters,
    recorder: RecorderThread,
    person: SharedArrayBuffer,
    traced: TracedEvents,
    build: () => Telemetry | null,
    contactChanged: () => boolean,
    newState: () => StateSample | null,
  ) {
    this.#socket = socket;
    this.#recorder = recorder;
    this.#person = personBoard(person);
    this.#traced = traced;
    this.#build = build;
    socket.on('error', () => {});
    const boundary = new EntryBoundary('telemetry port');
    socket.on('message', (bytes, from) =>
      boundary.run(
        () => {
          const reason = this.#onDatagram(bytes, from);
          if (reason !== null) counters.add(reason);
        },
        () => counters.add('handler-failed'),
      ),
    );
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      this.#publishState(newState);
      if (nowMs < this.#dueMs && !contactChanged()) return;
      const isInTime = nowMs >= this.#dueMs && nowMs < this.#dueMs + PERIOD_MS;
      this.#dueMs = (isInTime ? this.#dueMs : nowMs) + PERIOD_MS;
      this.#publish();
    }, CONTACT_MS);
  }

  /** `trouble`: why this process cannot write a file at the moment, or empty. */
  static open(
    rig: Rig,
    arms: readonly TelemetryArm[],
    stampSource: string,
    recorder: RecorderThread,
    traced: TracedEvents,
    trouble: () => string = () => '',
  ): Promise<TelemetryPublisher> {
    const socket = createSocket('udp4');
    const { memory } = arms[0]!;
    const port = rig.console.telemetryPort;
    return new Promise((resolve, reject) => {
      socket.once('error', (error: NodeJS.ErrnoException) => {
        const spec = { name: 'telemetry', host: '127.0.0.1', port, portKey: 'console.telemetryPort' };
        reject(socketError(spec, error.code ?? error.message));
      });
      socket.bind({ address: '127.0.0.1', port, exclusive: true }, () => {
        socket.removeAllListeners('error');
        resolve(
          new TelemetryPublisher(
            socket,
            new Counters(memory.counters),
            recorder,
            memory.person,
            traced,
            builderOf(arms, stampSource, recorder, trouble),
            anyOf(arms.map((arm) => contactWatch(arm.memory, arm.model.joints.length))),
            inTurn(arms.map((arm) => stateWatch(arm.memory.board, arm.model.joints.length, arm.side))),
          ),
        );
      });
    });
  }

  #onDatagram(bytes: Uint8Array, { address, port }: { address: string; port: number }): Reason | null {
    if (frameType(bytes, bytes.length) === 'request') return this.#onRequest(bytes);
    const key = `${address}:${port}`;
    const reason = this.#refusal(bytes, key);
    if (reason !== null) return reason;
    const wantsStates = frameBody(bytes, bytes.length)?.['states'] === true;
    this.#subscribers.set(key, {
      ...{ address, port, wantsStates, untilMs: performance.now() + SUBSCRIPTION_MS },
    });
    return null;
  }

  /** Requests for the recorder arrive here: the control thread is not involved. */
  #onRequest(bytes: Uint8Array): Reason | null {
    const request = parseJson(bytes.subarray(TAG_BYTES), sideRequestSchema, MAX_REQUEST_BYTES);
    if (typeof request === 'string') return request;
    if (request.kind === 'video') return this.#traced.onVideo(request) ? null : 'malformed';
    if (request.kind === 'pulse') return this.#traced.onPulse(request);
    if (request.kind === 'person') return this.#takePerson(request.name, request.person);
    this.#recorder.request(request);
    return null;
  }

  /** Stores a measured hand and passes it to the control thread. */
  #takePerson(name: string, person: Person): Reason | null {
    try {
      savePerson(name, person);
    } catch (error) {
      if (!(error instanceof TeleopError)) throw error;
      // It still counts for this session.
      console.error(`farhand: ${error.message}. ${error.hint}`);
    }
    writePersonBoard(this.#person, person);
    return null;
  }

  #refusal(bytes: Uint8Array, key: string): Reason | null {
    if (bytes.length === 0) return 'empty';
    const type = frameType(bytes, bytes.length);
    if (type !== 'hello') return type === null ? 'bad-tag' : 'wrong-port';
    if (Number.isNaN(decodeHello(bytes, bytes.length))) return 'malformed';
    return this.#subscribers.size >= MAX_SUBSCRIBERS && !this.#subscribers.has(key) ? 'rate-limited' : null;
  }

  /** Each new state to those who asked for them; the newest one only, if several arrived since the last call. */
  #publishState(newState: () => StateSample | null): void {
    let bytes: Buffer | null = null;
    for (const { address, port, wantsStates } of this.#subscribers.values()) {
      if (!wantsStates) continue;
      if (bytes === null) {
        const state = newState();
        if (state === null) return;
        bytes = Buffer.from(JSON.stringify(state));
      }
      this.#socket.send(bytes, port, address, () => {});
    }
  }

  #publish(): void {
    const message = this.#build();
    const nowMs = performance.now();
    for (const [key, { untilMs }] of this.#subscribers) if (untilMs < nowMs) this.#subscribers.delete(key);
    if (message === null || this.#subscribers.size === 0) return;
    const bytes = Buffer.from(JSON.stringify(message));
    for (const { address, port } of this.#subscribers.values())
      this.#socket.send(bytes, port, address, () => {});
  }

  close(): void {
    clearInterval(this.#timer);
    this.#socket.close();
  }
}

/** What a console reports for the trace. */
export interface TracedEvents {
  /** The timing of a picture; false for an unknown camera. */
  onVideo(event: VideoEvent): boolean;
  /** A contact that the person felt. */
  onPulse(event: PulseEvent): null;
}

interface Subscriber {
  address: string;
  port: number;
  wantsStates: boolean;
  untilMs: number;
}

/** Calls all of them, every time. */
const anyOf = (watches: (() => boolean)[]) => (): boolean =>
  watches.map((watch) => watch()).some((isChanged) => isChanged);

/** What an arm's part of the telemetry is made from. */
export interface TelemetryArm {
  side: Side | null;
  rig: Rig;
  model: RobotModel;
  memory: RoleMemory;
}

function builderOf(
  arms: readonly TelemetryArm[],
  stampSource: string,
  recorder: RecorderThread,
  trouble: () => string,
): () => Telemetry | null {
  const presses = arms.map(() => 0);
  const builders = arms.map((arm, i) =>
    telemetryBuilder(arm, stampSource, recorder, trouble, (count) => {
      presses[i] = count;
      recorder.onPresses(presses.reduce((sum, each) => sum + each, 0));
    }),
  );
  if (arms.length === 1) return builders[0]!;
  const driven = drivenFlag(arms[0]!.memory);
  return () => {
    const parts = builders.map((build) => build());
    const [left, right] = parts;
    return left && right ? twoArmTelemetry([left, right], Atomics.load(driven, 0)) : null;
  };
}

function telemetryBuilder(
  { rig, model, memory, side }: TelemetryArm,
  stampSource: string,
  recorder: RecorderThread,
  trouble: () => string,
  onPresses: (count: number) => void,
): () => Telemetry | null {
  const board = new SnapshotBoard(memory.board);
  const world = worldReader(memory.world);
  const counters = new Counters(memory.counters);
  const live = new LiveFeel(memory.telemetryJoints);
  const drain = closedDrain(RecordRing.attach(memory.telemetryRing), (record) => live.add(record));
  const shown = BOARD.create(model.joints.length);
  const inputs = Object.keys(rig.operator.inputs);
  // Joints not read yet are sent as an empty list.
  const angles = (rad: Float64Array) =>
    Number.isNaN(rad[0]) ? [] : Array.from(rad, (angle) => round(angle, 1e5));
  const torques = (nm: Float64Array) =>
    Number.isNaN(nm[0]) ? null : Array.from(nm, (value) => round(value, 1e3));
  return () => {
    const closed = drain();
    const text = board.read(shown.packed);
    if (text === null) return null;
    onPresses(shown.recordPresses);
    const [cause, nearest, playout] = boardWords(text);
    const motion = live.motion(shown.operatorNs, shown.offsetNs);
    const motors = motorReport(shown);
    // A recording of two arms has no place for the motors of one.
    if (motors !== null && side === null) recorder.onMotors(shown.operatorNs, motors);
    const inWorld = world();
    if (inWorld !== null) recorder.onWorld(shown.operatorNs, inWorld);
    const ageMs = (shown.operatorNs - shown.stateReceivedNs) / 1e6;
    const connected = ageMs < CONNECTED_MS;
    const publishedNs = monotonicClock.nowNs();
    return {
      kind: 'telemetry',
      model: model.name,
      operatorNs: shown.operatorNs,
      link: {
        connected,
        stateAgeMs: finite(ageMs),
        offsetMs: finite(shown.offsetNs / 1e6),
        uncertaintyMs: finite(shown.uncertaintyNs / 1e6),
        driftPpm: finite(shown.driftPpm),
        stampSource,
        transport: rig.link.transport,
        playout: playout || rig.robot.playout,
        modes: playout === '' ? [] : [...PLAYOUT_MODES],
        quality: shown.quality,
      },
      input: {
        active: inputs[shown.input] ?? '',
        available: inputs,
        status: shown.inputStatus,
        ageMs: finite((shown.operatorNs - shown.handTakenNs) / 1e6),
        clutch: shown.clutch,
        rateHz: finite(shown.inputRateHz),
        jitterMs: finite(shown.inputJitterNs / 1e6),
        streams: inputs.slice(0, BOARD_INPUTS).map((name, i) => streamOf(name, shown, i)),
      },
      operator: {
        mode: shown.mode,
        mapping: shown.mapping,
        driver: shown.driver,
        isInterrupted: shown.isInterrupted,
        mustOpenClutch: shown.mustOpenClutch,
        disagreementRad: finite(round(shown.disagreementRad, 1e4)),
        filterDelayMs: finite(shown.filterDelayNs / 1e6),
        estopMs: finite(shown.estopNs / 1e6),
        estopConfirmedNs: finite(shown.estopConfirmedNs),
        limitTowards: Number.isFinite(shown.limitTowards[0])
          ? Array.from(shown.limitTowards, (x) => round(x, 1e3))
          : null,
      },
      hand: {
        positionM: [...shown.handPositionM],
        quatXyzw: [...shown.handQuatXyzw],
        pointsM:
          shown.handPoints === HAND_POINTS ? Array.from(shown.handPointsM, (m) => round(m, 1e4)) : null,
        isLeft: shown.handIsLeft,
      },
      robot: Number.isFinite(ageMs)
        ? {
            state: connected ? shown.robotState : 'disconnected',
            cause: connected ? cause : 'no message from the robot',
            epoch: shown.epoch,
            measuredRad: angles(shown.measuredRad),
            targetRad: angles(shown.targetRad),
            gripper: shown.gripper,
            limitedBy: connected ? shown.limitedBy : '',
            externalNm: torques(shown.externalNm),
            gripperN: finite(shown.gripperN),
            readingMs: finite((publishedNs - shown.stateRobotNs + shown.offsetNs) / 1e6),
            readNs: finite(Math.round(shown.stateRobotNs)),
            publishedNs: Math.round(publishedNs),
            clearanceM: finite(shown.clearanceM),
            nearest,
            ...(motors && { motors }),
          }
        : null,
      world: inWorld,
      commandedRad: Number.isFinite(ageMs) ? angles(shown.commandedRad) : null,
      closed,
      feel: live.feel(),
      motionLatencyMs: motion && finite(motion.latencyNs / 1e6),
      motionConfidence: motion && finite(motion.confidence),
      totals: {
        commands: shown.commands,
        applied: shown.applied,
        late: shown.late,
        dropped: shown.dropped,
        rejected: shown.rejected,
        lost: shown.lost,
      },
      counters: counters.snapshot() as Record<string, number>,
      record: recorder.status,
      trouble: trouble(),
    };
  };
}

/** Whether the torque from outside changed by something a person could feel since the last time it did. */
function contactWatch(memory: RoleMemory, joints: number): () => boolean {
  const board = new SnapshotBoard(memory.board);
  const shown = BOARD.create(joints);
  let lastNm = 0;
  return () => {
    if (board.read(shown.packed) === null || Number.isNaN(shown.externalNm[0])) return false;
    let mostNm = 0;
    for (const nm of shown.externalNm) mostNm = Math.max(mostNm, Math.abs(nm));
    if (Math.abs(mostNm - lastNm) < CONTACT_NM) return false;
    lastNm = mostNm;
    return true;
  };
}

function worldReader(memory: SharedArrayBuffer): () => WorldTelemetry | null {
  const board = new SnapshotBoard(memory);
  const seen = WORLD_STATE.create();
  return () => {
    const task = board.read(seen.packed);
    if (task === null) return null;
    const { seed, round: nth, elapsedS, limitS, score, outcome, held, contactN, bodies } = seen;
    return {
      ...{ task, seed, round: nth, elapsedS, limitS, score, outcome, held },
      contact: contactN > 0 ? { atM: [...seen.contactM], forceN: contactN } : null,
      baseM: [...seen.baseM],
      gripM: [...seen.gripM],
      gripYawRad: seen.gripYawRad,
      poses: [...seen.poses.subarray(0, bodies * WORLD_POSE_SIZE)],
    };
  };
}

function streamOf(name: string, shown: StructOf<typeof BOARD>, i: number): InputStream {
  const from = shown.inputSenders[i]!;
  // IPv6 addresses are known to the control thread only.
  const sender = from > 0 ? hostPort(peerAddress(from) || 'IPv6', peerPort(from)) : '';
  const [rateHz, jitterMs] = [finite(shown.inputRatesHz[i]!), finite(shown.inputJittersNs[i]! / 1e6)];
  return { name, rateHz, jitterMs, from: sender };
}

function closedDrain(ring: RecordRing, onRecord: (record: TraceRecord) => void): () => ClosedCommand[] {
  const record = TRACE.create();
  const segments = new Float64Array(SEGMENTS.length);
  return () => {
    const closed: ClosedCommand[] = [];
    while (ring.shift(record.packed)) {
      onRecord(record);
      segmentsNs(record, segments);
      closed.push({
        seq: record.seq,
        atS: record.sampledNs / 1e9,
        outcome: OUTCOMES[record.outcome] ?? 'lost',
        oneWayMs: finite(oneWayNs(record) / 1e6),
        segmentsMs: Array.from(segments, (ns) => finite(ns / 1e6)),
        playoutMs: finite(record.playoutDelayNs / 1e6),
        queueDepth: finite(record.queueDepth),
      });
    }
    return closed.slice(-MAX_CLOSED);
  };
}

const round = (value: number, per: number): number => Math.round(value * per) / per;
const finite = (value: number): number | null => (Number.isFinite(value) ? round(value, 1e4) : null);

/** Null if the robot does not report its motors. */
function motorReport(shown: MotorHealth): MotorReport | null {
  if (!knowsMotors(shown)) return null;
  const rows = MOTOR_FIELDS.map((field) => [field, Array.from(shown[field], finite)] as const);
  return Object.fromEntries(rows) as unknown as MotorReport;
}
