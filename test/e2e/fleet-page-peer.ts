import { setTimeout as sleep } from 'node:timers/promises';
import type { DataChannel, PeerConnection, Track } from 'node-datachannel';
import type { FleetConnection } from '../../src/fleet/connection.ts';
import { HeldLease } from '../../src/fleet/leases/held-lease.ts';
import { LeaseClient } from '../../src/fleet/leases/lease-client.ts';
import { acceptSession, requestSession } from '../../src/fleet/signalling.ts';
import { splitCandidates } from '../../src/messages/session-description.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { hold } from '../../src/wire/transports/rtc-hold.ts';
import { loadRtc } from '../../src/wire/transports/webrtc.ts';

export type Json = Record<string, unknown>;

/** For the process of a session on a busy machine; the robot gives up after 60 s. */
export const START_MS = 70_000;
/** For everything else. */
const PATIENT_MS = 40_000;
const HERE = { iceServers: [], bindAddress: '127.0.0.1' };
/** A page's clock, with a different origin from this machine's. */
const nowNs = () => performance.now() * 1e6;

/**
 * A page without a browser: takes a robot's lease, drives it over a peer connection, keeps what it receives.
 */
export class FleetPage {
  readonly received: Json[] = [];
  readonly telemetries: Telemetry[] = [];
  readonly pictures = new Map<string, Uint8Array[]>();
  readonly channels = new Map<string, DataChannel>();
  readonly lease: HeldLease;
  readonly #peer: PeerConnection;
  readonly #hand: NodeJS.Timeout;
  #track: Track | null = null;
  /** RTP packets of the robot's sound. */
  readonly sound: Uint8Array[] = [];
  /** The hand it sends; null: none. */
  hand: { clutch: boolean; positionM: number[] } | null = null;
  answersProbes = true;
  probes = { page: 0, poses: 0 };
  closed = false;

  private constructor(lease: HeldLease, peer: PeerConnection) {
    this.lease = lease;
    this.#peer = peer;
    peer.onDataChannel((channel) => this.#take(channel));
    peer.onTrack((track) => {
      this.#track = track;
      hold(track);
      track.onMessage((rtp) => void this.sound.push(new Uint8Array(rtp)));
    });
    peer.onStateChange((state) => {
      if (state === 'closed' || state === 'failed' || state === 'disconnected') this.closed = true;
    });
    this.#hand = setInterval(() => {
      if (this.hand !== null)
        this.sendJson({ kind: 'hand', ...this.hand, ...REST, takenMs: performance.now() });
    }, 16);
  }

  static async open(connection: FleetConnection, robot: string): Promise<FleetPage> {
    const rtc = await loadRtc();
    const lease = await HeldLease.take(new LeaseClient(connection), robot, { lost() {} });
    const offer = await requestSession(connection, lease, 'page').catch(async (error: unknown) => {
      await lease.release();
      throw error;
    });
    const peer = new rtc.PeerConnection('page', HERE);
    const page = new FleetPage(lease, peer);
    const gathered = new Promise<void>((resolve) => {
      peer.onGatheringStateChange((state) => {
        if (state === 'complete') resolve();
      });
    });
    const { sdp: description, candidates } = splitCandidates(offer.sdp);
    peer.setRemoteDescription(description, 'offer');
    await gathered;
    const { sdp } = peer.localDescription()!;
    await acceptSession(connection, lease, offer.session, sdp);
    for (const { candidate, mid } of candidates) peer.addRemoteCandidate(candidate, mid);
    return page;
  }

  sendJson(message: Json): void {
    this.send('page', JSON.stringify(message));
  }

  send(channel: string, data: string | Uint8Array): void {
    try {
      if (typeof data === 'string') this.channels.get(channel)!.sendMessage(data);
      else this.channels.get(channel)!.sendMessageBinary(data);
    } catch {
      // It has closed meanwhile.
    }
  }

  /** The first message of that kind, already received or yet to come. */
  async receive(
    kind: string,
    fits: (message: Json) => boolean = () => true,
    withinMs = PATIENT_MS,
  ): Promise<Json> {
    return this.until(
      `received ${kind}`,
      () => this.received.find((each) => each['kind'] === kind && fits(each)),
      withinMs,
    );
  }

  async until<T>(what: string, found: () => T | undefined | false, withinMs = PATIENT_MS): Promise<T> {
    for (const untilMs = performance.now() + withinMs; performance.now() < untilMs; await sleep(5)) {
      const value = found();
      if (value !== undefined && value !== false) return value;
    }
    const last = this.received.slice(-4).map((each) => JSON.stringify(each).slice(0, 300));
    throw new Error(
      `not ${what} within ${withinMs} ms; ${JSON.stringify(this.telemetries.at(-1)?.robot)} ${last.join('\n')}`,
    );
  }

  get robot(): NonNullable<Telemetry['robot']> | undefined {
    return this.telemetries.at(-1)?.robot ?? undefined;
  }

  async state(wanted: string, withinMs = PATIENT_MS): Promise<void> {
    await this.until(wanted, () => this.robot?.state === wanted, withinMs);
  }

  /** From any state until the robot follows the hand. */
  async drive(): Promise<void> {
    this.hand = { clutch: false, positionM: [0, 0, 0] };
    for (const untilMs = performance.now() + PATIENT_MS; performance.now() < untilMs; ) {
      const { state } = this.robot ?? { state: '' };
      if (state === 'armed' || state === 'hold') break;
      this.sendJson({ kind: state === 'idle' ? 'arm' : 'reset' });
      await sleep(100);
    }
    await sleep(100);
    this.hand = { clutch: true, positionM: [0, 0, 0] };
    await this.state('engaged');
  }

  close(): void {
    clearInterval(this.#hand);
    for (const channel of this.channels.values()) channel.close();
    this.#track?.close();
    this.#peer.close();
  }

  #take(channel: DataChannel): void {
    const label = channel.getLabel();
    this.channels.set(label, channel);
    channel.onMessage((data) => {
      if (typeof data === 'string') this.#receive(label, JSON.parse(data) as Json);
      else this.#see(label, new Uint8Array(data));
    });
    hold(channel, () => {
      if (label === 'page') this.closed = true;
    });
  }

  #receive(label: string, message: Json): void {
    if (message['kind'] === 'probe') {
      this.probes[label as 'page' | 'poses']++;
      const answer = { kind: 'probed', t0: message['t0'], t1: nowNs(), t2: nowNs() };
      if (this.answersProbes) this.send(label, JSON.stringify(answer));
    } else if (message['kind'] === 'telemetry') this.telemetries.push(message as unknown as Telemetry);
    else this.received.push(message);
  }

  #see(label: string, jpeg: Uint8Array): void {
    const seen = this.pictures.get(label) ?? [];
    seen.push(jpeg.slice());
    this.pictures.set(label, seen);
  }
}

const REST = { quatXyzw: [0, 0, 0, 1], gripper: 0 };
