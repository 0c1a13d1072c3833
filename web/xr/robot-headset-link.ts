import type { DeskRequest } from '../../src/messages/telemetry.ts';
import type { FleetLink } from '../link/fleet-link.ts';
import type { LinkStatus, PictureSource } from '../link/page-link.ts';
import { RobotLink } from '../link/robot-link.ts';
import type { HeadsetHandlers, HeadsetLink } from './headset-link.ts';

/** Connects a headset to a fleet robot; all data goes peer to peer. */
export class RobotHeadsetLink implements HeadsetLink {
  readonly pictures: PictureSource;
  readonly #fleet: FleetLink;
  readonly #link: RobotLink;

  constructor(fleet: FleetLink, robot: string, handlers: HeadsetHandlers) {
    this.#fleet = fleet;
    const sound = new Audio();
    this.#link = new RobotLink(fleet, robot, {
      ...handlers,
      onPath: (path) => {
        if (path === null) return;
        const over = 'webrtc' as const;
        handlers.onAccess({ kind: 'path', over, rttMs: path.rttMs, uncertaintyMs: null });
      },
      // Browsers allow sound only after a user gesture.
      onSound: (stream) => {
        sound.srcObject = stream;
        const play = () => void sound.play().catch(() => {});
        play();
        document.addEventListener('click', play);
      },
    });
    this.#link.onAccess = (message) => handlers.onAccess(message);
    this.pictures = this.#link;
  }

  get status(): LinkStatus {
    return this.#link.status;
  }

  /** Why there is no session; empty during a session. */
  get problem(): string {
    return this.#link.problem;
  }

  connect(): void {
    this.#link.connect();
    this.#fleet.connect();
  }

  send(request: DeskRequest): boolean {
    return this.#link.send(request);
  }

  control(action: 'claim' | 'take' | 'release'): void {
    this.#link.sendAccess({ kind: 'control', action });
  }

  sendPoses(bytes: Uint8Array<ArrayBuffer>): void {
    this.#link.sendBytes(bytes);
  }

  estop(): boolean {
    return this.#link.send({ kind: 'estop' });
  }

  dropPeer(): void {
    this.#link.dropPeer();
  }
}
