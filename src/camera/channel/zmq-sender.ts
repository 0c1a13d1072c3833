import type { Reason } from '../../core/counters.ts';
import { hostPort } from '../../core/ip-address.ts';
import type { CameraFrame } from '../../messages/recording.ts';
import { loadZmq } from '../../native/zeromq.ts';
import { addressOf } from './camera-address.ts';
import { channelError } from './channel-error.ts';
import type { FrameSender, FrameSenderConfig } from './frame-sender.ts';

/**
 * What the kernel may buffer per receiver; Linux doubles it. Small, because on a slow link it turns into
 * delay: 0.2 s at 5 Mbit/s. Large enough for two cameras at a round trip of 30 ms.
 */
const SEND_BUFFER_BYTES = 64 * 1024;
/** A receiver that disappeared is dropped after three missed heartbeats. */
const HEARTBEAT_MS = 1000;

/**
 * One PUB socket for all cameras. Message: name, capture time in decimal nanoseconds, encoding, bytes, and
 * the time the picture was ready to be sent, in decimal nanoseconds; for a depth camera the distances. Each subscriber has a queue of one
 * picture per camera; libzmq silently drops what does not fit, for that subscriber only. Only pictures that
 * never reached it are counted.
 */
export async function openZmqSender(
  config: FrameSenderConfig,
  remark: (reason: Reason) => void,
): Promise<FrameSender> {
  const { port, cameras, curve } = config;
  const host = await addressOf(config.host, 'cameras.listenHost');
  const zmq = await loadZmq('send the pictures as UDP slices: cameras.wire=udp');
  const socket = new zmq.Publisher({
    linger: 0,
    ipv6: host.includes(':'),
    sendHighWaterMark: Math.max(1, cameras.length),
    sendBufferSize: SEND_BUFFER_BYTES,
    heartbeatInterval: HEARTBEAT_MS,
    heartbeatTimeout: 3 * HEARTBEAT_MS,
    ...curve,
  });
  try {
    await socket.bind(`tcp://${hostPort(host, port === 0 ? '*' : port)}`);
  } catch (error) {
    socket.close();
    throw channelError('TCP', host, port, 0, (error as NodeJS.ErrnoException).code ?? String(error));
  }
  const endpoint = socket.lastEndpoint ?? `tcp://${hostPort(host, port)}`;
  /** `send` rejects while an earlier call is pending; a PUB socket never blocks for long. */
  const waiting = new Map<string, CameraFrame>();
  let busy = false;
  const drain = async (): Promise<void> => {
    busy = true;
    for (const [name, frame] of waiting) {
      waiting.delete(name);
      const { captureNs, encodedNs, encoding, bytes, depth } = frame;
      const ready = encodedNs === undefined ? '' : String(encodedNs);
      const parts = [name, String(captureNs), encoding, bytes, ready];
      await socket.send(depth === undefined ? parts : [...parts, depth]).catch(() => {});
    }
    busy = false;
  };
  return {
    where: `ZeroMQ ${endpoint}${curve === null ? '' : ', encrypted'}`,
    send(frame) {
      if (waiting.has(frame.camera)) remark('frame-dropped');
      waiting.set(frame.camera, frame);
      if (!busy) void drain();
    },
    async close() {
      waiting.clear();
      // Closing without unbinding frees the port only later.
      await socket.unbind(endpoint).catch(() => {});
      socket.close();
    },
  };
}
