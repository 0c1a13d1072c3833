import type { Box, RobotModel } from '../geometry/robot-model.ts';
import type { EpisodeInfo, EpisodeRow } from './recording.ts';
import type { WorldTelemetry } from './telemetry.ts';

/** Server → page, first message on every connection. */
export interface ConsoleHello {
  kind: 'hello';
  model: RobotModel;
  token: string | null;
  /** Name of the rig. */
  rig?: string;
  scene?: ConsoleScene;
  /** Views that can be opened at `/camera?name=`. */
  cameras?: string[];
  /** Names of the left and the right camera of a stereo pair; empty: none. */
  stereo?: string[];
  /** Both arms of a rig of two, left before right; `model` is then the right one’s. */
  arms?: ConsoleArm[];
  /** Meshes that show the links of `model`; without any, its collision shapes do. */
  meshes?: ConsoleMesh[];
}

export const MESH_FORMATS = ['stl', 'obj', 'dae', 'glb'] as const;
export type MeshFormat = (typeof MESH_FORMATS)[number];

/** A mesh of a link, in chain frame `frame` (0 = base … joints = flange). */
export interface ConsoleMesh {
  frame: number;
  origin: RobotModel['tool'];
  scale: [number, number, number];
  /** `#rrggbb`; null: that of the mesh. */
  colour: string | null;
  format: MeshFormat;
  /** Where the page gets it, relative to the page. */
  url: string;
}

/** One arm of two. */
export interface ConsoleArm {
  side: 'left' | 'right';
  model: RobotModel;
  /** Of its base, in the frame that both arms share. */
  base: RobotModel['tool'];
}

/** What stands around the arm, in its base frame. */
export interface ConsoleScene {
  /** Height of the table or floor that the arm may not touch; null: not watched. */
  groundZM: number | null;
  obstacles: ({ name: string } & Box)[];
  /** Clearances at which the arm slows down and stops approaching. */
  slowdownM: number;
  stopM: number;
}

/** The emulated link of a demo, and the available profiles. */
export interface DemoLink {
  profile: string;
  profiles: { name: string; about: string }[];
}

/** Server → page, at the start and on every change; only in a demo. */
export interface LinkEvent {
  kind: 'link';
  link: DemoLink;
}

/** Page → console: answered by the console itself. */
export interface LinkRequest {
  kind: 'link';
  profile: string;
}

/** Server → page while an export runs, and once when it ends. */
export interface ExportEvent {
  kind: 'export';
  job: ExportJob;
}

/** A dataset beside the recordings. */
export interface DatasetEntry {
  name: string;
  fps: number;
  episodes: number;
  rows: number;
}

export interface ExportJob {
  state: 'idle' | 'running' | 'done' | 'failed';
  format: string;
  /** Destination folder. */
  out: string;
  /** 0 … 1; null while the export does not report it. */
  progress: number | null;
  /** Its last progress message, or why it failed. */
  message: string;
}

/** Server → page while a recording is replayed on the robot, and once when it ends. */
export interface ReplayEvent {
  kind: 'replay';
  job: ReplayJob;
}

export interface ReplayJob {
  /** `stopped`: a person ended it. */
  state: 'idle' | 'running' | 'done' | 'stopped' | 'failed';
  episode: string;
  /** 1: as recorded. */
  speed: number;
  doneS: number;
  /** 0 until the robot is at the first pose. */
  totalS: number;
  /** What it does, how it ended, or why it failed. */
  message: string;
}

/** Page → console. Anybody may stop a replay; only a page in control may start one. */
export type ReplayRequest =
  | { kind: 'replay'; action: 'start'; episode: string; speed: number }
  | { kind: 'replay'; action: 'stop' };

/** `GET /api/episodes`. */
export interface EpisodeList {
  /** Folder of the recordings; null: this rig does not record. */
  dir: string | null;
  episodes: EpisodeInfo[];
  /** What is unusual about an episode compared with the others, by id; absent: nothing. */
  marks: Record<string, string[]>;
}

/** `POST /api/episodes`, answered with the new list. `restore` undoes the other two. */
export type EpisodeEdit =
  | { edit: 'delete' | 'restore'; id: string }
  /** Keeps what was recorded between the two times. */
  | { edit: 'trim'; id: string; fromS: number; toS: number };

/** `GET /api/episodes/<id>`: enough rows to draw, not necessarily all. */
export interface EpisodeView {
  info: EpisodeInfo;
  rows: EpisodeRow[];
  /** The simulated world; absent: it had none. */
  world?: WorldMoment[];
}

/** A simulated world in a recording. */
export interface WorldMoment {
  /** Since the first row of the episode. */
  timeNs: number;
  world: WorldTelemetry;
}

/** The doctor's findings; as in `farhand doctor --json`. */
export interface Finding {
  name: string;
  verdict: 'good' | 'note' | 'bad';
  found: string;
  why: string;
  fix: string;
}

/** `GET /api/doctor`. */
export interface DoctorReport {
  findings: Finding[];
  tookS: number;
  /** Why there are no results; empty otherwise. */
  failure: string;
}

/** An input device, whether or not the rig offers it. */
export interface InputReport {
  name: string;
  about: string;
  offered: boolean;
  /** Where it listens, `udp 0.0.0.0:45500`; empty if it does not listen or is not offered. */
  listens: string[];
  /** How to enable it; empty when it is offered. */
  missing: string;
}

/** `GET /api/robots`: a robot that announces itself on the local network. Being listed grants nothing. */
export interface NearbyRobot {
  name: string;
  /** Name of its machine. */
  host: string;
  addresses: string[];
  commandPort: number;
  statePort: number;
  syncPort: number;
  /** Starts an operator for it. */
  command: string;
}

/** `GET /api/devices`: what does not change while the console runs; the rest is in the telemetry. */
export interface DeviceReport {
  inputs: InputReport[];
  robot: { model: string; driver: string; about: string; host: string; transport: string; security: string };
  cameras: { name: string; source: string; fpsHz: number; widthPx: number; heightPx: number }[];
}
