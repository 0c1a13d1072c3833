import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FrameSenderConfig } from '../../camera/channel/frame-sender.ts';
import { TeleopError } from '../../core/errors.ts';
import { isLoopback } from '../../core/loopback.ts';
import { packageVersion } from '../../files/package-root.ts';
import { stateFolder } from '../../files/state-folder.ts';
import { refusePlainBroker } from '../../fleet/broker-tls.ts';
import { readCredentials } from '../../fleet/connection.ts';
import { flatName } from '../../fleet/subjects.ts';
import type { RoleReady } from '../../messages/role-report.ts';
import { cameraNames, frameReceiverConfig, frameSenderConfig } from '../../rig/camera-channel.ts';
import type { Rig } from '../../rig/rig.ts';
import { rigModel } from '../../rig/robot-models.ts';
import { createKey } from '../../wire/secure/key-file.ts';
import type { RoleHandle } from '../role.ts';
import { AgentThread } from './agent-thread.ts';
import type { AgentRequest } from './agent-worker.ts';

/** What a role needs to take part in a fleet, and what runs beside it. */
export interface Companion {
  /** The rig that the role runs with. */
  rig: Rig;
  keys: Uint8Array[];
  /** Called when the role runs. Resolves with a line to print; rejects when it cannot take part. */
  started(handle: RoleHandle, info: RoleReady): Promise<string>;
  transition(event: Extract<AgentRequest, { kind: 'transition' }>['event']): void;
  /** Resolves with the reason when it ends by itself: the role then ends too. */
  ended: Promise<string>;
  close(): Promise<void>;
}

export interface FleetAccess {
  url: string;
  credentials: string;
}

const refuseZmq = (rig: Rig): void => {
  if (rig.link.transport !== 'zmq') return;
  throw new TeleopError('bad-config', 'a fleet carries the link over WebRTC, not over ZeroMQ', {
    hint: 'Remove link.transport: the default works.',
  });
};

/**
 * What recordings and reports state about the link; on this machine the roles use UDP to reach their agent.
 */
const WEBRTC = { transport: 'webrtc', security: 'paired' } as const;

/** Beside a robot. Its ports are on loopback, with a key of this process alone: the agent is the only way in. */
export async function robotCompanion(rig: Rig, access: FleetAccess, name: string): Promise<Companion> {
  refuseZmq(rig);
  refusePlainBroker(access.url, rig.fleet.plainBeyondLoopback);
  if (!isLoopback(rig.link.listenHost))
    throw new TeleopError('bad-config', 'a fleet robot must not listen on the network', {
      hint: 'Remove link.listenHost, or run without --fleet.',
    });
  // Now, while nothing runs yet; the agent reads them again.
  readCredentials(access.credentials);
  const key = createKey();
  let agent: AgentThread | null = null;
  let end: (reason: string) => void = () => {};
  const ports = { commandPort: 0, statePort: 0, syncPort: 0 };
  const link = { ...rig.link, ...ports, ...WEBRTC, robotHost: '127.0.0.1' };
  const network = rig.robot.network === '' ? 'fleet' : rig.robot.network;
  const run: Rig = { ...rig, link, robot: { ...rig.robot, network } };
  const host = rig.cameras.listenHost || '127.0.0.1';
  const cameras =
    cameraNames(rig).length === 0
      ? null
      : frameReceiverConfig({ ...run, cameras: { ...rig.cameras, host } }, [key]);
  return {
    rig: run,
    keys: [key],
    async started({ memory }, { ports }) {
      const model = path.basename(rig.model);
      const { joints } = rigModel(rig);
      const about = { name, model, version: packageVersion(), joints: joints.length };
      agent = new AgentThread({
        role: 'robot',
        start: {
          ...access,
          ...about,
          ports: ports.slice(0, 3),
          key,
          memory,
          config: rig.fleet,
          cameras,
          rig: run,
          leaseFolder: path.join(stateFolder(), 'fleet', 'leases'),
          pageOperatorEntry: fileURLToPath(new URL('./page-operator-entry.js', import.meta.url)),
        },
      });
      void agent.ended.then(end);
      const ready = await agent.ready;
      return `on the fleet at ${access.url}${ready.role === 'robot' ? ` as ${ready.name}` : ''}`;
    },
    transition: ({ from, to, cause }) => agent?.send({ kind: 'transition', event: { from, to, cause } }),
    ended: new Promise((resolve) => {
      end = resolve;
    }),
    async close() {
      await agent?.close();
    },
  };
}

export interface OperateOptions {
  /** Asks the current holder for the robot. */
  askHolder?: boolean;
  /** Another operator requests the robot; `answer` hands it over or keeps it. */
  requested?: (from: string, answer: (yes: boolean) => void) => void;
  /** Local port that receives the robot's sound; no sound without it. */
  audioPort?: number | undefined;
}

/** Beside an operator: first takes the robot's lease and connects to it. */
export async function operatorCompanion(
  rig: Rig,
  access: FleetAccess,
  robot: string,
  { audioPort, askHolder = false, requested = () => {} }: OperateOptions = {},
): Promise<Companion> {
  refuseZmq(rig);
  refusePlainBroker(access.url, rig.fleet.plainBeyondLoopback);
  const sdpFile = path.join(stateFolder(), 'fleet', `${flatName(robot)}.sdp`);
  const audio = audioPort === undefined ? null : { port: audioPort, sdpFile };
  const cameras = { ...rig.cameras, host: '127.0.0.1', listenHost: '127.0.0.1', security: 'plain' as const };
  const media = { audio, cameras: passedOn({ ...rig, cameras }) };
  const agent: AgentThread = new AgentThread(
    { role: 'operator', start: { ...access, robot, config: rig.fleet, askHolder, ...media } },
    (from) => requested(from, (yes) => agent.send({ kind: 'hand-over', yes })),
  );
  try {
    const ready = await agent.ready;
    if (ready.role !== 'operator') throw new Error('not an operator');
    const { ports, key, model, path: route } = ready.opened;
    if (path.basename(rig.model) !== model)
      throw new TeleopError('model-mismatch', `${robot} is a ${model}, not a ${path.basename(rig.model)}`, {
        hint: `Use a rig for that robot: --rig NAME, or model=${model}.`,
      });
    const [commandPort = 0, statePort = 0, syncPort = 0] = ports;
    const here = { robotHost: '127.0.0.1', ...WEBRTC };
    return {
      rig: { ...rig, cameras, link: { ...rig.link, ...here, commandPort, statePort, syncPort } },
      keys: [key],
      async started({ memory }) {
        agent.send({ kind: 'watch', memory: { flags: memory.flags } });
        const sound =
          audio === null ? '' : `\n  sound: ffplay -protocol_whitelist file,udp,rtp -i ${audio.sdpFile}`;
        return `drives ${robot} over WebRTC (${route || 'path unknown'})${sound}`;
      },
      transition: () => {},
      ended: agent.ended,
      close: () => agent.close(),
    };
  } catch (error) {
    await agent.close();
    throw error;
  }
}

/** Forwards the robot's pictures to the rig's camera channel on this machine. */
function passedOn(rig: Rig): FrameSenderConfig | null {
  return cameraNames(rig).length === 0 ? null : { ...frameSenderConfig(rig), sendTo: [] };
}
