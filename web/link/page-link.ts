import type { LinkRequest } from '../../src/messages/console.ts';
import type { AccessMessage, AccessRequest } from '../../src/messages/console-access.ts';
import type { DeskRequest } from '../../src/messages/telemetry.ts';
import type { ServerMessage } from './messages.ts';

export type LinkStatus = 'connecting' | 'open' | 'closed';

export interface LinkHandlers {
  onMessage(message: ServerMessage): void;
  onStatus(status: LinkStatus): void;
}

/** The page's way to whoever drives the robot. It comes back by itself; what cannot be sent now is reported as not sent. */
export interface PageLink {
  readonly status: LinkStatus;
  /** About who may do what; probes are answered by the link already. */
  onAccess: (message: AccessMessage) => void;
  /** Also legal while waiting to retry: tries now. */
  connect(): void;
  /** True when it is on its way. */
  send(request: DeskRequest | LinkRequest): boolean;
  /** About control and the way poses take. */
  say(message: AccessRequest): void;
  /** For the hand stream: a link that is backed up drops the sample, since a late pose is worth nothing. */
  sendFresh(request: DeskRequest): boolean;
  /** For a headset's poses, likewise. */
  sendBytes(bytes: Uint8Array<ArrayBuffer>): void;
}

/** Pictures that come over the link itself. */
export interface PictureSource {
  onPicture(camera: string, listener: (jpeg: ArrayBuffer) => void): void;
}
