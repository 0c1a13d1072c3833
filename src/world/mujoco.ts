import { TeleopError } from '../core/errors.ts';

/** The parts of MuJoCo's WebAssembly build that we use. */
export interface Mujoco {
  MjModel: { from_xml_string(xml: string): MjModel };
  MjData: new (model: MjModel) => MjData;
  DoubleBuffer: new (length: number) => { GetView(): Float64Array; delete(): void };
  mjtObj: Record<string, { value: number }>;
  mj_step(model: MjModel, data: MjData): void;
  mj_forward(model: MjModel, data: MjData): void;
  mj_resetData(model: MjModel, data: MjData): void;
  mj_fullM(model: MjModel, data: MjData, out: { GetView(): Float64Array }): void;
  mj_name2id(model: MjModel, type: number, name: string): number;
}

export interface MjModel {
  readonly nv: number;
  readonly opt: { timestep: number; readonly gravity: Float64Array };
  readonly actuator_forcerange: Float64Array;
  readonly jnt_qposadr: Int32Array;
  readonly jnt_dofadr: Int32Array;
  readonly body_jntadr: Int32Array;
  readonly body_pos: Float64Array;
  readonly body_quat: Float64Array;
  readonly sensor_adr: Int32Array;
  delete(): void;
}

/** Every array is a view of the WebAssembly heap: taking one costs more than reading it, so keep them. */
export interface MjData {
  readonly qpos: Float64Array;
  readonly qvel: Float64Array;
  readonly ctrl: Float64Array;
  readonly xpos: Float64Array;
  readonly xquat: Float64Array;
  readonly xmat: Float64Array;
  readonly site_xpos: Float64Array;
  readonly qfrc_constraint: Float64Array;
  readonly actuator_force: Float64Array;
  readonly sensordata: Float64Array;
  delete(): void;
}

let loading: Promise<Mujoco> | null = null;

/** Loads MuJoCo once per thread. It is an optional package. */
export function loadMujoco(): Promise<Mujoco> {
  loading ??= load().catch((cause: unknown) => {
    loading = null;
    throw new TeleopError('native-unavailable', 'MuJoCo is not installed', {
      hint: 'Run `npm install @mujoco/mujoco`.',
      cause,
    });
  });
  return loading;
}

async function load(): Promise<Mujoco> {
  const { default: start } = (await import('@mujoco/mujoco')) as unknown as {
    default: () => Promise<Mujoco>;
  };
  return start();
}
