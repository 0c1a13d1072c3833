import { CdrReader as TheirReader, CdrWriter as TheirWriter } from '@foxglove/cdr';
import { CdrWriter, ENCAPSULATION } from '../../src/core/cdr.ts';
import {
  float64MultiArray,
  type JointState,
  jointState,
  readMessageOf,
} from '../../src/robot/buses/dds/ros2.ts';
import type { Check } from '../text-table.ts';
import { type Comparison, compare } from './compare.ts';

const JOINTS = 6;
const CALLS = 2000;
const values = Float64Array.from({ length: JOINTS }, (_, i) => 0.1 * i);
const state: JointState = {
  stampNs: 1.7e18,
  frameId: 'base',
  names: Array.from(values, (_, i) => `joint_${i}`),
  positions: values,
  velocities: values,
  efforts: values,
};

const out = new CdrWriter(new Uint8Array(1024));
const memory = new ArrayBuffer(1024);

/** A target as a driver writes it, into reused memory. */
function ourCommand(): Uint8Array {
  out.begin(ENCAPSULATION.cdrLe);
  float64MultiArray.write(out, { data: values });
  return out.bytes.subarray(0, out.length);
}

function theirCommand(): Uint8Array {
  return new TheirWriter({ buffer: memory }).uint32(0).uint32(0).float64Array(values, true).data;
}

function ourState(frameId: string): Uint8Array {
  out.begin(ENCAPSULATION.cdrLe);
  jointState.write(out, { ...state, frameId });
  return out.bytes.slice(0, out.length);
}

function theirState(frameId: string): Uint8Array {
  const cdr = new TheirWriter({ buffer: new ArrayBuffer(1024) });
  cdr
    .int32(Math.floor(state.stampNs / 1e9))
    .uint32(Math.floor(state.stampNs % 1e9))
    .string(frameId);
  cdr.sequenceLength(JOINTS);
  for (const name of state.names) cdr.string(name);
  for (let list = 0; list < 3; list++) cdr.float64Array(values, true);
  return cdr.data;
}

function readTheirWay(payload: Uint8Array): JointState {
  const cdr = new TheirReader(payload);
  const seconds = cdr.int32();
  return {
    stampNs: seconds * 1e9 + cdr.uint32(),
    frameId: cdr.string(),
    names: cdr.stringArray(),
    positions: cdr.float64Array(),
    velocities: cdr.float64Array(),
    efforts: cdr.float64Array(),
  };
}

/** `@foxglove/cdr` compared with `src/core/cdr.ts`. */
export async function compareCdr(): Promise<Comparison[]> {
  const payload = ourState('base');
  return [
    await compare('CDR: write a target of 6 joints', CALLS, ourCommand, theirCommand),
    await compare(
      'CDR: read a joint state of 6 joints',
      CALLS,
      () => readMessageOf(jointState, payload),
      () => readTheirWay(payload),
    ),
  ];
}

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
const check = (what: string, ok: boolean): Check => ({ what, ok, found: ok ? 'yes' : 'no' });

/** How the library handles critical input. Ours passes all of these (see its tests). */
export function checkCdr(): Check[] {
  const accented = ourState('é');
  // A sequence that claims 2²⁴ numbers and has none.
  const hostile = Uint8Array.from([0, 1, 0, 0, ...new Array(8).fill(0), 0, 0, 0, 1, 0, 0, 0, 0]);
  const before = process.memoryUsage().arrayBuffers;
  let threw = false;
  try {
    const cdr = new TheirReader(hostile);
    cdr.uint32();
    cdr.uint32();
    cdr.float64Array();
  } catch {
    threw = true;
  }
  const claimed = process.memoryUsage().arrayBuffers - before;
  const unterminated = Uint8Array.from([0, 1, 0, 0, 3, 0, 0, 0, 97, 98, 99]);
  return [
    check('CDR library: the same bytes for plain ASCII', same(ourState('base'), theirState('base'))),
    check('CDR library: the same bytes for "é"', same(accented, theirState('é'))),
    check(
      'CDR library: rejects text without its closing zero',
      new TheirReader(unterminated).string() !== 'ab',
    ),
    check('CDR library: returns on a truncated message', !threw),
    {
      what: 'CDR library: 20 hostile bytes allocate less than 1 MB',
      ok: claimed < 1e6,
      found: `${(claimed / 1e6).toFixed(0)} MB`,
    },
  ];
}
