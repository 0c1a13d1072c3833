import { MessageCutter } from '../../buses/message-cutter.ts';
import type { ModbusPort } from '../../buses/modbus/modbus.ts';
import { decodeReply } from '../../buses/modbus/rtu-codec.ts';
import { TcpLink } from '../../buses/tcp-link.ts';
import { Refused } from '../../buses/wait.ts';
import {
  encodeXarm,
  isXarmReply,
  XARM_FLAG,
  XARM_HEAD_BYTES,
  XARM_MAX_BYTES,
  xarmTotalBytes,
} from '../../buses/xarm-frame.ts';

/** Passes a Modbus RTU frame without CRC on to the tool's RS485 line. */
const RS485 = 124;
const TOOL_LINE = 9;
const DATA_AT = 8;
const SILENCE_MS = 1000;
const REPLY_MS = 300;

interface Waiting {
  request: Uint8Array;
  resolve(registers: number[]): void;
  reject(error: Refused): void;
  timer: NodeJS.Timeout;
}

/** The tool's RS485 line, through the control box: a connection beside the driver's own. Reconnects. */
export class BoxPort implements ModbusPort {
  busErrors = 0;
  readonly #link: TcpLink;
  readonly #cutter = new MessageCutter(XARM_HEAD_BYTES, XARM_MAX_BYTES, xarmTotalBytes);
  readonly #waiting = new Map<number, Waiting>();
  #transaction = 0;
  #trouble = 'not connected';

  constructor(host: string, port: number) {
    this.#link = new TcpLink(
      { host, port, silenceMs: SILENCE_MS },
      {
        up: () => {
          this.#trouble = '';
          this.#cutter.restart();
        },
        bytes: (chunk) => this.#onBytes(chunk),
        down: (why) => this.#onDown(why),
      },
    );
  }

  get trouble(): string {
    return this.#trouble;
  }

  ask(request: Uint8Array): Promise<number[]> {
    return new Promise((resolve, reject) => {
      this.#transaction = (this.#transaction % 0xffff) + 1;
      const transaction = this.#transaction;
      if (!this.#link.send(encodeXarm(transaction, RS485, [TOOL_LINE, ...request]))) {
        reject(new Refused(this.#trouble));
        return;
      }
      const timer = setTimeout(() => this.#fail(transaction, 'no reply'), REPLY_MS);
      this.#waiting.set(transaction, { request, resolve, reject, timer });
    });
  }

  close(): void {
    this.#link.dispose();
    this.#abandon('closed');
  }

  #onBytes(chunk: Buffer): void {
    if (this.#cutter.push(chunk, (message) => this.#reply(message))) return;
    this.busErrors++;
    this.#link.drop('message with an impossible length');
  }

  #reply(message: Buffer): boolean {
    const transaction = message.length >= XARM_HEAD_BYTES ? message.readUInt16BE(0) : 0;
    const waiting = this.#waiting.get(transaction);
    if (waiting === undefined || !isXarmReply(message) || message[6] !== RS485) {
      this.busErrors++;
      return true;
    }
    if ((message[7]! & XARM_FLAG.invalid) !== 0 || message[DATA_AT] !== TOOL_LINE)
      this.#fail(transaction, 'the control box has no reply of the gripper');
    else {
      const registers = decodeReply(waiting.request, message.subarray(DATA_AT + 1));
      if (typeof registers === 'string') this.#fail(transaction, registers);
      else {
        this.#forget(transaction);
        waiting.resolve(registers);
      }
    }
    return true;
  }

  #fail(transaction: number, why: string): void {
    this.busErrors++;
    this.#forget(transaction)?.reject(new Refused(why));
  }

  #forget(transaction: number): Waiting | undefined {
    const waiting = this.#waiting.get(transaction);
    clearTimeout(waiting?.timer);
    this.#waiting.delete(transaction);
    return waiting;
  }

  #onDown(why: string): void {
    this.#trouble = `connection to the control box lost: ${why}`;
    this.#abandon(this.#trouble);
  }

  #abandon(why: string): void {
    for (const transaction of [...this.#waiting.keys()]) this.#forget(transaction)?.reject(new Refused(why));
  }
}
