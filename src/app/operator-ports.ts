import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfigEntry } from '../core/config.ts';
import { armRigs } from '../rig/arms.ts';
import type { LoadedRig } from '../rig/rig.ts';
import { isFreeUdp } from '../wire/transports/free-ports.ts';
import { inputSockets } from './open-operator.ts';

const LOOPBACK = '127.0.0.1';
const STEP = 100;
const MOST = 20;

/** In the abstract name space of Linux: it ends with its process, and is only seen in one network. */
const GATE = '\0farhand-operator-ports';
const GATE_WAIT_MS = 20_000;
const LOOK_MS = 50;

/**
 * Held from choosing ports until they are bound: two operators that start together would choose the same. Resolves with
 * what ends it; after a while without it, because the other may hang.
 */
export async function portGate(): Promise<() => void> {
  for (let waitedMs = 0; process.platform === 'linux' && waitedMs < GATE_WAIT_MS; waitedMs += LOOK_MS) {
    const server = createServer();
    const isMine = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(GATE, () => resolve(true));
    });
    if (isMine) return () => void server.close();
    await sleep(LOOK_MS);
  }
  return () => {};
}

interface OwnPort {
  key: string;
  port: number;
}

/**
 * Settings that give an operator ports of its own while another one on this machine has the rig's: for its desk and
 * telemetry, which move together, and for inputs from this machine. Empty if they are free. Ports from the command line
 * stay, and so do those at which devices on the network send.
 */
export async function ownPorts({ config, entries }: LoadedRig): Promise<string[]> {
  const { deskPort, telemetryPort } = config.console;
  const inputs = (await Promise.all(armRigs(config).map(({ rig }) => inputSockets(rig)))).flat();
  const desk = [
    { key: 'console.deskPort', port: deskPort },
    { key: 'console.telemetryPort', port: telemetryPort },
  ];
  const local = inputs.flatMap(({ host, port, tcp, portKey }) =>
    host === LOOPBACK && portKey !== undefined && !tcp ? [{ key: portKey, port }] : [],
  );
  const isFixed = ({ key, port }: OwnPort) => port === 0 || isChosen(entries, key);
  const groups = [
    desk.filter((each) => !isFixed(each)),
    ...local.filter((each) => !isFixed(each)).map((each) => [each]),
  ];
  return (await Promise.all(groups.map(moved))).flat().map(({ key, port }) => `${key}=${port}`);
}

/** The same ports a number of steps up, where all of them are free; none if they are free as they are. */
async function moved(ports: readonly OwnPort[]): Promise<OwnPort[]> {
  for (let step = 0; step < MOST; step++) {
    const there = ports.map(({ key, port }) => ({ key, port: port + STEP * step }));
    const areFree = await Promise.all(there.map(({ port }) => isFreeUdp(port)));
    if (areFree.every(Boolean)) return step === 0 ? [] : there;
  }
  return [];
}

const isChosen = (entries: readonly ConfigEntry[], key: string): boolean =>
  entries.some((entry) => entry.key === key && entry.source === 'command line');
