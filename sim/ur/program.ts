import { connect, type Socket } from 'node:net';
import type { Arm } from './arm.ts';
import { parseProgram } from './urscript/parse.ts';
import { type Program, ScriptError } from './urscript/syntax.ts';
import {
  type Builtin,
  number,
  ScriptRun,
  type ScriptThread,
  type Step,
  type Value,
} from './urscript/threads.ts';

const CONNECT_TIMEOUT_S = 2;
/** Deceleration when a program is stopped from outside. */
const END_RAD_S2 = 10;
const MAX_UNREAD_BYTES = 1 << 16;

/** A connection that a program opened, with its unread data. */
class ScriptSocket {
  readonly socket: Socket;
  state: 'connecting' | 'open' | 'closed' = 'connecting';
  unread: Buffer = Buffer.alloc(0);

  constructor(host: string, port: number) {
    this.socket = connect({ host, port, noDelay: true });
    this.socket.on('connect', () => {
      this.state = 'open';
    });
    this.socket.on('data', (chunk) => {
      this.unread = Buffer.concat([this.unread, chunk]);
      if (this.unread.length > MAX_UNREAD_BYTES) this.socket.destroy();
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.state = 'closed';
    });
  }
}

/** The part of the controller that a program uses. */
interface Controller {
  readonly stepS: number;
  readonly arm: Arm;
  onStop(why: string): void;
}

/** A URScript program on a controller: its text is executed, period by period. */
export class UrProgram {
  readonly #program: Program;
  readonly #log: (text: string) => void;
  readonly #sockets = new Map<string, ScriptSocket>();
  #controller!: Controller;
  #run: ScriptRun | null = null;
  /** How much of the present period counts against a timeout; 0 if this process itself was late. */
  #periodS = 0;

  /** Throws a ScriptError for a text that cannot be parsed. */
  constructor(script: string, log: (text: string) => void) {
    this.#program = parseProgram(script);
    this.#log = log;
  }

  start(controller: Controller): void {
    this.#controller = controller;
    this.#run = new ScriptRun(this.#program, this.#builtins());
  }

  /** One period. False when the program has ended. */
  step(stalled: boolean): boolean {
    this.#periodS = stalled ? 0 : this.#controller.stepS;
    try {
      this.#run!.period();
    } catch (error) {
      if (!(error instanceof ScriptError)) throw error;
      this.#log(`program ${this.#program.name} failed: ${error.message}`);
      this.end();
      return false;
    }
    if (this.#run!.done) this.#close();
    return !this.#run!.done;
  }

  /** Stopped from outside: the arm brakes. */
  end(): void {
    this.#close();
    this.#controller.arm.stop(END_RAD_S2);
  }

  #close(): void {
    for (const { socket } of this.#sockets.values()) socket.destroy();
    this.#sockets.clear();
  }

  #builtins(): Record<string, Builtin> {
    return {
      ...this.#motion(),
      socket_open: (_thread, args) => this.#open(args),
      socket_close: (_thread, [name]) => this.#drop(String(name)),
      socket_send_int: (_thread, [value, name]) => this.#sendInt(number(value!), String(name)),
      socket_read_binary_integer: (thread, args) => this.#readInts(thread, args),
      textmsg: (_thread, args) => {
        this.#log(`program message: ${args.join('')}`);
        return true;
      },
      norm: (_thread, [value]) => Math.abs(number(value!)),
    };
  }

  #motion(): Record<string, Builtin> {
    const controller = this.#controller;
    const { arm } = controller;
    const stepS = this.#controller.stepS;
    return {
      get_actual_joint_positions: () => [...arm.positionsRad],
      *sync(): Step {
        yield 'period';
        return true;
      },
      *servoj(_thread, [target], named): Step {
        const option = (name: string, min: number, max: number): number => {
          const value = number(named.get(name) ?? Number.NaN);
          if (value < min || value > max) throw new ScriptError(`servoj: ${name} out of range`);
          return value;
        };
        option('t', stepS, stepS);
        const targetRad = (target as readonly Value[]).map(number);
        if (targetRad.length !== 6) throw new ScriptError('servoj: six joints expected');
        arm.servo({
          targetRad,
          lookaheadS: option('lookahead_time', 0.03, 0.2),
          gain: option('gain', 100, 2000),
        });
        yield 'period';
        return true;
      },
      *stopj(_thread, [radS2]): Step {
        controller.onStop('stopj');
        arm.stop(number(radS2!));
        while (arm.moving) yield 'period';
        return true;
      },
    };
  }

  *#open([host, port, name]: readonly Value[]): Step {
    const opened = new ScriptSocket(String(host), number(port!));
    this.#sockets.set(String(name), opened);
    for (
      let waitedS = 0;
      opened.state === 'connecting' && waitedS < CONNECT_TIMEOUT_S;
      waitedS += this.#periodS
    )
      yield 'socket';
    if (opened.state === 'open') return true;
    opened.socket.destroy();
    return false;
  }

  #drop(name: string): boolean {
    this.#sockets.get(name)?.socket.destroy();
    this.#sockets.delete(name);
    return true;
  }

  #sendInt(value: number, name: string): boolean {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value, 0);
    const socket = this.#sockets.get(name);
    if (socket?.state !== 'open') return false;
    socket.socket.write(bytes);
    return true;
  }

  /** The count, then as many integers; a count of 0 on a timeout or the end of the connection. */
  *#readInts(thread: ScriptThread, [count, name, timeoutS]: readonly Value[]): Step {
    if (thread.critical) throw new ScriptError('reads in a critical section');
    const ints = number(count!);
    const waitS = number(timeoutS!);
    const socket = this.#sockets.get(String(name));
    let waitedS = 0;
    while (socket !== undefined && socket.unread.length < 4 * ints) {
      if (socket.state !== 'open' || (waitS > 0 && waitedS > waitS)) break;
      yield 'socket';
      waitedS += this.#periodS;
    }
    if (socket === undefined || socket.unread.length < 4 * ints)
      return [0, ...new Array<number>(ints).fill(-1)];
    const values = Array.from({ length: ints }, (_, i) => socket.unread.readInt32BE(4 * i));
    socket.unread = socket.unread.subarray(4 * ints);
    return [ints, ...values];
  }
}
