import { CdrWriter, ENCAPSULATION } from '../../src/core/cdr.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { DdsNode } from '../../src/robot/buses/dds/node.ts';
import {
  float64MultiArray,
  jointState,
  readMessageOf,
  ros2Topic,
  text,
} from '../../src/robot/buses/dds/ros2.ts';
import { type DualArm, JOINT_NAMES, type Side } from './dual-arm.ts';

const BYTES = 4096;

/** The vendor's node on DDS: both commands in, joint states of both arms out. */
export async function openRosNode(
  dual: DualArm,
  domainId: number,
): Promise<{ publish(): void; close(): Promise<void> }> {
  const settings = { domainId, interfaceAddress: '127.0.0.1', peers: [], allow: [], name: 'dual_xarm' };
  const node = await DdsNode.open(settings, monotonicClock);
  const { participant } = node;
  const listen = (topic: string, take: (data: unknown) => void) =>
    participant.addReader(ros2Topic(topic, float64MultiArray, { reliable: true }), ({ payload, gone }) => {
      if (gone === 0) take(readMessageOf(float64MultiArray, payload)?.data);
    });
  listen('/dual_xarm/joints', (data) => dual.joints(data));
  listen('/dual_xarm/gripperpos', (data) => dual.gripper(data));
  participant.addReader(ros2Topic('/chassis/cmd', text, { reliable: true }), ({ payload, gone }) => {
    const order = gone === 0 ? readMessageOf(text, payload) : null;
    if (order !== null) dual.chassis.push(order.data);
  });
  const out = new CdrWriter(new Uint8Array(BYTES));
  const writers = (['left', 'right'] as const).map((side: Side) => ({
    arm: dual.arms[side],
    writer: participant.addWriter(ros2Topic(`/xarm_${side}/joint_states`, jointState, { reliable: true })),
  }));
  node.start();
  const publish = () => {
    for (const { arm, writer } of writers) {
      out.begin(ENCAPSULATION.cdrLe);
      jointState.write(out, {
        stampNs: node.wallNs,
        frameId: '',
        names: JOINT_NAMES,
        positions: arm.positionsRad,
        velocities: arm.velocitiesRadS,
        efforts: [],
      });
      writer.write(out.bytes.subarray(0, out.length), node.wallNs, monotonicClock.nowNs());
    }
  };
  return { publish, close: () => node.close() };
}
