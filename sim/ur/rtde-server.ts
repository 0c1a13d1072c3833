import { createServer, type Server, type Socket } from 'node:net';
import type { UrController } from './controller.ts';
import { outputValue, type RtdeType, TYPE_BYTES, typeOfInput, typeOfOutput } from './rtde-variables.ts';

const MAX_MESSAGE_BYTES = 4096;
/** A client with more unread bytes than this is too slow and is dropped. */
const MAX_UNREAD_BYTES = 1 << 16;
const VERSIONS = { cb3: [3, 15, 8, 106339], e: [5, 12, 2, 1101534] } as const;

/** Port 30004. `step` sends each client the values of its recipe. */
export class RtdeServer {
  readonly server: Server;
  readonly #controller: UrController;
  readonly #clients = new Set<RtdeClientSession>();
  /** For tests: clients stay connected but receive nothing. */
  silent = false;

  constructor(controller: UrController) {
    this.#controller = controller;
    this.server = createServer({ noDelay: true }, (socket) => {
      const client = new RtdeClientSession(socket, controller, this.#inputsInUse);
      this.#clients.add(client);
      socket.on('close', () => this.#clients.delete(client));
    });
  }

  step(count: number): void {
    if (!this.silent) for (const client of this.#clients) client.step(count, this.#controller);
  }

  readonly #inputsInUse = (name: string): boolean =>
    [...this.#clients].some((client) => client.inputs.includes(name));
}

class RtdeClientSession {
  readonly #socket: Socket;
  readonly #controller: UrController;
  readonly #inUse: (name: string) => boolean;
  inputs: string[] = [];
  #inputTypes: RtdeType[] = [];
  #outputs: string[] = [];
  #outputTypes: RtdeType[] = [];
  #every = 1;
  #started = false;
  #held = Buffer.alloc(0);

  constructor(socket: Socket, controller: UrController, inUse: (name: string) => boolean) {
    this.#socket = socket;
    this.#controller = controller;
    this.#inUse = inUse;
    socket.on('error', () => {});
    socket.on('data', (chunk) => this.#feed(chunk));
  }

  step(count: number, controller: UrController): void {
    if (!this.#started || count % this.#every !== 0) return;
    if (this.#socket.writableLength > MAX_UNREAD_BYTES) return void this.#socket.destroy();
    const values = this.#outputs.map((name, i) =>
      encode(this.#outputTypes[i]!, outputValue(controller, name, this.#outputTypes[i]!)),
    );
    this.#send(0x55, Buffer.concat([Buffer.of(1), ...values]));
  }

  #feed(chunk: Buffer): void {
    this.#held = Buffer.concat([this.#held, chunk]);
    while (this.#held.length >= 3) {
      const bytes = this.#held.readUInt16BE(0);
      if (bytes < 3 || bytes > MAX_MESSAGE_BYTES) return void this.#socket.destroy();
      if (this.#held.length < bytes) return;
      this.#answer(this.#held[2]!, this.#held.subarray(3, bytes));
      this.#held = this.#held.subarray(bytes);
    }
  }

  #answer(type: number, payload: Buffer): void {
    if (type === 0x56)
      this.#send(type, Buffer.of(payload.length === 2 && payload.readUInt16BE(0) === 2 ? 1 : 0));
    else if (type === 0x76) this.#send(type, ints(VERSIONS[this.#controller.series]));
    else if (type === 0x4f && payload.length >= 8) this.#setOutputs(payload);
    else if (type === 0x49) this.#setInputs(payload);
    else if (type === 0x53 || type === 0x50) {
      this.#started = type === 0x53 && this.#outputs.length > 0;
      this.#send(type, Buffer.of(type === 0x50 || this.#started ? 1 : 0));
    } else if (type === 0x55) this.#takeInputs(payload);
  }

  #setOutputs(payload: Buffer): void {
    const hz = payload.readDoubleBE(0);
    const maxHz = 1 / this.#controller.stepS;
    this.#every = Math.max(1, Math.round(maxHz / (hz > 0 ? Math.min(hz, maxHz) : maxHz)));
    const names = list(payload.toString('latin1', 8));
    const types = names.map((name) => typeOfOutput(name, this.#controller.series) ?? 'NOT_FOUND');
    const whole = !types.includes('NOT_FOUND');
    this.#outputs = whole ? names : [];
    this.#outputTypes = whole ? (types as RtdeType[]) : [];
    this.#send(0x4f, Buffer.concat([Buffer.of(whole ? 1 : 0), Buffer.from(types.join(','))]));
  }

  #setInputs(payload: Buffer): void {
    const names = list(payload.toString('latin1'));
    const types = names.map((name) => {
      const type = typeOfInput(name);
      return type === null ? 'NOT_FOUND' : this.#inUse(name) ? 'IN_USE' : type;
    });
    const whole = !types.some((type) => type === 'NOT_FOUND' || type === 'IN_USE');
    if (whole) {
      this.inputs = names;
      this.#inputTypes = types as RtdeType[];
    }
    this.#send(0x49, Buffer.concat([Buffer.of(whole ? 1 : 0), Buffer.from(types.join(','))]));
  }

  #takeInputs(payload: Buffer): void {
    const bytes = this.#inputTypes.reduce((sum, type) => sum + TYPE_BYTES[type], 1);
    if (payload.length !== bytes || payload[0] !== 1 || this.inputs.length === 0) return;
    const offset = (name: string): number => {
      const index = this.inputs.indexOf(name);
      return this.#inputTypes.slice(0, index).reduce((sum, type) => sum + TYPE_BYTES[type], 1);
    };
    if (!this.inputs.includes('tool_digital_output')) return;
    const mask = payload[offset('tool_digital_output_mask')]!;
    const on = payload[offset('tool_digital_output')]!;
    this.#controller.toolOutputs = (this.#controller.toolOutputs & ~mask) | (on & mask);
  }

  #send(type: number, payload: Buffer): void {
    const head = Buffer.of(0, 0, type);
    head.writeUInt16BE(3 + payload.length, 0);
    this.#socket.write(Buffer.concat([head, payload]));
  }
}

/** ur_rtde ends its lists with a comma; controllers accept that. */
const list = (text: string): string[] => text.replace(/,$/, '').split(',');

function ints(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => {
    bytes.writeUInt32BE(value, 4 * i);
  });
  return bytes;
}

function encode(type: RtdeType, value: number | readonly number[]): Buffer {
  const bytes = Buffer.alloc(TYPE_BYTES[type]);
  const at = (i: number): number => (typeof value === 'number' ? value : (value[i] ?? 0));
  if (type === 'BOOL' || type === 'UINT8') bytes[0] = at(0);
  else if (type === 'UINT64') bytes.writeBigUInt64BE(BigInt(at(0)), 0);
  else if (type === 'DOUBLE' || type === 'VECTOR3D' || type === 'VECTOR6D')
    for (let i = 0; i < bytes.length / 8; i++) bytes.writeDoubleBE(at(i), 8 * i);
  else for (let i = 0; i < bytes.length / 4; i++) bytes.writeInt32BE(at(i) | 0, 4 * i);
  return bytes;
}
