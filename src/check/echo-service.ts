import { setImmediate as turn } from 'node:timers/promises';
import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { openProbeSocket, type ProbeSocket } from '../wire/transports/probe-socket.ts';
import { ECHO_BYTES, readEcho, TOS_EF, writeEcho } from './echo-packet.ts';

const WAIT_NS = 50e6;
/** Enough for ten checks at once; anything beyond is treated as a flood and not reflected. */
const MOST_PER_S = 20_000;

export interface EchoService {
  port: number;
  /** Resolves once stopped. */
  done: Promise<{ answered: number; ignored: number }>;
  stop(): void;
}

/**
 * Returns each probe to its sender, with the link's DSCP mark, its own time stamps and the mark the probe had on
 * arrival. Answers valid probes only, and never with more bytes than it received.
 */
export async function serveEcho(host: string, port: number): Promise<EchoService> {
  const socket = await openProbeSocket('udp', host, port, TOS_EF).catch((cause: Error) => {
    if (cause instanceof TeleopError) throw cause;
    throw new TeleopError('port-in-use', `UDP ${host}:${port} cannot be used: ${cause.message}`, {
      hint: 'Use another port for the echo: --echo-port PORT, here and for the check.',
      cause,
    });
  });
  let running = true;
  const run = async () => {
    const counts = { answered: 0, ignored: 0 };
    const allowed = new Allowance(MOST_PER_S);
    while (running) {
      if (socket.wait(WAIT_NS)) answerAll(socket, counts, allowed);
      await turn();
    }
    socket.close();
    return counts;
  };
  return {
    port: socket.port,
    done: run(),
    stop() {
      running = false;
    },
  };
}

class Allowance {
  readonly #perS: number;
  #untilNs = 0;
  #left = 0;

  constructor(perS: number) {
    this.#perS = perS;
  }

  take(nowNs: number): boolean {
    if (nowNs >= this.#untilNs) {
      this.#untilNs = nowNs + 1e9;
      this.#left = this.#perS;
    }
    return this.#left-- > 0;
  }
}

const answer = new Uint8Array(new ArrayBuffer(ECHO_BYTES));

function answerAll(
  socket: ProbeSocket,
  counts: { answered: number; ignored: number },
  allowed: Allowance,
): void {
  for (let got = socket.receive(); got !== null; got = socket.receive()) {
    const probe = readEcho('probe', socket.data, got.length);
    const t2Ns = monotonicClock.nowNs();
    if (probe === null || !allowed.take(t2Ns)) {
      counts.ignored++;
      continue;
    }
    const t1Ns = Number.isNaN(got.kernelNs) ? t2Ns : Math.min(got.kernelNs, t2Ns);
    writeEcho('answer', { ...probe, t1Ns, t2Ns, tos: got.tos }, answer);
    if (socket.send(answer, got.host, got.port)) counts.answered++;
  }
}
