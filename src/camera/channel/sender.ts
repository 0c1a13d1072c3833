import type { Reason } from '../../core/counters.ts';
import type { FrameSender, FrameSenderConfig } from './frame-sender.ts';
import { openUdpSender } from './udp-sender.ts';
import { openZmqSender } from './zmq-sender.ts';

/** `remark` counts dropped frames and rejected datagrams. */
export function openFrameSender(
  config: FrameSenderConfig,
  remark: (reason: Reason) => void,
): Promise<FrameSender> {
  return config.wire === 'zmq' ? openZmqSender(config, remark) : openUdpSender(config, remark);
}
