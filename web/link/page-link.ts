import type { LinkRequest, ReplayRequest } from '../../src/messages/console.ts';
import type { AccessMessage, AccessRequest } from '../../src/messages/console-access.ts';
import type { DeskRequest } from '../../src/messages/telemetry.ts';
import type { ServerMessage } from './messages.ts';

export type LinkStatus = 'connecting' | 'open' | 'closed';

export interface LinkHandlers {
  onMessage(message: ServerMessage): void;
  onStatus(status: LinkStatus): void;
}

/** The page's link to the operator. Reconnects on its own. Queues nothing: `send` returns false while disconnected. */
export interface PageLink {
  readonly status: LinkStatus;
  /** Receives access messages. The link itself answers probes. */
  onAccess: (message: AccessMessage) => void;
  /** Connects now, also while waiting to retry. */
  connect(): void;
  /** True when sent. */
  send(request: DeskRequest | LinkRequest | ReplayRequest): boolean;
  /** Sends messages about control and the pose channel. */
  sendAccess(message: AccessRequest): void;
  /** For hand samples: drops the sample when the link is backed up, because a late sample is useless. */
  sendUnreliable(request: DeskRequest): boolean;
  /** For headset poses; drops them likewise. */
  sendBytes(bytes: Uint8Array<ArrayBuffer>): void;
}

/** Delivers camera frames over the link. */
export interface PictureSource {
  onPicture(camera: string, listener: (jpeg: ArrayBuffer) => void): void;
  /** `video`: a camera's name, or both names of a stereo pair with a plus sign. Null: it has ended. */
  onVideo(video: string, listener: (stream: MediaStream | null) => void): void;
}
