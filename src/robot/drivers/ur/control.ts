import { randomInt } from 'node:crypto';
import { until } from '../../buses/wait.ts';
import { MAX_STEP_RAD_S, STEP_S, type UrConfig } from './config.ts';
import { RUNTIME_PLAYING } from './modes.ts';
import { type ReverseServer, ReverseSession } from './reverse.ts';
import type { RtdeClient } from './rtde.ts';
import { controlScript } from './script.ts';
import { sendScript } from './script-port.ts';

/** How long our program waits for the first frame before it ends. */
const FIRST_FRAME_S = 2;
const DIAL_TIMEOUT_MS = 4000;
const PLAY_TIMEOUT_MS = 2000;

export interface ControlStart {
  config: UrConfig;
  rtde: RtdeClient;
  server: ReverseServer;
  /** Our address as the robot sees it. */
  host: string;
  closed: () => void;
  signal: AbortSignal;
}

/** Starts our program on the robot and waits until it has connected and runs. It does not move yet. */
export async function startControl(at: ControlStart): Promise<ReverseSession> {
  const { config, rtde, server, host, signal } = at;
  const token = randomInt(1, 2 ** 31 - 1);
  let session: ReverseSession | null = null;
  server.expect(token, (socket) => {
    session = new ReverseSession(socket, at.closed);
  });
  const script = controlScript({
    host,
    port: server.port,
    token,
    stepS: STEP_S[config.series],
    lookaheadS: config.lookaheadS,
    gain: config.gain,
    stopRadS2: config.stopRadS2,
    extrapolateS: config.extrapolateMs / 1000,
    firstFrameS: FIRST_FRAME_S,
    maxStepRadS: MAX_STEP_RAD_S,
  });
  const closeScriptPort = await sendScript(config.host, config.scriptPort, script);
  try {
    const unreachable = () =>
      `the robot does not connect to ${host}:${server.port}: check for a firewall or local control mode`;
    await until(() => session !== null, DIAL_TIMEOUT_MS, unreachable, signal);
    const playing = () => rtde.state.runtimeState === RUNTIME_PLAYING || session?.open === false;
    await until(playing, PLAY_TIMEOUT_MS, () => 'the control program does not start', signal);
    return session!;
  } catch (error) {
    (session as ReverseSession | null)?.destroy();
    throw error;
  } finally {
    server.expectNone();
    closeScriptPort();
  }
}
