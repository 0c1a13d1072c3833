import type { WebSocket } from 'ws';
import { z } from 'zod';
import { EntryBoundary } from '../../core/entry-boundary.ts';
import { parseJson } from '../../core/parse-json.ts';
import type { Peer } from '../reactor.ts';
import type { CarrierHandlers, CarrierOptions } from './carriers.ts';
import { RtcLink } from './rtc-link.ts';
import { loadRtc } from './webrtc.ts';
import { connectSocket, serveSockets } from './websocket.ts';

const MAX_SIGNAL = 32 * 1024;
const signalSchema = z.strictObject({ sdp: z.string().max(16 * 1024) });

/**
 * A WebRTC data channel per operator, unordered and without retransmission. The descriptions travel over a WebSocket,
 * which stays open as long as the channel. The robot makes the offer, as in a fleet.
 */
export async function openDataChannels(
  options: CarrierOptions,
  handlers: CarrierHandlers,
): Promise<{ close(): void }> {
  const rtc = await loadRtc();
  const isRobot = options.role === 'robot';
  const boundary = new EntryBoundary('link data channel');
  const use = (socket: WebSocket, peer: Peer) => {
    let link: RtcLink | null = null;
    const open = (offer?: string) => {
      link = new RtcLink(
        rtc,
        settingsOf(options),
        channelHandlers(socket, peer, handlers, () => link!),
        offer,
      );
      void link.description().then((sdp) => socket.send(JSON.stringify({ sdp }), () => link?.begin()));
    };
    socket.on('message', (data: Buffer, isBinary) => {
      const read = isBinary ? null : parseJson(data.toString(), signalSchema, MAX_SIGNAL);
      boundary.run(() => {
        if (typeof read !== 'object' || read === null) socket.terminate();
        else if (link === null) open(read.sdp);
        else if (!isRobot || link.accept(read.sdp) !== null) socket.terminate();
      });
    });
    socket.on('close', () => {
      link?.close();
      handlers.closed(peer);
    });
    if (isRobot) open();
  };
  return isRobot ? serveSockets(options, MAX_SIGNAL, use) : connectSocket(options, MAX_SIGNAL, use);
}

const settingsOf = ({ role, host }: CarrierOptions) => ({
  ice: [],
  bindAddress: role === 'robot' && host !== '0.0.0.0' ? host : '',
  relayOnly: false,
});

const channelHandlers = (socket: WebSocket, peer: Peer, handlers: CarrierHandlers, link: () => RtcLink) => ({
  datagram: (bytes: Uint8Array) => handlers.message(peer, bytes),
  control: () => {},
  opened: () =>
    handlers.opened(peer, { send: (message) => link().send(message), close: () => socket.terminate() }),
  closed: () => socket.terminate(),
});
