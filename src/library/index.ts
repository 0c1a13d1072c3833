/** The public interface: `import { defineRobot, connect } from 'farhand'`. docs/library.md explains it. */
export { z } from 'zod';
export type {
  CameraSource,
  DepthPicture,
  Picture,
  PictureFormat,
  RgbPicture,
  RobotPose,
  SourceHost,
  SourcePlugin,
} from '../camera/source.ts';
export type { Reason } from '../core/counters.ts';
export { type ErrorCode, TeleopError, type TeleopErrorOptions } from '../core/errors.ts';
export { type Clock, monotonicClock } from '../core/time/clock.ts';
export type { RobotModel } from '../geometry/robot-model.ts';
export type {
  InputDevice,
  InputPlugin,
  InputQuality,
  InputRelay,
  InputSocket,
} from '../input/device.ts';
export { SourceLock } from '../input/source-lock.ts';
export type { HandSample, SampleStatus } from '../messages/hand-sample.ts';
export type { TickStatus } from '../messages/robot-state.ts';
export type { Telemetry } from '../messages/telemetry.ts';
export type { Driver, DriverPlugin, JointReading } from '../robot/driver.ts';
export type { Gripper, GripperArm, GripperPlugin, GripperReading } from '../robot/gripper.ts';
export { type ConnectOptions, connect } from './connect.ts';
export { defineCamera, defineGripper, defineInput, defineRobot, type PluginMark } from './define.ts';
export type { Action, HandPose, Session } from './session.ts';
