import { createSocket, type Socket } from 'node:dgram';
import type { Reason } from '../../core/counters.ts';
import { nearHost } from '../../core/loopback.ts';
import type { Clock } from '../../core/time/clock.ts';
import { stampsOf } from '../jpeg-structure.ts';
import { SliceAssembler } from '../slice-assembler.ts';
import { addressOf, udpType } from './camera-address.ts';
import { channelError } from './channel-error.ts';
import type { ArrivedFrame, FrameReceiver, FrameReceiverConfig } from './frame-receiver.ts';
import { REQUEST, REQUEST_EVERY_MS } from './udp-sender.ts';

/** A few pictures of every camera. */
const RECEIVE_BUFFER_BYTES = 1 << 20;

/** One socket per camera: slices carry no name. Accepts packets from the cameras' host only. */
export async function openUdpReceiver(
  config: FrameReceiverConfig,
  clock: Clock,
  take: (frame: ArrivedFrame) => void,
  remark: (reason: Reason) => void,
): Promise<FrameReceiver> {
  const host = await addressOf(config.host, 'cameras.host');
  const sockets: Socket[] = [];
  const close = () => {
    for (const socket of sockets) socket.close();
  };
  try {
    for (const i of config.cameras.keys()) sockets.push(await bound(host, config.receivePort, i));
  } catch (error) {
    close();
    throw error;
  }
  for (const [i, camera] of config.cameras.entries()) {
    const deliver = (jpeg: Uint8Array, firstNs: number) =>
      take({ camera, ...stampsOf(jpeg), bytes: jpeg, firstNs });
    const assembler = new SliceAssembler(deliver, remark);
    sockets[i]!.on('message', (bytes, from) => {
      const own = from.address === host && (config.receivePort !== 0 || from.port === config.port + i);
      const reason = own ? assembler.ingest(bytes, bytes.length, clock.nowNs()) : 'unknown-source';
      if (reason !== null) remark(reason);
    });
  }
  if (config.receivePort !== 0) return { close };
  const request = () => {
    for (const [i, socket] of sockets.entries())
      socket.send(REQUEST, config.port + i, host, (error) => {
        if (error) remark('send-failed');
      });
  };
  request();
  const requesting = setInterval(request, REQUEST_EVERY_MS);
  return {
    close() {
      clearInterval(requesting);
      close();
    },
  };
}

function bound(cameraHost: string, receivePort: number, offset: number): Promise<Socket> {
  const socket = createSocket({ type: udpType(cameraHost), recvBufferSize: RECEIVE_BUFFER_BYTES });
  const host = nearHost(cameraHost);
  const port = receivePort === 0 ? 0 : receivePort + offset;
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
