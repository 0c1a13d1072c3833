/** Settings of a receiver. Plain data: it may cross to another thread. */
export interface FrameReceiverConfig {
  wire: 'zmq' | 'udp';
  /** Where the cameras are: IPv4 address or name. */
  host: string;
  port: number;
  /** UDP: first port to listen on for a sender that pushes without a request; 0: send requests. */
  receivePort: number;
  /** Names, in the rig's order. Frames of other cameras are rejected. */
  cameras: readonly string[];
  /** CURVE options of ZeroMQ's client, or null for plain traffic. */
  curve: Record<string, string> | null;
}

export interface FrameReceiver {
  close(): void;
}

/** One picture as received, before its time is converted to the operator's clock. */
export interface ArrivedFrame {
  camera: string;
  /** NaN if the sender gave no time. */
  captureNs: number;
  encodedNs: number;
  bytes: Uint8Array;
  /** Distances as a PNG of 16 bits. */
  depth?: Uint8Array;
  /** When its first byte arrived, if known. */
  firstNs: number;
}
