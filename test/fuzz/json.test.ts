import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { AccessApi } from '../../src/console/access-api.ts';
import { ConsoleClients, type PageSocket } from '../../src/console/clients.ts';
import { PictureStamps } from '../../src/console/picture-stamps.ts';
import { parseJson } from '../../src/core/parse-json.ts';
import { parseFleetRequest } from '../../src/fleet/console/requests.ts';
import * as fleet from '../../src/fleet/messages.ts';
import { asksEstop, probeAnswered } from '../../src/fleet/page-operator/page-messages.ts';
import { parseRecording } from '../../src/fleet/recordings.ts';
import { sideRequestSchema } from '../../src/messages/desk-requests.ts';
import { parseTelemetry } from '../../src/messages/telemetry-schema.ts';
import { parseAnswer } from '../../src/policy/json-policy.ts';
import {
  parseObject,
  parseRow,
  parseSidecar,
  parseStart,
  parseSummary,
} from '../../src/record/episode-schema.ts';
import { stateOf } from '../../src/robot/drivers/vlai-l1/rosbridge-topics.ts';
import { parseTraceLine } from '../../src/trace/stamps.ts';
import { type MessageType, TAG_BYTES, writeFrame, writeTag } from '../../src/wire/codecs/frame.ts';
import { peerOf } from '../../src/wire/reactor.ts';
import { PairingOffer } from '../../src/wire/secure/pairing-protocol.ts';
import { SEED } from '../seed.ts';
import { randomSource } from './datagrams.ts';
import * as examples from './json-examples.ts';
import { hostileTexts, toBytes } from './json-mutations.ts';
import { engagedRig, type FuzzRig } from './rig.ts';
import { scaled } from './scale.ts';

const ROW = { ...examples.RECORDED[2], frames: [{ captureNs: 1, ageNs: 2, stale: false }] };
const STRANGER = peerOf('127.0.0.1', 50_000);
const DESK_SOCKET = 3;
const MAX_DATAGRAM = 1472;

Error.stackTraceLimit = 0;
let total = 0;
let seeds = SEED;

/** Sends `count` hostile texts; returns how many were accepted. */
function shoot(
  count: number,
  from: readonly object[],
  handle: (text: string, bytes: Buffer) => boolean,
): number {
  const random = randomSource(seeds++);
  const texts = hostileTexts(from, random);
  let taken = 0;
  for (let i = 0; i < scaled(count); i++) {
    const text = texts.next().value as string;
    const bytes = toBytes(text, random);
    try {
      if (handle(text, bytes)) taken++;
    } catch (error) {
      assert.fail(`${text.slice(0, 2000)}\n${(error as Error).message}`);
    }
  }
  total += scaled(count);
  return taken;
}

/** Whether a value has the form of an example, independent of the schemas. */
function isLike(value: unknown, example: unknown): boolean {
  if (value === null || example === null) return typeof value !== 'object' || value === null;
  if (typeof value === 'number') return typeof example === 'number' && Number.isFinite(value);
  if (typeof value !== typeof example || Array.isArray(value) !== Array.isArray(example)) return false;
  if (Array.isArray(value)) return value.every((item) => isLike(item, (example as unknown[])[0]));
  if (typeof value !== 'object') return true;
  return Object.entries(value).every(
    ([key, item]) => Object.hasOwn(example as object, key) && isLike(item, (example as never)[key]),
  );
}

const assertLike = (value: object, all: readonly object[]): void =>
  assert.ok(
    all.some((example) => isLike(value, example)),
    `accepted: ${JSON.stringify(value)}`,
  );

function frame(type: MessageType, bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(TAG_BYTES + bytes.length);
  writeTag(type, out);
  out.set(bytes, TAG_BYTES);
  return out.subarray(0, MAX_DATAGRAM);
}

const toDesk = ({ operatorHandler, clock }: FuzzRig, bytes: Uint8Array): void =>
  operatorHandler.onDatagram(DESK_SOCKET, bytes, bytes.length, STRANGER, clock.nowNs(), Number.NaN);

function assertSane({ operator, robot }: FuzzRig): void {
  const { sample } = operator.sampler.hand;
  assert.ok([...sample.positionM, ...sample.quatXyzw, sample.gripper].every(Number.isFinite));
  assert.ok([...robot.supervisor.targetRad].every(Number.isFinite));
}

class FakePage extends EventEmitter implements PageSocket {
  readonly OPEN = 1;
  readonly readyState = 1;
  readonly bufferedAmount = 0;
  closed = 0;
  sent = 0;

  send(): void {
    this.sent++;
  }

  close(): void {
    this.closed++;
  }
}

