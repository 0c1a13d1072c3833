import type { Reason } from '../../core/counters.ts';
import type { CameraFrame } from '../../messages/recording.ts';
import { loadZmq } from '../../native/zeromq.ts';
import { channelError } from './channel-error.ts';
import type { FrameSender, FrameSenderConfig } from './frame-sender.ts';

/**
 * What the kernel may hold for a receiver; Linux doubles it. Small, because it is age on a slow wire: 0.2 s at 5 Mbit/s.
 * Large enough for two cameras at a round trip of 30 ms.
 */
const SEND_BUFFER_BYTES = 64 * 1024;
/** A receiver that has left without a word is forgotten after this. */
const HEARTBEAT_MS = 1000;

/**
 * One PUB socket for all cameras; message: name, capture in decimal nanoseconds, encoding, bytes, and when the picture was
 * ready to be sent, again in decimal nanoseconds. Each subscriber has a queue of one picture per camera; what does not fit
 * it is dropped for that subscriber alone, by libzmq, which tells nobody: only pictures that never got to it are counted.
 */
export async function openZmqSender(
  config: FrameSenderConfig,
  remark: (reason: Reason) => void,
): Promise<FrameSender> {
  const { host, port, cameras, curve } = config;
  const zmq = await loadZmq('send the pictures as UDP slices: cameras.wire=udp');
  const socket = new zmq.Publisher({
    linger: 0,
    sendHighWaterMark: Math.max(1, cameras.length),
    sendBufferSize: SEND_BUFFER_BYTES,
    heartbeatInterval: HEARTBEAT_MS,
    heartbeatTimeout: 3 * HEARTBEAT_MS,
    ...curve,
  });
  try {
    await socket.bind(`tcp://${host}:${port === 0 ? '*' : port}`);
  } catch (error) {
    socket.close();
    throw channelError('TCP', host, port, 0, (error as NodeJS.ErrnoException).code ?? String(error));
  }
  const endpoint = socket.lastEndpoint ?? `tcp://${host}:${port}`;
  /** `send` refuses while an earlier one is pending; a PUB socket never keeps one for long. */
  const waiting = new Map<string, CameraFrame>();
  let busy = false;
  const drain = async (): Promise<void> => {
    busy = true;
    for (const [name, frame] of waiting) {
      waiting.delete(name);
      const { captureNs, encodedNs, encoding, bytes } = frame;
      const ready = encodedNs === undefined ? '' : String(encodedNs);
      await socket.send([name, String(captureNs), encoding, bytes, ready]).catch(() => {});
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
      // Closing alone frees the port only some time later.
      await socket.unbind(endpoint).catch(() => {});
      socket.close();
    },
  };
}
