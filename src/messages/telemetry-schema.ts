import { z } from 'zod';
import { type JsonProblem, parseJson } from '../core/parse-json.ts';
import { PLAYOUT_MODES, PLAYOUT_QUALITIES } from './playout-request.ts';
import { RECORDER_STATES, ROW_SOURCES } from './recording.ts';
import { LIMITED_BY, SUPERVISOR_STATES } from './robot-state.ts';
import { OPERATOR_MODES, type Telemetry } from './telemetry.ts';
import { MAX_WORLD_BODIES, WORLD_OUTCOMES, WORLD_POSE_SIZE } from './world-state.ts';

/**
 * What an operator on this machine publishes, as subscribers validate it. Fields of a later version are
 * ignored.
 */

const MAX_BYTES = 65_507;
const word = z.string().max(512);
const maybe = z.number().nullable();
const count = z.number();
const numbers = (most: number) => z.array(z.number()).max(most);

const link = z.object({
  ...{ connected: z.boolean(), stateAgeMs: maybe, offsetMs: maybe, uncertaintyMs: maybe, driftPpm: maybe },
  ...{ stampSource: word, transport: word.exactOptional(), playout: word },
  quality: z.enum(PLAYOUT_QUALITIES).nullable(),
  modes: z.array(z.enum(PLAYOUT_MODES)).exactOptional(),
});

const stream = z.object({ name: word, rateHz: maybe, jitterMs: maybe, from: word });

const input = z.object({
  ...{ active: word, available: z.array(word).max(64), status: word, ageMs: maybe.exactOptional() },
  ...{ clutch: z.boolean(), rateHz: maybe, jitterMs: maybe },
  streams: z.array(stream).max(64).exactOptional(),
});

const hand = z.object({
  ...{ positionM: numbers(3), quatXyzw: numbers(4) },
  pointsM: numbers(256).nullable().exactOptional(),
  isLeft: z.boolean().exactOptional(),
});

const perMotor = z.array(maybe).max(64);
const motors = z.object({
  ...{ temperatureC: perMotor, currentA: perMotor, voltageV: perMotor, level: perMotor },
});

const robot = z.object({
  state: z.enum(SUPERVISOR_STATES),
  ...{ cause: word, epoch: count, measuredRad: numbers(64), targetRad: numbers(64), gripper: z.number() },
  ...{ limitedBy: z.enum(LIMITED_BY), clearanceM: maybe, nearest: word },
  motors: motors.exactOptional(),
  externalNm: numbers(64).nullable().exactOptional(),
  gripperN: maybe.exactOptional(),
  ...{ readingMs: maybe.exactOptional(), readNs: maybe.exactOptional(), publishedNs: maybe.exactOptional() },
});

export const worldSchema = z.object({
  ...{ task: word, seed: count, round: count, elapsedS: z.number(), limitS: z.number(), score: z.number() },
  ...{ outcome: z.enum(WORLD_OUTCOMES), held: z.number(), baseM: numbers(3) },
  gripM: numbers(3).exactOptional(),
  gripYawRad: z.number().exactOptional(),
  contact: z.object({ atM: numbers(3), forceN: z.number() }).nullable(),
  poses: numbers(MAX_WORLD_BODIES * WORLD_POSE_SIZE),
});

const closed = z.object({
  ...{ seq: count, atS: z.number(), outcome: word, oneWayMs: maybe, playoutMs: maybe, queueDepth: maybe },
  segmentsMs: z.array(maybe).max(32),
});

const feel = z.object({
  ...{ windows: count, badWindows: count, strictWindows: count, longestLateRun: count },
  ...{ holds: count.exactOptional(), stops: count.exactOptional(), refused: count.exactOptional() },
  last: z.object({ off: count, ticks: count, isBad: z.boolean(), cause: word }),
  bad: z.array(z.object({ fromS: z.number(), toS: z.number(), cause: word })).exactOptional(),
});

const record = z.object({
  ...{ state: z.enum(RECORDER_STATES), episode: word.nullable(), task: word, rows: count },
  ...{ skippedRows: count, durationS: z.number(), message: z.string().max(4096) },
  subtask: word.exactOptional(),
});

const schema: z.ZodType<Telemetry, unknown> = z.object({
  ...{ kind: z.literal('telemetry'), model: word, operatorNs: z.number(), link, input },
  operator: z.object({
    ...{ mode: z.enum(OPERATOR_MODES), mapping: word, filterDelayMs: maybe },
    driver: z.enum(ROW_SOURCES).exactOptional(),
    isInterrupted: z.boolean().exactOptional(),
    mustOpenClutch: z.boolean().exactOptional(),
    disagreementRad: maybe.exactOptional(),
    estopMs: maybe.exactOptional(),
    estopConfirmedNs: maybe.exactOptional(),
    limitTowards: numbers(3).nullable().exactOptional(),
  }),
  ...{ hand: hand.nullable(), robot: robot.nullable(), commandedRad: numbers(64).nullable() },
  world: worldSchema.nullable().exactOptional(),
  ...{ closed: z.array(closed).max(1024), feel: feel.nullable().exactOptional() },
  ...{ motionLatencyMs: maybe.exactOptional(), motionConfidence: maybe.exactOptional() },
  totals: z.object({
    ...{ commands: count, applied: count, late: count, dropped: count, rejected: count, lost: count },
  }),
  counters: z.record(z.string(), count),
  record: record.nullable().exactOptional(),
  trouble: z.string().max(4096).exactOptional(),
});

export const parseTelemetry = (bytes: Uint8Array): Telemetry | JsonProblem =>
  parseJson(bytes, schema, MAX_BYTES);