describe(`hostile JSON, seed ${SEED}`, () => {
  after(() => {
    assert.ok(total >= scaled(1e6), `${total} messages`);
    assert.deepEqual(Object.keys(Object.prototype), [], 'no prototype was changed');
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });

  it('from a page reaches the operator as a valid request or not at all', async () => {
    const rig = await engagedRig(false);
    const out = new Uint8Array(MAX_DATAGRAM);
    let forwarded = 0;
    let refused = 0;
    const known = [
      ...examples.PAGE_REQUESTS,
      ...examples.HANDS.map((hand) => ({ ...hand, takenNs: 1, page: 1 })),
    ];
    const clients = new ConsoleClients({
      access: { stillKnown: () => true },
      ask: () => {},
      hands: () => {},
      nowNs: () => rig.clock.nowNs(),
      rtcAddress: '127.0.0.1',
      warn: (text) => assert.fail(text),
      onRefused: () => void refused++,
    });
    const pages = (['operator', 'viewer'] as const).map((role) => {
      const page = new FakePage();
      clients.add(page, { role, device: role, name: role }, (request) => {
        forwarded++;
        assertLike(request, known);
        const length = writeFrame(request.kind === 'hand' ? 'hand' : 'request', request, out);
        toDesk(rig, out.subarray(0, length));
      });
      return page;
    });
    shoot(120_000, examples.PAGE_REQUESTS, (text) => {
      for (const page of pages) page.emit('message', text, false);
      return true;
    });
    total += scaled(120_000);
    clients.close();
    assert.ok(
      forwarded > scaled(1000) && refused > scaled(80_000),
      `${forwarded} forwarded, ${refused} rejected`,
    );
    assert.deepEqual(
      pages.map(({ closed }) => closed),
      [0, 0],
      'no handler failed',
    );
    assertSane(rig);
  });

  it('at the operator’s desk is counted or executed', async () => {
    const rig = await engagedRig(false);
    shoot(100_000, [...examples.DESK_ACTIONS, ...examples.RECORDINGS], (_, bytes) => {
      toDesk(rig, frame('request', bytes));
      return true;
    });
    shoot(60_000, examples.HANDS, (_, bytes) => {
      toDesk(rig, frame('hand', bytes));
      return true;
    });
    for (const reason of ['bad-json', 'malformed', 'too-deep'] as const)
      assert.ok(rig.operatorCounters.get(reason) > 100, reason);
    assertSane(rig);
  });

  it('in datagrams from the true operator and robot is counted or executed', async () => {
    const rig = await engagedRig(false);
    const bodies = rig.sent.map((bytes) => ({
      type: bytes[3]!,
      text: Buffer.from(bytes.subarray(4)).toString(),
    }));
    const types = [...new Set(bodies.map(({ type }) => type))];
    assert.ok(types.length >= 6, 'every kind of datagram is included');
    for (const type of types) {
      const own = bodies.filter((body) => body.type === type).slice(0, 20);
      const all = own.map(({ text }) => JSON.parse(text) as object);
      shoot(20_000, all, (_, bytes) => {
        const datagram = frame('request', bytes);
        datagram[3] = type;
        const [nowNs, none] = [rig.clock.nowNs(), Number.NaN];
        for (let socket = 0; socket < 3; socket++) {
          rig.robotHandler.onDatagram(
            socket,
            datagram,
            datagram.length,
            rig.operatorPeers[socket]!,
            nowNs,
            none,
          );
          rig.operatorHandler.onDatagram(
            socket,
            datagram,
            datagram.length,
            rig.robotPeers[socket]!,
            nowNs,
            none,
          );
        }
        return true;
      });
    }
    assertSane(rig);
  });

  it('from programs on this machine is valid or rejected', () => {
    const side = [...examples.RECORDINGS, examples.VIDEO, examples.PULSE];
    const taken = shoot(60_000, side, (_, bytes) => {
      const request = parseJson(bytes, sideRequestSchema, 2048);
      if (typeof request !== 'string') assertLike(request, side);
      return typeof request !== 'string';
    });
    assert.ok(taken > 0);
    shoot(40_000, [examples.TELEMETRY], (_, bytes) => {
      const telemetry = parseTelemetry(bytes);
      if (typeof telemetry !== 'string')
        assertLike(telemetry, [{ ...examples.TELEMETRY, counters: telemetry.counters }]);
      return typeof telemetry !== 'string';
    });
    shoot(30_000, examples.POLICY_ANSWERS, (_, bytes) => {
      try {
        const { rows, width, values } = parseAnswer(bytes);
        assert.equal(values.length, rows * width);
      } catch (error) {
        assert.match((error as Error).message, /^the answer /);
        return false;
      }
      return true;
    });
    shoot(20_000, [examples.ROS_STATE], (text) => {
      const state = stateOf(orNull(text));
      return state !== null && Array.from(state.positions).every((value) => typeof value === 'number');
    });
    const stamps = new PictureStamps(
      () => {},
      () => 1e9,
    );
    shoot(30_000, [examples.PICTURE_ANSWER], (text) => {
      stamps.receive({ send: () => {} }, 'front', text);
      return true;
    });
  });

  it('from joint targets never sets the input to NaN', async () => {
    const { default: plugin } = await import('../../src/input/devices/joints.ts');
    const device = plugin.open(plugin.config.parse({}), 0, () => {});
    const { emptyHandSample } = await import('../../src/messages/hand-sample.ts');
    const sample = emptyHandSample();
    let nowNs = 1e9;
    shoot(60_000, examples.JOINTS, (_, bytes) => {
      nowNs += 1e6;
      const reason = device.ingest(bytes, bytes.length, nowNs, STRANGER, 0);
      device.sample(nowNs, sample);
      assert.ok(Number.isFinite(sample.gripper));
      for (let i = 0; i < sample.joints; i++) assert.ok(Number.isFinite(sample.jointsRad[i]!));
      return reason === null;
    });
  });

  it('in a fleet is a valid message or rejected', () => {
    shoot(60_000, examples.FLEET_REQUESTS, (text) => {
      const request = parseFleetRequest(text);
      if (request !== null) assertLike(request, examples.FLEET_REQUESTS);
      return request !== null;
    });
    const schemas = [
      fleet.presenceSchema,
      fleet.eventSchema,
      fleet.auditSchema,
      fleet.askSchema,
      fleet.signalSchema,
      fleet.signalReplySchema,
      fleet.controlSchema,
      fleet.estopReplySchema,
    ];
    shoot(20_000, examples.FLEET_MESSAGES, (text) => {
      parseRecording(text);
      asksEstop(text);
      probeAnswered(`${text} "probed"`);
      for (const schema of schemas) fleet.parsed(schema as never, text);
      return true;
    });
    total += scaled(20_000) * schemas.length;
  });

  it('in files gives what was written, or nothing', () => {
    shoot(40_000, examples.RECORDED, (text, bytes) => {
      const [summary, row, sidecar] = [parseSummary(text), parseRow(bytes), parseSidecar(bytes)];
      parseStart(text);
      parseObject(bytes);
      for (const value of [summary, sidecar]) if (value !== null) assertLike(value, examples.RECORDED);
      // Frames are named after their cameras.
      if (row !== null) assertLike({ ...row, frames: Object.values(row.frames) }, [ROW]);
      return true;
    });
    const trace = {
      kind: 'teleop_cmd',
      trace_id: 'abcd-1',
      seq: 1,
      outcome: 'applied',
      late: false,
      stamps: {},
    };
    const motion = { kind: 'motion', at_ns: 1, latency_ns: 2, confidence: 0.9 };
    shoot(40_000, [trace, motion], (text) => parseTraceLine(text).kind !== 'bad');
  });

  it('during pairing is rejected and uses up no guess', () => {
    const hello = { protocol: 'farhand-pair/1', name: 'desk', nonce: 'AAAA' };
    shoot(10_000, [hello, { share: 'AAAA', tag: 'AAAA' }], (text) => {
      const offer = new PairingOffer('robot', () => 'ABCD-EFGH');
      const step = offer.open().receive(text);
      assert.equal(step.kind, 'refused');
      return false;
    });
  });

  it('in a pairing request is answered, never by adding a device', async () => {
    const random = randomSource(seeds++);
    const texts = hostileTexts([{ code: '123456', name: 'Quest' }], random);
    const devices = { add: () => assert.fail('a device was added') };
    const api = new AccessApi({ devices, isLocal: () => true } as never, () => null);
    const count = scaled(20_000);
    let answered = 0;
    for (let i = 0; i < count; i++) {
      const body = toBytes(texts.next().value as string, random);
      const done = api.handle(
        requestOf('/api/access/pair', body),
        responseOf(() => void answered++),
      );
      await done;
    }
    total += count;
    assert.equal(answered, count);
  });
});

function orNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The parts of a request that its handlers read. */
function requestOf(url: string, body: Buffer): IncomingMessage {
  const host = '127.0.0.1';
  return {
    ...{ method: 'POST', url, headers: { host, origin: `http://${host}` } },
    socket: { remoteAddress: host, localAddress: host, localPort: 1 },
    async *iterator() {
      await turn;
      yield body;
    },
  } as unknown as IncomingMessage;
}

const responseOf = (onEnd: () => void): ServerResponse =>
  ({ writeHead: () => {}, setHeader: () => {}, end: onEnd }) as unknown as ServerResponse;
