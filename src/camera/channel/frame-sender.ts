import type { CameraFrame } from '../../messages/recording.ts';
import type { SliceVariant } from '../slices.ts';

export interface FrameSender {
  /** Never waits and queues only the newest frame: what the network cannot take is dropped and counted. */
  send(frame: CameraFrame): void;
  /** Its address, for people. */
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
  /** UDP receivers that send no requests: address and first port. */
  sendTo: readonly { host: string; port: number }[];
  /** CURVE options of ZeroMQ's server, or null for plain traffic. */
  curve: Record<string, string | boolean> | null;
}
