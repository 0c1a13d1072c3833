import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { TeleopError } from '../core/errors.ts';
import { soundInput } from '../messages/sound-device.ts';
import type { FleetConfig } from '../rig/fleet-config.ts';

/**
 * The robot's sound as every session describes it: one Opus stream. RTP always declares Opus with two
 * channels.
 */
export const AUDIO = { payloadType: 111, ssrc: 0x6661_7268, clockRate: 48_000, channels: 2 } as const;

const HOST = '127.0.0.1';
const BITS_PER_S = 48_000;
const PACKET_BYTES = 1200;
const RTP_HEADER_BYTES = 12;
/** How long to wait before reopening a device that failed. */
const AGAIN_MS = 2000;

function argumentsOf(setting: string, port: number): string[] {
  const quality = ['-ac', '1', '-ar', String(AUDIO.clockRate), '-b:a', String(BITS_PER_S)];
  const opus = ['-c:a', 'libopus', '-application', 'lowdelay', '-frame_duration', '20'];
  const stream = ['-payload_type', String(AUDIO.payloadType), '-ssrc', String(AUDIO.ssrc)];
  // RTCP reports go to the same port, where they are filtered out, not to the next one, which is not ours.
  // With `connect` ffmpeg exits once the port is closed: it must not outlive this process and keep the device
  // open.
  const target = `rtp://${HOST}:${port}?rtcpport=${port}&localaddr=${HOST}&pkt_size=${PACKET_BYTES}&connect=1`;
  return [
    ...[
      '-hide_banner',
      '-loglevel',
      'error',
      '-nostdin',
      '-fflags',
      'nobuffer',
      ...soundInput(setting, AUDIO.clockRate),
    ],
    ...['-vn', ...quality, ...opus, ...stream, '-flush_packets', '1', '-f', 'rtp', target],
  ];
}

/** Whether it is a packet of our stream: ffmpeg's reports share the port. */
const isSound = (bytes: Uint8Array): boolean =>
  bytes.length > RTP_HEADER_BYTES &&
  bytes[0]! >> 6 === 2 &&
  (bytes[1]! & 0x7f) === AUDIO.payloadType &&
  new DataView(bytes.buffer, bytes.byteOffset).getUint32(8) === AUDIO.ssrc;

/**
 * The robot's sound as RTP packets (Opus, 20 ms each), from the device in `fleet.audio`; none if that is
 * empty. A device that fails later is reopened after two seconds, with continuing sequence numbers. A packet
 * is valid only during the call.
 */
export async function openAudio(
  { audio }: Pick<FleetConfig, 'audio'>,
  onPacket: (rtp: Uint8Array) => void,
): Promise<{ close(): void }> {
  if (audio === '') return { close() {} };
  const socket = createSocket('udp4');
  socket.on('error', () => {});
  socket.bind(0, HOST);
  await once(socket, 'listening');
  const source = new Encoder(audio, socket, onPacket);
  try {
    await source.run();
  } catch (error) {
    source.close();
    throw error;
  }
  return { close: () => source.close() };
}

class Encoder {
  readonly #setting: string;
  readonly #socket: Socket;
  #child: ChildProcess | null = null;
  #again: NodeJS.Timeout | undefined;
  #closed = false;
  #reported = '';
  #sequence = 0;

  constructor(setting: string, socket: Socket, onPacket: (rtp: Uint8Array) => void) {
    this.#setting = setting;
    this.#socket = socket;
    socket.on('message', (bytes, from) => {
      if (this.#closed || from.address !== HOST || !isSound(bytes)) return;
      bytes.writeUInt16BE(this.#sequence, 2);
      this.#sequence = (this.#sequence + 1) & 0xffff;
      onPacket(bytes);
    });
  }

  /** Rejects only if ffmpeg cannot be started. */
  async run(): Promise<void> {
    const child = spawn('ffmpeg', argumentsOf(this.#setting, this.#socket.address().port), {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    let output = '';
    child.stderr.on('data', (bytes: Buffer) => {
      output = (output + bytes.toString()).slice(-2000);
    });
    child.on('close', (code, signal) => {
      if (this.#closed) return;
      this.#report(output.trim().split('\n').at(-1) || `ffmpeg exited with ${code ?? signal}`);
      this.#later();
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (cause) => reject(missing(cause)));
    });
    child.on('error', () => {});
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#again);
    this.#child?.kill('SIGKILL');
    this.#child?.stderr?.destroy();
    this.#socket.close();
  }

  #later(): void {
    if (this.#closed) return;
    this.#again = setTimeout(() => void this.run().catch(() => this.#later()), AGAIN_MS);
    this.#again.unref();
  }

  /** Prints each new problem once. */
  #report(what: string): void {
    if (what === this.#reported) return;
    this.#reported = what;
    console.error(`farhand: fleet: no sound from ${this.#setting}: ${what}`);
  }
}

const missing = (cause: unknown): TeleopError =>
  new TeleopError('native-unavailable', 'ffmpeg cannot be started for the robot’s sound', {
    hint: 'Install it (`apt install ffmpeg`), or leave fleet.audio empty.',
    cause,
  });
