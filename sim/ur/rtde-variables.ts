import { createChain } from '../../src/geometry/chain.ts';
import { rotvecFromQuat } from '../../src/geometry/frames.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { MODE, SAFETY, type Series, type UrController } from './controller.ts';

export const TYPE_BYTES = {
  BOOL: 1,
  UINT8: 1,
  UINT32: 4,
  UINT64: 8,
  INT32: 4,
  DOUBLE: 8,
  VECTOR3D: 24,
  VECTOR6D: 48,
  VECTOR6INT32: 24,
  VECTOR6UINT32: 24,
} as const;
export type RtdeType = keyof typeof TYPE_BYTES;

const names = (type: RtdeType, list: string): [string, RtdeType][] =>
  list.split(' ').map((name) => [name, type]);

/** The controller's variables; those not modelled here are 0. */
const OUTPUTS = new Map<string, RtdeType>([
  ...names(
    'VECTOR6D',
    'target_q target_qd target_qdd target_current target_moment actual_q actual_qd actual_current joint_control_output actual_TCP_pose actual_TCP_speed actual_TCP_force target_TCP_pose target_TCP_speed joint_temperatures actual_joint_voltage payload_inertia',
  ),
  ...names('VECTOR3D', 'actual_tool_accelerometer elbow_position elbow_velocity payload_cog'),
  ...names(
    'DOUBLE',
    'timestamp actual_execution_time speed_scaling target_speed_fraction actual_momentum actual_main_voltage actual_robot_voltage actual_robot_current standard_analog_input0 standard_analog_input1 standard_analog_output0 standard_analog_output1 io_current tool_analog_input0 tool_analog_input1 tool_output_current tool_temperature tcp_force_scalar payload',
  ),
  ...names('UINT64', 'actual_digital_input_bits actual_digital_output_bits'),
  ...names(
    'UINT32',
    'runtime_state robot_status_bits safety_status_bits output_bit_registers0_to_31 output_bit_registers32_to_63 input_bit_registers0_to_31 input_bit_registers32_to_63 analog_io_types tool_analog_input_types euromap67_input_bits',
  ),
  ...names('INT32', 'robot_mode safety_mode tool_mode tool_output_voltage'),
  ...names('VECTOR6INT32', 'joint_mode'),
]);

/** Only e-Series software has these. */
const E_SERIES_OUTPUTS = new Map<string, RtdeType>([
  ...names('VECTOR6D', 'ft_raw_wrench actual_current_as_torque'),
  ...names('INT32', 'safety_status'),
]);

const INPUTS = new Map<string, RtdeType>([
  ...names(
    'UINT8',
    'tool_digital_output_mask tool_digital_output standard_digital_output_mask standard_digital_output configurable_digital_output_mask configurable_digital_output',
  ),
  ['speed_slider_mask', 'UINT32'],
  ['speed_slider_fraction', 'DOUBLE'],
]);

function typeOfRegister(name: string, direction: 'input' | 'output'): RtdeType | null {
  const match = new RegExp(`^${direction}_(int|double|bit)_register_(\\d+)$`).exec(name);
  if (match === null) return null;
  if (match[1] === 'bit') return Number(match[2]) >= 64 && Number(match[2]) < 128 ? 'BOOL' : null;
  return Number(match[2]) >= 48 ? null : match[1] === 'int' ? 'INT32' : 'DOUBLE';
}

export const typeOfOutput = (name: string, series: Series): RtdeType | null =>
  OUTPUTS.get(name) ??
  (series === 'e' ? E_SERIES_OUTPUTS.get(name) : undefined) ??
  typeOfRegister(name, 'output') ??
  typeOfRegister(name, 'input');

export const typeOfInput = (name: string): RtdeType | null =>
  INPUTS.get(name) ?? typeOfRegister(name, 'input');

/** Of the simulated drives: a guess. */
const NM_PER_A = 10;

const chain = createChain(loadModel('ur3'));
const positionM = new Float64Array(3);
const quatXyzw = new Float64Array(4);
const rotvec = new Float64Array(3);

function tcpPose(controller: UrController): number[] {
  chain.frame(controller.positionsRad, chain.joints, positionM, quatXyzw);
  rotvecFromQuat(quatXyzw, rotvec);
  return [...positionM, ...rotvec];
}

/** Bit n of the safety status: normal, reduced, protective, recovery, safeguard, system and robot e-stop, e-stop, …, stopped. */
function safetyBits({ safetyMode }: UrController): number {
  const stopped = safetyMode === SAFETY.normal ? 0 : 1 << 10;
  const emergency = safetyMode === SAFETY.systemEstop || safetyMode === SAFETY.robotEstop ? 1 << 7 : 0;
  return (1 << (safetyMode - 1)) | stopped | emergency;
}

export function outputValue(
  controller: UrController,
  name: string,
  type: RtdeType,
): number | readonly number[] {
  const { arm, robotMode, safetyMode } = controller;
  switch (name) {
    case 'timestamp':
      return controller.nowS;
    case 'actual_q':
      return controller.encodersRad ?? [...controller.positionsRad];
    case 'target_q':
      return arm.positionsRad;
    case 'actual_qd':
      return [...controller.velocitiesRadS];
    case 'actual_TCP_force':
      return [...(controller.plant?.wrench ?? [])];
    case 'actual_current':
      return [...(controller.plant?.effortsNm ?? [])].map((nm) => nm / NM_PER_A);
    case 'target_qd':
      return arm.velocitiesRadS;
    case 'actual_TCP_pose':
    case 'target_TCP_pose':
      return tcpPose(controller);
    case 'robot_mode':
      return robotMode;
    case 'safety_mode':
    case 'safety_status':
      return safetyMode;
    case 'runtime_state':
      return controller.playing ? 2 : 1;
    case 'robot_status_bits':
      return (robotMode >= MODE.powerOn ? 1 : 0) | (controller.playing ? 2 : 0);
    case 'safety_status_bits':
      return safetyBits(controller);
    case 'speed_scaling':
    case 'target_speed_fraction':
      return 1;
    case 'actual_digital_output_bits':
      return controller.toolOutputs * 2 ** 16;
    default:
      return type.startsWith('VECTOR') ? [] : 0;
  }
}
