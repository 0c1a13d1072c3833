import { PRESENT } from '../../src/robot/buses/dynamixel/control-table.ts';
import {
  DYNAMIXEL_2,
  fastStatusPacket,
  INSTRUCTION,
  statusPacket,
} from '../../src/robot/buses/dynamixel/dynamixel-2.ts';
import { syncReadPacket, syncWritePacket } from '../../src/robot/buses/servo/packets.ts';
import { wireMs } from '../../src/robot/buses/servo/servo-bus.ts';
import { HANDS } from '../../src/robot/drivers/orca/hands.ts';

export interface WireTime {
  name: string;
  sentBytes: number;
  answerBytes: number;
  /** All bytes of one cycle, without the delays of motors, adapter and host. */
  cycleMs: number;
}

/** Line time of a cycle of goals and positions, for both hands and both kinds of read. */
export function wireTimes(): WireTime[] {
  const ids = HANDS[0]!.joints.map(({ motorId }) => motorId);
  const data = new Uint8Array(PRESENT.size);
  const goals = syncWritePacket(
    DYNAMIXEL_2,
    116,
    4,
    ids,
    ids.map(() => 2048),
  ).length;
  const plain = ids.reduce((sum, id) => sum + statusPacket(id, 0, data).length, 0);
  const fast = fastStatusPacket(ids.map((id) => ({ id, error: 0, data }))).length;
  const request = syncReadPacket(DYNAMIXEL_2, INSTRUCTION.syncRead, PRESENT.address, PRESENT.size, ids);
  const sentBytes = goals + request.length;
  return [3_000_000, 1_000_000].flatMap((baudRate) =>
    [
      { kind: 'fast', answerBytes: fast },
      { kind: 'plain', answerBytes: plain },
    ].map(({ kind, answerBytes }) => ({
      name: `${baudRate / 1e6} Mbaud, ${kind} sync read`,
      sentBytes,
      answerBytes,
      cycleMs: wireMs(sentBytes + answerBytes, baudRate),
    })),
  );
}
