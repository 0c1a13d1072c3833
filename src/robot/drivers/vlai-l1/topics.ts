import type { JointState } from '../../buses/dds/ros2.ts';

export type Side = 'left' | 'right';

/** What a way to the maker's node tells of; on the event loop of the thread that opened it. */
export interface TopicEvents {
  onState(side: Side, state: JointState, nowNs: number): void;
  onRefused(reason: string): void;
}

/** A way to the topics of the maker's node. */
export interface ArmTopics {
  /** For messages: `rosbridge ws://…`. */
  readonly name: string;
  /** Why commands would not arrive; empty where they would. */
  readonly trouble: string;
  /** Both arms' targets and grippers, null: leave those. Whether they are on their way. Hot path. */
  publish(jointsRad: Float64Array, grippers: Float64Array | null, nowNs: number): boolean;
  /** Tells the chassis to stop, where one listens. */
  stopChassis(nowNs: number): void;
  /** Waits until `isSo`; false when it took too long. */
  until(isSo: () => boolean, timeoutMs: number): Promise<boolean>;
  close(): void;
}
