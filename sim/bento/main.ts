import { createSocket, type Socket } from 'node:dgram';
import { type Given, numberOption, type OptionSpec } from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { DEFAULT_FRAME_RATE, DEFAULT_LIMITS, SCENES } from '../../src/robot/drivers/bento/arm-facts.ts';
import {
  BRACHIOPLEXUS_FROM_ARM_PORT,
  BRACHIOPLEXUS_MAX_BYTES,
  BRACHIOPLEXUS_PERIOD_MS,
  BRACHIOPLEXUS_TO_ARM_PORT,
  emptyBrachioplexus,
  encodeBrachioplexus,
  PACKET,
} from '../../src/robot/drivers/bento/brachioplexus-codec.ts';
import type { BentoPageRequest } from './bento-view.ts';
import { createKinematicWorld } from './kinematic-world.ts';
import { loadMujoco } from './mujoco-world.ts';
import { type PageServer, servePage } from './page-server.ts';
import { BentoSimulation } from './simulation.ts';
import type { MakeWorld } from './world.ts';

export const about =
  'The Virtual Bento arm: Unity’s side of brachIOplexus, its six scenes with real physics.';
export const details = `Receives scene, control and update packets, sends feedback every 15 ms once a scene is
loaded. The original has no dead-man switch: --dead-man-ms 0 for exact parity. \`--page 4757\` serves a page that
shows the scene and drives the joints by keys. See docs/drivers/bento.md.`;
export const examples = ['farhand sim bento', 'farhand sim bento --page 4757'];

export const options: Record<string, OptionSpec> = {
  port: {
    type: 'string',
    value: 'PORT',
    about: `UDP port for control (default ${BRACHIOPLEXUS_TO_ARM_PORT})`,
  },
  host: { type: 'string', value: 'HOST', about: 'address to listen on (default 127.0.0.1)' },
  'feedback-port': {
    type: 'string',
    value: 'PORT',
    about: `where feedback goes (default ${BRACHIOPLEXUS_FROM_ARM_PORT})`,
  },
  'feedback-host': { type: 'string', value: 'HOST', about: 'where feedback goes (default 127.0.0.1)' },
  'dead-man-ms': {
    type: 'string',
    value: 'MS',
    about: 'stop all joints after this long without control packets; 0: never (default 200)',
  },
  scene: { type: 'string', value: 'N', about: 'start with scene 1 to 6 instead of waiting for a packet' },
  physics: { type: 'string', value: 'KIND', about: 'auto (default), mujoco, or none: only the arm' },
  page: { type: 'boolean', about: 'serve the page; a port may follow (default 4757, 0: any)' },
};

const DEFAULT_DEAD_MAN_MS = 200;
const DEFAULT_PAGE_PORT = 4757;
const STEP_MS = 3;
const nowNs = () => monotonicClock.nowNs();

export async function run(given: Given, stop: AbortSignal): Promise<number> {
  const port = numberOption(given, 'port', 0, 65_535) ?? BRACHIOPLEXUS_TO_ARM_PORT;
  const host = String(given.values['host'] ?? '127.0.0.1');
  const feedbackPort = numberOption(given, 'feedback-port', 1, 65_535) ?? BRACHIOPLEXUS_FROM_ARM_PORT;
  const feedbackHost = String(given.values['feedback-host'] ?? '127.0.0.1');
  const deadManMs = numberOption(given, 'dead-man-ms', 0, 60_000) ?? DEFAULT_DEAD_MAN_MS;
  const scene = numberOption(given, 'scene', 0, SCENES.length - 1) ?? 0;
  const pagePort = pageOf(given);
  const { make, without } = await chooseWorld(String(given.values['physics'] ?? 'auto'));
  const simulation = new BentoSimulation(make, without, deadManMs);
  const socket = await bind(host, port);
  const desk = new Desk(simulation, socket, feedbackHost, feedbackPort);
  if (scene > 0) desk.ask({ kind: 'scene', index: scene });
  const page =
    pagePort === null ? null : await servePage(pagePort, simulation, nowNs, (request) => desk.ask(request));
  const timer = setInterval(() => desk.pass(), STEP_MS);
  console.log(readyLine(socket.address().port, `${feedbackHost}:${feedbackPort}`, without, deadManMs, page));
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener('abort', () => resolve(), { once: true });
  });
  clearInterval(timer);
  await page?.close();
  socket.close();
  simulation.dispose();
  console.log(
    JSON.stringify({
      deadManStops: simulation.deadManStops,
      refused: Object.fromEntries(simulation.refused),
    }),
  );
  return 0;
}

