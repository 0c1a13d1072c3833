import { parentPort, workerData } from 'node:worker_threads';
import { TeleopError } from '../../core/errors.ts';
import type { FleetEvent } from '../../fleet/messages.ts';
import { type OpenedLink, OperatorAgent, type OperatorAgentStart } from '../../fleet/operator-agent.ts';
import { RobotAgent, type RobotAgentStart } from '../../fleet/robot-agent.ts';
import type { Flags } from '../../messages/role-flags.ts';
import { requestShortSlice } from '../../native/short-slice.ts';
import { loadRtc } from '../../wire/transports/webrtc.ts';
import type { FailedMessage } from '../worker-host.ts';

/** The thread of a fleet agent: broker and peer connection, separate from the role's own threads. */
export type AgentStart =
  | { role: 'robot'; start: RobotAgentStart }
  | { role: 'operator'; start: OperatorAgentStart };

/** To the agent. */
export type AgentRequest =
  | { kind: 'transition'; event: Omit<FleetEvent, 'kind' | 'atMs'> }
  | { kind: 'watch'; memory: Flags }
  | { kind: 'hand-over'; yes: boolean }
  | { kind: 'close' };

/** From the agent. */
export type AgentMessage =
  | { kind: 'ready'; role: 'robot'; name: string }
  | { kind: 'ready'; role: 'operator'; opened: OpenedLink }
  | { kind: 'requested'; from: string }
  | { kind: 'ended'; reason: string }
  | FailedMessage
  | { kind: 'closed' };

const port = parentPort!;
const post = (message: AgentMessage) => port.postMessage(message);

async function openAgent(): Promise<RobotAgent | OperatorAgent> {
  // Every command and state of the session passes through this thread.
  await requestShortSlice();
  const given = workerData as AgentStart;
  if (given.role === 'robot') {
    const agent = await RobotAgent.open(given.start, (reason) => post({ kind: 'ended', reason }));
    post({ kind: 'ready', role: 'robot', name: agent.name });
    return agent;
  }
  const { agent, opened } = await OperatorAgent.open(given.start, {
    ended: (reason) => post({ kind: 'ended', reason }),
    requested: (from) => post({ kind: 'requested', from }),
  });
  post({ kind: 'ready', role: 'operator', opened });
  return agent;
}

const opening = openAgent();
opening.catch((error: unknown) => {
  const known = error instanceof TeleopError ? error : null;
  const message = known?.message ?? String(error);
  post({ kind: 'failed', code: known?.code ?? 'child-failed', message, hint: known?.hint ?? '' });
  void finish();
});

port.on('message', async (request: AgentRequest) => {
  const agent = await opening.catch(() => null);
  if (agent instanceof RobotAgent && request.kind === 'transition') agent.transition(request.event);
  else if (agent instanceof OperatorAgent && request.kind === 'watch') agent.watch(request.memory);
  else if (agent instanceof OperatorAgent && request.kind === 'hand-over') await agent.handOver(request.yes);
  else if (request.kind === 'close') {
    await agent?.close();
    await finish();
  }
});

async function finish(): Promise<void> {
  (await loadRtc().catch(() => null))?.cleanup();
  post({ kind: 'closed' });
  port.close();
}
