/** What a receiver needs to know. Plain data: it may cross to another thread. */
export interface FrameReceiverConfig {
  wire: 'zmq' | 'udp';
  /** Where the cameras are: IPv4 address or name. */
  host: string;
  port: number;
  /** UDP: first port to listen on for a sender that does not wait to be asked; 0: ask. */
  receivePort: number;
  /** Names, in the rig's order. Frames of others are refused. */
  cameras: readonly string[];
  /** CURVE options of ZeroMQ's client, or null for plain traffic. */
  curve: Record<string, string> | null;
}

export interface FrameReceiver {
  close(): void;
}

/** One picture off the wire, before its time is put on the operator's clock. */
export interface ArrivedFrame {
  camera: string;
  /** NaN where the sender gave none. */
  captureNs: number;
  encodedNs: number;
  bytes: Uint8Array;
  /** When its first byte came, where that is known. */
  firstNs: number;
}
