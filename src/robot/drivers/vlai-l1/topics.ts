import type { JointState } from '../../buses/dds/ros2.ts';

export type Side = 'left' | 'right';

/** Events from the vendor's node, on the event loop of the thread that opened the connection. */
export interface TopicEvents {
  onState(side: Side, state: JointState, nowNs: number): void;
  onRejected(reason: string): void;
}

/** A connection to the topics of the vendor's node. */
export interface ArmTopics {
  /** For error messages: `rosbridge ws://…`. */
  readonly name: string;
  /** Why commands cannot arrive; empty if they can. */
  readonly trouble: string;
  /** Sends both arms' targets and grippers (null: unchanged). Returns whether they were sent. Hot path. */
  publish(jointsRad: Float64Array, grippers: Float64Array | null, nowNs: number): boolean;
  /** Sends a stop to the chassis, if there is one. */
  stopChassis(nowNs: number): void;
  /** Waits until `condition`; false on timeout. */
  until(condition: () => boolean, timeoutMs: number): Promise<boolean>;
  close(): void;
}
