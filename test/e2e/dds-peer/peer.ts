import { CdrWriter, ENCAPSULATION } from '../../../src/core/cdr.ts';
import { monotonicClock } from '../../../src/core/time/clock.ts';
import { Periodic } from '../../../src/core/time/periodic.ts';
import { DdsNode } from '../../../src/robot/buses/dds/node.ts';
import {
  float64MultiArray,
  jointState,
  readMessageOf,
  ros2Topic,
} from '../../../src/robot/buses/dds/ros2.ts';

// peer.c on our own module, as either side. Run as a process:
// peer.js DOMAIN TOPIC_PREFIX reliable|best-effort HZ SECONDS JOINTS robot|operator [LOSS]
const [domain, prefix, reliability, hz, seconds, joints, role, loss = '0'] = process.argv.slice(2);
const count = Number(joints);
const qos = { reliable: reliability === 'reliable', depth: Number(loss) > 0 ? 256 : 1 };
const commandTopic = ros2Topic(`${prefix}/command`, float64MultiArray, qos);
const stateTopic = ros2Topic(`${prefix}/joint_states`, jointState, qos);
const settings = { domainId: Number(domain), interfaceAddress: '127.0.0.1', peers: [], allow: [] };
const node = await DdsNode.open({ ...settings, name: `peer ${role}` }, monotonicClock);
const { participant } = node;
if (Number(loss) > 0) loseDatagrams(Number(loss));
const counts = { received: 0, gaps: 0, repeats: 0, wrong: 0, written: 0 };
const numbers = new Float64Array(count);
const names = Array.from(numbers, (_, i) => `joint_${i}`);
const velocities = new Float64Array(count);
const out = new CdrWriter(new Uint8Array(65_536));
let last = -1;

function note(list: ArrayLike<number> | undefined, isWhole: boolean): void {
  const number = list?.[0] ?? Number.NaN;
  if (!isWhole || Number.isNaN(number)) counts.wrong++;
  if (last >= 0 && number > last + 1) counts.gaps += number - last - 1;
  if (last >= 0 && number <= last) counts.repeats++;
  last = number;
  counts.received++;
}

const isRobot = role === 'robot';
const writer = participant.addWriter(isRobot ? stateTopic : commandTopic);
const reader = participant.addReader(isRobot ? commandTopic : stateTopic, ({ payload }) => {
  if (isRobot) {
    const data = readMessageOf(float64MultiArray, payload)?.data;
    note(data, data?.length === count && data[count - 1] === -data[0]!);
  } else {
    const state = readMessageOf(jointState, payload);
    note(state?.positions, state?.names.length === count && state.names[count - 1] === names[count - 1]);
  }
});

function write(): void {
  numbers[0] = counts.written++;
  numbers[count - 1] = -numbers[0]!;
  out.begin(ENCAPSULATION.cdrLe);
  const stampNs = node.wallNs;
  if (isRobot)
    jointState.write(out, { stampNs, frameId: '', names, positions: numbers, velocities, efforts: [] });
  else float64MultiArray.write(out, { data: numbers });
  writer.write(out.bytes.subarray(0, out.length), stampNs, monotonicClock.nowNs());
}

const print = (more: object) =>
  console.log(JSON.stringify({ ...more, ...counts, matched: [writer.matched, reader.matched] }));

async function end(): Promise<void> {
  clearInterval(timer);
  // Samples in flight still count.
  await new Promise((resolve) => setTimeout(resolve, 100));
  print({ end: true, resent: writer.resent, tally: participant.tally.snapshot() });
  await node.close();
  process.exit(0);
}

node.start();
print({ ready: true });
const startNs = monotonicClock.nowNs();
const beats = new Periodic(Number(hz), startNs);
const reports = new Periodic(5, startNs);
const timer = setInterval(() => {
  const nowNs = monotonicClock.nowNs();
  if (beats.due(nowNs)) write();
  if (reports.due(nowNs)) print({});
  if (nowNs - startNs > Number(seconds) * 1e9) void end();
}, 1);
process.on('SIGTERM', () => void end());

/** Drops incoming and outgoing datagrams, in the same order every time. */
function loseDatagrams(share: number): void {
  let state = 1;
  const isLost = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 < share;
  };
  const receive = participant.receive.bind(participant);
  participant.receive = (bytes, nowNs) => (isLost() ? undefined : receive(bytes, nowNs));
  const send = participant.send.bind(participant);
  participant.send = (to) => (isLost() ? undefined : send(to));
}
