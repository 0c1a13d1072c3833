import type { Reason } from '../../core/counters.ts';
import type { CameraFrame } from '../../messages/recording.ts';
import type { SliceVariant } from '../slices.ts';
import { openUdpSender } from './udp-sender.ts';
import { openZmqSender } from './zmq-sender.ts';

export interface FrameSender {
  /** Never waits and never queues more than the newest: what the wire cannot take is dropped and counted. */
  send(frame: CameraFrame): void;
  /** Where it can be reached, for people. */
  readonly where: string;
  close(): Promise<void>;
}

/** Plain data: it crosses to the camera thread. */
export interface FrameSenderConfig {
  wire: 'zmq' | 'udp';
  host: string;
  port: number;
  cameras: readonly string[];
  variant: SliceVariant;
  /** UDP receivers that do not ask: address and first port. */
  sendTo: readonly { host: string; port: number }[];
  /** CURVE options of ZeroMQ's server, or null for plain traffic. */
  curve: Record<string, string | boolean> | null;
}

/** `remark` counts frames that were dropped and datagrams that were refused. */
export function openFrameSender(
  config: FrameSenderConfig,
  remark: (reason: Reason) => void,
): Promise<FrameSender> {
  return config.wire === 'zmq' ? openZmqSender(config, remark) : openUdpSender(config, remark);
}