/** The socket, the page's keys and the clock on one side, the simulation on the other. */
class Desk {
  readonly #simulation: BentoSimulation;
  readonly #socket: Socket;
  readonly #host: string;
  readonly #port: number;
  readonly #reply = new Uint8Array(BRACHIOPLEXUS_MAX_BYTES);
  readonly #packet = emptyBrachioplexus();
  readonly #asked = new Uint8Array(BRACHIOPLEXUS_MAX_BYTES);
  #feedbackNs = nowNs();

  constructor(simulation: BentoSimulation, socket: Socket, host: string, port: number) {
    this.#simulation = simulation;
    this.#socket = socket;
    this.#host = host;
    this.#port = port;
    socket.on('message', (bytes) => this.#receive(bytes, bytes.length));
    socket.on('error', () => {});
  }

  /** Page requests are handled like a controller's packets. */
  ask(request: BentoPageRequest): void {
    const packet = this.#packet;
    if (request.kind === 'scene') {
      packet.type = PACKET.scene;
      packet.sceneIndex = request.index;
      packet.frameRate = DEFAULT_FRAME_RATE;
      packet.camera.fill(0);
      packet.limits.set(DEFAULT_LIMITS);
    } else {
      packet.type = PACKET.control;
      packet.states.set(request.states);
      packet.speeds.set(request.speeds);
    }
    this.#receive(this.#asked, encodeBrachioplexus(packet, this.#asked));
  }

  pass(): void {
    const now = nowNs();
    this.#simulation.advance(now);
    if (now < this.#feedbackNs) return;
    const periodNs = BRACHIOPLEXUS_PERIOD_MS * 1e6;
    this.#feedbackNs = Math.max(this.#feedbackNs + periodNs, now);
    this.#send(this.#simulation.feedback(this.#reply));
  }

  #receive(bytes: Uint8Array, length: number): void {
    this.#send(this.#simulation.receive(bytes, length, nowNs(), this.#reply));
  }

  /** Sent to a fixed address, as in the original, not back to the sender. A missing receiver is ignored. */
  #send(length: number): void {
    if (length > 0) this.#socket.send(this.#reply.slice(0, length), this.#port, this.#host, () => {});
  }
}

async function chooseWorld(kind: string): Promise<{ make: MakeWorld; without: string | null }> {
  if (kind === 'none') return { make: createKinematicWorld, without: 'switched off' };
  if (kind !== 'auto' && kind !== 'mujoco')
    throw new TeleopError('bad-option', `--physics ${kind} is neither auto, mujoco nor none`, {
      hint: 'Leave it out: physics is on if MuJoCo is installed.',
    });
  try {
    return { make: await loadMujoco(), without: null };
  } catch (cause) {
    const why = `cannot load @mujoco/mujoco: ${(cause as Error).message.split('\n')[0]}`;
    if (kind === 'mujoco')
      throw new TeleopError('native-unavailable', why, { hint: 'Run `npm install @mujoco/mujoco`.', cause });
    return { make: createKinematicWorld, without: why };
  }
}

function pageOf(given: Given): number | null {
  const [word, more] = given.words;
  const port = Number(word ?? DEFAULT_PAGE_PORT);
  const isWanted = given.values['page'] === true;
  if (
    more !== undefined ||
    (word !== undefined && !isWanted) ||
    !Number.isInteger(port) ||
    port < 0 ||
    port > 65_535
  )
    throw new TeleopError('bad-option', `sim bento: unexpected argument "${more ?? word}"`, {
      hint: 'A port may follow --page: --page 4757',
    });
  return isWanted ? port : null;
}

function bind(host: string, port: number): Promise<Socket> {
  const socket = createSocket('udp4');
  return new Promise((resolve, reject) => {
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      const message = `cannot open UDP ${host}:${port}: ${taken ? 'the port is in use' : error.message}`;
      const hint = taken
        ? 'Is Unity or another simulator running? Choose another with --port.'
        : 'Check --host.';
      reject(new TeleopError(taken ? 'port-in-use' : 'socket-failed', message, { hint, cause: error }));
    });
    socket.bind(port, host, () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}

function readyLine(
  port: number,
  feedback: string,
  without: string | null,
  deadManMs: number,
  page: PageServer | null,
): string {
  const physics = without === null ? 'MuJoCo' : `none (${without}): objects do not move`;
  const deadMan = deadManMs === 0 ? 'off' : `${deadManMs} ms`;
  const shown = page === null ? '' : `, page ${page.url}`;
  return `bento ready: control on ${port}, feedback to ${feedback}, physics ${physics}, dead man ${deadMan}${shown}`;
}
