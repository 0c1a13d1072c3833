import { createSocket, type Socket } from 'node:dgram';
import type { Reason } from '../../core/counters.ts';
import { hostPort } from '../../core/ip-address.ts';
import { monotonicClock } from '../../core/time/clock.ts';
import type { CameraFrame } from '../../messages/recording.ts';
import { withStamp } from '../jpeg-structure.ts';
import { MAX_SLICE_BYTES, type SliceVariant, sliceJpeg } from '../slices.ts';
import { addressOf, udpType } from './camera-address.ts';
import { channelError } from './channel-error.ts';
import type { FrameSender, FrameSenderConfig } from './frame-sender.ts';

/** A receiver requests pictures with this text, and repeats it every second. */
export const REQUEST = 'farhand-frames-please';
export const REQUEST_EVERY_MS = 1000;
/** A receiver that has not repeated its request for this long gets nothing more. */
const FORGET_NS = 3e9;
/** Upper limit of receivers, so that forged requests cannot turn this sender into a flood. */
const MAX_RECEIVERS = 4;

interface Receiver {
  host: string;
  port: number;
  untilNs: number;
}

/** One UDP port per camera; sends its pictures as slices to every receiver that requested them there. */
export async function openUdpSender(
  config: FrameSenderConfig,
  remark: (reason: Reason) => void,
): Promise<FrameSender> {
  const lines = new Map<string, SliceLine>();
  const host = await addressOf(config.host, 'cameras.listenHost');
  try {
    for (const [i, camera] of config.cameras.entries()) {
      const fixed = config.sendTo.map(({ host, port }) => ({
        host,
        port: port + i,
        untilNs: Number.POSITIVE_INFINITY,
      }));
      const port = config.port === 0 ? 0 : config.port + i;
      const socket = await bound(host, port, i);
      lines.set(camera, new SliceLine(socket, config.variant, fixed, remark));
    }
  } catch (error) {
    for (const line of lines.values()) line.close();
    throw error;
  }
  const ports = [...lines.values()].map((line) => line.port);
  return {
    where: `UDP ${hostPort(config.host, ports.join(', '))}`,
    send: (frame) => lines.get(frame.camera)?.send(frame),
    async close() {
      for (const line of lines.values()) line.close();
    },
  };
}

function bound(host: string, port: number, offset: number): Promise<Socket> {
  const socket = createSocket(udpType(host));
  return new Promise((resolve, reject) => {
    socket.once('error', (error: NodeJS.ErrnoException) => {
      socket.close();
      reject(channelError('UDP', host, port, offset, error.code ?? error.message));
    });
    socket.bind({ address: host, port, exclusive: true }, () => {
      socket.removeAllListeners('error');
      socket.on('error', () => {});
      resolve(socket);
    });
  });
}

class SliceLine {
  readonly #socket: Socket;
  readonly #variant: SliceVariant;
  readonly #remark: (reason: Reason) => void;
  #receivers: Receiver[];
  #frameId = 0;
  /** Packets the operating system has not accepted yet. */
  #inFlight = 0;
  #waiting: CameraFrame | null = null;

  constructor(
    socket: Socket,
    variant: SliceVariant,
    fixed: readonly Receiver[],
    remark: (reason: Reason) => void,
  ) {
    this.#socket = socket;
    this.#variant = variant;
    this.#receivers = [...fixed];
    this.#remark = remark;
    socket.on('message', (bytes, from) => {
      if (bytes.toString('latin1') === REQUEST) this.#requested(from.address, from.port);
      else remark('malformed');
    });
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** While an earlier picture is still being sent, only the newest waits. */
  send(frame: CameraFrame): void {
    if (this.#waiting !== null) this.#remark('frame-dropped');
    this.#waiting = frame;
    if (this.#inFlight === 0) this.#drain();
  }

  close(): void {
    this.#waiting = null;
    this.#socket.close();
  }

  #requested(host: string, port: number): void {
    const nowNs = monotonicClock.nowNs();
    this.#receivers = this.#receivers.filter((receiver) => receiver.untilNs > nowNs);
    const known = this.#receivers.find((receiver) => receiver.host === host && receiver.port === port);
    if (known !== undefined) known.untilNs = Math.max(known.untilNs, nowNs + FORGET_NS);
    else if (this.#receivers.length < MAX_RECEIVERS)
      this.#receivers.push({ host, port, untilNs: nowNs + FORGET_NS });
    else this.#remark('rate-limited');
  }

  #drain(): void {
    const frame = this.#waiting;
    this.#waiting = null;
    if (frame === null) return;
    const nowNs = monotonicClock.nowNs();
    this.#receivers = this.#receivers.filter((receiver) => receiver.untilNs > nowNs);
    if (this.#receivers.length === 0) return;
    const jpeg = withStamp(frame.bytes, frame.captureNs, frame.encodedNs);
    const packets: Uint8Array[] = [];
    const packet = new Uint8Array(MAX_SLICE_BYTES);
    const rejected = sliceJpeg(jpeg, ++this.#frameId, this.#variant, packet, (length) =>
      packets.push(packet.slice(0, length)),
    );
    if (rejected !== null) return this.#remark(rejected);
    this.#inFlight = packets.length * this.#receivers.length;
    for (const { host, port } of this.#receivers)
      for (const bytes of packets) this.#socket.send(bytes, port, host, (error) => this.#sent(error));
  }

  #sent(error: Error | null): void {
    if (error) this.#remark('send-failed');
    if (--this.#inFlight === 0) this.#drain();
  }
}
