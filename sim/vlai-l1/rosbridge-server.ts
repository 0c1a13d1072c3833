import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { parseJson } from '../../src/core/parse-json.ts';
import { type DualArm, JOINT_NAMES, type Side } from './dual-arm.ts';

const STATE_TOPICS: Record<string, Side> = {
  '/xarm_left/joint_states': 'left',
  '/xarm_right/joint_states': 'right',
};

const MAX_TEXT_BYTES = 65_536;
const messageSchema = z.object({
  ...{ op: z.string(), topic: z.string().default(''), service: z.string().default('') },
  ...{ id: z.string().optional(), msg: z.object({ data: z.unknown() }).optional() },
});

/** A rosbridge server (JSON, protocol version 2) in front of two arms: as much of it as its clients need. */
export class RosbridgeServer {
  readonly #server: WebSocketServer;
  readonly #dual: DualArm;
  readonly #subscribers = new Map<WebSocket, Set<string>>();

  private constructor(server: WebSocketServer, dual: DualArm) {
    this.#server = server;
    this.#dual = dual;
    server.on('connection', (socket) => {
      this.#subscribers.set(socket, new Set());
      socket.on('close', () => this.#subscribers.delete(socket));
      socket.on('error', () => {});
      socket.on('message', (data) => this.#take(socket, String(data)));
    });
  }

  static open(dual: DualArm, port: number): Promise<RosbridgeServer> {
    const server = new WebSocketServer({ host: '127.0.0.1', port });
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.once('listening', () => resolve(new RosbridgeServer(server, dual)));
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Sends joint states to the subscribers. */
  publish(): void {
    for (const [topic, side] of Object.entries(STATE_TOPICS)) {
      const { positionsRad, velocitiesRadS } = this.#dual.arms[side];
      const msg = {
        header: { stamp: { sec: 0, nanosec: 0 }, frame_id: '' },
        name: JOINT_NAMES,
        position: [...positionsRad],
        velocity: [...velocitiesRadS],
        effort: [],
      };
      const text = JSON.stringify({ op: 'publish', topic, msg });
      for (const [socket, topics] of this.#subscribers) if (topics.has(topic)) socket.send(text);
    }
  }

  /** Sends any text to every client, for tests. */
  broadcast(text: string): void {
    for (const socket of this.#subscribers.keys()) socket.send(text);
  }

  close(): void {
    for (const socket of this.#subscribers.keys()) socket.terminate();
    this.#server.close();
  }

  #take(socket: WebSocket, text: string): void {
    const message = parseJson(text, messageSchema, MAX_TEXT_BYTES);
    if (typeof message === 'string') return void this.#dual.rejected++;
    const { op, topic, id, msg, service } = message;
    if (op === 'subscribe') this.#subscribers.get(socket)?.add(topic);
    else if (op === 'unsubscribe') this.#subscribers.get(socket)?.delete(topic);
    else if (op === 'publish') this.#publish(topic, msg?.data);
    else if (op === 'call_service' && service === '/robot_go_home') {
      this.#dual.goHome();
      const values = { success: true, message: '' };
      socket.send(
        JSON.stringify({ op: 'service_response', id, service: '/robot_go_home', values, result: true }),
      );
    } else if (op !== 'advertise' && op !== 'unadvertise')
      socket.send(JSON.stringify({ op: 'status', level: 'error', msg: `unknown op ${op}` }));
  }

  #publish(topic: string, data: unknown): void {
    if (topic === '/dual_xarm/joints') this.#dual.joints(data);
    else if (topic === '/dual_xarm/gripperpos') this.#dual.gripper(data);
    else if (topic === '/chassis/cmd' && typeof data === 'string') this.#dual.chassis.push(data);
    else this.#dual.rejected++;
  }
}
