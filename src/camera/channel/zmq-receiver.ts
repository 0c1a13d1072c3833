import type { Reason } from '../../core/counters.ts';
import { hostPort } from '../../core/ip-address.ts';
import type { Clock } from '../../core/time/clock.ts';
import { loadZmq } from '../../native/zeromq.ts';
import { isDepthPng } from '../depth.ts';
import { endsJpeg, stampNs, startsJpeg } from '../jpeg-structure.ts';
import { addressOf } from './camera-address.ts';
import type { ArrivedFrame, FrameReceiver, FrameReceiverConfig } from './frame-receiver.ts';

/** A sender of larger messages is disconnected. */
const MAX_MESSAGE_BYTES = 16 * 2 ** 20;
/**
 * A receiver that pauses finds a backlog of this size; Linux doubles it. Half of that is the window: two
 * cameras at a round trip of 30 ms, matching the sender's buffer.
 */
const RECEIVE_BUFFER_BYTES = 128 * 1024;
const HEARTBEAT_MS = 1000;
const text = new TextDecoder('latin1');

export async function openZmqReceiver(
  config: FrameReceiverConfig,
  clock: Clock,
  take: (frame: ArrivedFrame) => void,
  remark: (reason: Reason) => void,
): Promise<FrameReceiver> {
  const zmq = await loadZmq('send the pictures as UDP slices: cameras.wire=udp');
  const host = await addressOf(config.host, 'cameras.host');
  const socket = new zmq.Subscriber({
    linger: 0,
    ipv6: host.includes(':'),
    receiveHighWaterMark: Math.max(1, config.cameras.length),
    receiveBufferSize: RECEIVE_BUFFER_BYTES,
    maxMessageSize: MAX_MESSAGE_BYTES,
    heartbeatInterval: HEARTBEAT_MS,
    heartbeatTimeout: 3 * HEARTBEAT_MS,
    ...config.curve,
  });
  socket.connect(`tcp://${hostPort(host, config.port)}`);
  socket.subscribe();
  const receive = async (): Promise<void> => {
    try {
      for await (const parts of socket) {
        const frame = parseFrame(parts, config.cameras, clock.nowNs());
        if (typeof frame === 'string') remark(frame);
        else take(frame);
      }
    } catch {
      // The socket was closed: the run is over.
    }
  };
  void receive();
  return { close: () => socket.close() };
}

/**
 * Message parts: name, capture time (decimal ns), encoding, bytes, time ready, and distances if the camera has them.
 * Further parts are ignored.
 */
export function parseFrame(
  parts: readonly Uint8Array[],
  cameras: readonly string[],
  nowNs: number,
): ArrivedFrame | Reason {
  const [name, stamp, encoding, bytes, ready, depth] = parts;
  if (bytes === undefined) return 'short';
  const camera = name!.length <= 32 ? text.decode(name) : '';
  if (!cameras.includes(camera)) return 'unknown-source';
  const captureNs = stamp!.length <= 17 ? stampNs(text.decode(stamp)) : Number.NaN;
  if (Number.isNaN(captureNs)) return 'malformed';
  if (encoding!.length > 8 || text.decode(encoding) !== 'jpeg') return 'bad-tag';
  if (!startsJpeg(bytes) || !endsJpeg(bytes)) return 'malformed';
  const encodedNs = ready !== undefined && ready.length <= 17 ? stampNs(text.decode(ready)) : Number.NaN;
  const distances = depth !== undefined && isDepthPng(depth) ? { depth } : {};
  return { camera, captureNs, encodedNs, bytes, firstNs: nowNs, ...distances };
}
