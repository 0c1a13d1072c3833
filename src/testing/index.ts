/** `import { testRobot } from 'farhand/testing'`: the contract suites that Farhand's own plug-ins pass. */
export { loadModel } from '../rig/robot-models.ts';
export { testCamera } from './camera-contract.ts';
export type { DeviceFixture, RunningDevice } from './device-fixture.ts';
export { testRobot } from './driver-contract.ts';
export {
  type GripperDevice,
  type GripperFixture,
  type GripperTrick,
  testGripper,
} from './gripper-contract.ts';
export { type InputFixture, testInput } from './input-contract.ts';
