import { createSocket, type Socket } from 'node:dgram';
import { parentPort, workerData } from 'node:worker_threads';
import type { PeerConnection } from 'node-datachannel';
import { type OpenedLink, OperatorAgent, type OperatorAgentStart } from '../../src/fleet/operator-agent.ts';
import { loadRtc } from '../../src/wire/transports/webrtc.ts';

/** A thread with an operator agent whose path to the robot can be cut. Takes `cut`, `close` or a role's flags. */
export type CutEvent =
  | { kind: 'opened'; opened: OpenedLink }
  | { kind: 'ended'; reason: string }
  | { kind: 'closed' };

/** Carries all traffic of this process's peer connections, and can be cut. */
class Cable {
  readonly #sockets: Socket[] = [];
  opened = 0;

  /** WebRTC whose connections reach the other end only through this cable and announce no address of their own. */
  async between(): Promise<Awaited<ReturnType<typeof loadRtc>>> {
    const rtc = await loadRtc();
    const open = (...args: ConstructorParameters<typeof rtc.PeerConnection>) =>
      this.#wrapped(new rtc.PeerConnection(...args));
    return new Proxy(rtc, {
      get: (module, name) => (name === 'PeerConnection' ? constructs(open) : Reflect.get(module, name)),
    });
  }

  /** Connections opened so far no longer send or receive anything. */
  cut(): void {
    for (const socket of this.#sockets) socket.removeAllListeners('message');
  }

  close(): void {
    for (const socket of this.#sockets) socket.close();
  }

  #wrapped(connection: PeerConnection): PeerConnection {
    this.opened++;
    const local = () => {
      const found = connection.localDescription();
      return found && { ...found, sdp: found.sdp.replace(/a=candidate:.*\r\n/g, '') };
    };
    const near = (text: string) =>
      text.replace(/(candidate:\S+ 1 UDP \d+ 127\.0\.0\.1) (\d+)/i, (_, before: string, target: string) => {
        const port = 15_000 + Math.floor(Math.random() * 15_000);
        this.#relay(port, Number(target));
        return `${before} ${port}`;
      });
    const remote = (sdp: string, type: 'offer' | 'answer') =>
      connection.setRemoteDescription(near(sdp), type);
    const candidate = (text: string, mid: string) => {
      if (text.includes('127.0.0.1')) connection.addRemoteCandidate(near(text), mid);
    };
    return new Proxy(connection, {
      get(native, name) {
        if (name === 'localDescription') return local;
        if (name === 'setRemoteDescription') return remote;
        if (name === 'addRemoteCandidate') return candidate;
        const value = Reflect.get(native, name) as unknown;
        return typeof value === 'function' ? value.bind(native) : value;
      },
    });
  }

  #relay(port: number, target: number): void {
    const [near, far] = [createSocket('udp4'), createSocket('udp4')];
    this.#sockets.push(near, far);
    let from = 0;
    near.bind(port, '127.0.0.1');
    far.bind(0, '127.0.0.1');
    near.on('message', (bytes, { port: source }) => {
      from = source;
      far.send(bytes, target, '127.0.0.1', () => {});
    });
    far.on('message', (bytes) => near.send(bytes, from, '127.0.0.1', () => {}));
  }
}

/** `new` of it calls the function. */
const constructs = <A extends unknown[], T extends object>(make: (...args: A) => T) =>
  function construct(...args: A): T {
    return make(...args);
  };

const post = (event: CutEvent) => parentPort!.postMessage(event);
const cable = new Cable();
const opening = OperatorAgent.open(
  workerData as OperatorAgentStart,
  { ended: (reason) => post({ kind: 'ended', reason }), requested() {} },
  await cable.between(),
);
parentPort!.on('message', async (order: 'cut' | 'close' | { flags: SharedArrayBuffer }) => {
  const { agent } = await opening;
  if (order === 'cut') cable.cut();
  else if (order !== 'close') agent.watch(order);
  else {
    await agent.close();
    cable.close();
    (await loadRtc()).cleanup();
    post({ kind: 'closed' });
    parentPort!.close();
  }
});
const { opened } = await opening;
post({ kind: 'opened', opened });
