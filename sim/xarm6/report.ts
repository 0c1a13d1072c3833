import { createServer, type Server, type Socket } from 'node:net';
import { createChain, TRANSFORM_SIZE } from '../../src/geometry/chain.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import type { ControlBox } from './control-box.ts';

const MAX_UNREAD_BYTES = 1 << 16;
const TORQUES_AT = 59;

const chain = createChain(loadModel('xarm6'));
const frames = new Float64Array(TRANSFORM_SIZE * (chain.joints + 1));

/** x, y, z in mm, roll, pitch, yaw in radians (R = Rz Ry Rx). */
export function tcpPose(box: ControlBox): number[] {
  chain.frames(box.actualRad, frames);
  const [r00, , , x, r10, , , y, r20, r21, r22, z] = frames.subarray(TRANSFORM_SIZE * chain.joints);
  const roll = Math.atan2(r21!, r22!);
  const pitch = Math.atan2(-r20!, Math.hypot(r00!, r10!));
  return [x! * 1000, y! * 1000, z! * 1000, roll, pitch, Math.atan2(r10!, r00!)];
}

/** The common start of both reports: 87 bytes. */
function common(box: ControlBox, bytes: Buffer): void {
  bytes.writeUInt32BE(bytes.length, 0);
  bytes[4] = (box.mode << 4) | box.state;
  (box.encodersRad ?? box.actualRad).forEach((rad, i) => {
    bytes.writeFloatLE(rad, 7 + 4 * i);
  });
  tcpPose(box).forEach((value, i) => {
    bytes.writeFloatLE(value, 35 + 4 * i);
  });
  box.plant?.effortsNm.forEach((nm, i) => {
    bytes.writeFloatLE(nm, TORQUES_AT + 4 * i);
  });
}

export function realReport(box: ControlBox): Buffer {
  const bytes = Buffer.alloc(87);
  common(box, bytes);
  return bytes;
}

/** With brakes, motors and codes; no load, no offsets, gravity down. */
export function normalReport(box: ControlBox): Buffer {
  const bytes = Buffer.alloc(145);
  common(box, bytes);
  bytes[87] = box.motorsOn ? 0x3f : 0;
  bytes[88] = box.motorsOn ? 0x3f : 0;
  bytes[89] = box.errorCode;
  bytes[90] = box.warningCode;
  bytes[131] = 3;
  bytes[132] = 3;
  bytes.writeFloatLE(-1, 141);
  return bytes;
}

/** Sends one report to every client; `silent` is for tests. */
export class ReportServer {
  readonly server: Server;
  readonly #make: (box: ControlBox) => Buffer;
  readonly #sockets = new Set<Socket>();
  silent = false;

  constructor(make: (box: ControlBox) => Buffer) {
    this.#make = make;
    this.server = createServer({ noDelay: true }, (socket) => {
      socket.on('error', () => {});
      socket.resume();
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  send(box: ControlBox): void {
    if (this.silent || this.#sockets.size === 0) return;
    const bytes = this.#make(box);
    for (const socket of this.#sockets)
      if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
      else socket.write(bytes);
  }
}
