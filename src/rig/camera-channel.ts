import type { FrameReceiverConfig } from '../camera/channel/frame-receiver.ts';
import type { FrameSenderConfig } from '../camera/channel/frame-sender.ts';
import { TeleopError } from '../core/errors.ts';
import { splitHostPort } from '../core/ip-address.ts';
import { isLoopback } from '../core/loopback.ts';
import { curveKeys } from '../wire/secure/curve-keys.ts';
import { isPaired, linkKeys } from './link-keys.ts';
import type { Rig } from './rig.ts';

/** Names of a rig's cameras, in its order. */
export const cameraNames = (rig: Rig): string[] => Object.keys(rig.cameras.list);

/**
 * Where and how to receive the cameras of a rig; plain data, for `openFrameReceiver` in any thread. Uses the
 * link's key: pictures over ZeroMQ are encrypted wherever commands are. `keys`: for a link whose keys are in
 * no file.
 */
export function frameReceiverConfig(rig: Rig, keys?: Uint8Array[]): FrameReceiverConfig {
  const { cameras, link } = rig;
  const host = cameras.host || link.robotHost;
  const [key] = channelKeys('operator', rig, host, keys);
  return {
    wire: cameras.wire,
    host,
    port: cameras.port,
    receivePort: cameras.receivePort,
    cameras: cameraNames(rig),
    curve: key === undefined ? null : curveKeys(key).client,
  };
}

export function frameSenderConfig(rig: Rig, given?: Uint8Array[]): FrameSenderConfig {
  const { cameras, link } = rig;
  const host = cameras.listenHost || link.listenHost;
  const keys = channelKeys('robot', rig, host, given);
  if (keys.length > 1)
    throw new TeleopError('bad-config', 'ZeroMQ’s CURVE supports one paired key, but there are several', {
      hint: 'Name the one to use: link.keyFile=NAME (`farhand pair --list`).',
    });
  const [key] = keys;
  for (const { host: to } of targets(rig)) refusePlain(rig, to);
  return {
    wire: cameras.wire,
    host,
    port: cameras.port,
    cameras: cameraNames(rig),
    variant: { order: cameras.sliceOrder, first: cameras.firstSection },
    sendTo: targets(rig),
    curve: key === undefined ? null : curveKeys(key).server,
  };
}

function targets({ cameras }: Rig): { host: string; port: number }[] {
  return cameras.sendTo.map((text) => {
    const { host, port } = splitHostPort(text)!;
    return { host: host!, port };
  });
}

/** None: plain traffic, which stays on this machine unless the rig allows otherwise. */
function channelKeys(role: 'operator' | 'robot', rig: Rig, host: string, given?: Uint8Array[]): Uint8Array[] {
  const sealed =
    rig.cameras.wire === 'zmq' && rig.cameras.security === 'link' && rig.link.security === 'paired';
  if (sealed && !(given === undefined && isFleets(role, rig, host))) return given ?? linkKeys(role, rig);
  refusePlain(rig, host);
  return [];
}

/** Pictures that a fleet's agent forwards to programs on this machine, without a key. */
const isFleets = (role: 'operator' | 'robot', { link }: Rig, host: string): boolean =>
  role === 'operator' &&
  isLoopback(host) &&
  (link.transport === 'webrtc' || (link.keyFile === '' && !isPaired()));

function refusePlain({ cameras }: Rig, host: string): void {
  if (isLoopback(host) || cameras.plainBeyondLoopback) return;
  throw new TeleopError('not-loopback', `pictures to ${host} would be readable by anyone on the network`, {
    hint: 'Use cameras.wire=zmq on a paired link, or accept it with cameras.plainBeyondLoopback=true.',
  });
}
