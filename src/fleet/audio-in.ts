import { createSocket, type Socket } from 'node:dgram';
import { writeWhole } from '../files/write-whole.ts';
import { AUDIO } from './audio-source.ts';

const HOST = '127.0.0.1';
const RTP_HEADER_BYTES = 12;
const MAX_PACKET_BYTES = 1500;

/** Describes the robot's sound on a port of this machine to a player. */
const soundSdp = (robot: string, port: number): string =>
  [
    'v=0',
    `o=- 0 0 IN IP4 ${HOST}`,
    `s=Farhand ${robot}`,
    `c=IN IP4 ${HOST}`,
    't=0 0',
    `m=audio ${port} RTP/AVP ${AUDIO.payloadType}`,
    `a=rtpmap:${AUDIO.payloadType} opus/${AUDIO.clockRate}/${AUDIO.channels}`,
    '',
  ].join('\r\n');

/**
 * The robot's sound at the operator: forwards its packets to a port of this machine, where a player may
 * listen.
 */
export class AudioIn {
  readonly #port: number;
  readonly #socket: Socket;
  packets = 0;

  constructor(robot: string, port: number, sdpFile: string) {
    this.#port = port;
    this.#socket = createSocket('udp4');
    this.#socket.on('error', () => {});
    writeWhole(sdpFile, soundSdp(robot, port), { folderMode: 0o755, hint: 'Or omit --audio.' });
  }

  take(rtp: Uint8Array): void {
    const isSound = rtp[0]! >> 6 === 2 && (rtp[1]! & 0x7f) === AUDIO.payloadType;
    if (!isSound || rtp.length <= RTP_HEADER_BYTES || rtp.length > MAX_PACKET_BYTES) return;
    this.packets++;
    this.#socket.send(rtp, this.#port, HOST, () => {});
  }

  close(): void {
    this.#socket.close();
  }
}
