import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeReverseFrame, REVERSE_FRAME_BYTES } from '../../src/robot/drivers/ur/reverse-frame.ts';
import { controlScript } from '../../src/robot/drivers/ur/script.ts';
import { SAFETY, type Series, UrController } from './controller.ts';
import { UrProgram } from './program.ts';

const TOKEN = 77;

/** Our control program, executed on a manually stepped controller, and the peer it connects to. */
class Bench {
  readonly controller: UrController;
  readonly socket: Socket;
  readonly messages: string[];
  readonly #close: () => void;

  private constructor(controller: UrController, socket: Socket, messages: string[], close: () => void) {
    this.controller = controller;
    this.socket = socket;
    this.messages = messages;
    this.#close = close;
  }

  static async open(series: Series, extrapolateS = 0.02): Promise<Bench> {
    const controller = new UrController(series);
    for (let i = 0; i < 2; i++) {
      controller.releaseBrake();
      for (let s = 0; s < 0.4; s += controller.stepS) controller.step(false);
    }
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const called = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const messages: string[] = [];
    const { port } = server.address() as AddressInfo;
    const script = controlScript({
      host: '127.0.0.1',
      port,
      token: TOKEN,
      stepS: controller.stepS,
      lookaheadS: 0.03,
      gain: 2000,
      stopRadS2: 10,
      extrapolateS,
      firstFrameS: 2,
      maxStepRadS: 20,
    });
    assert.ok(controller.play(new UrProgram(script, (text) => messages.push(text))));
    const socket = await Promise.race([called, Bench.#stepOn(controller)]);
    socket.on('error', () => {});
    const bench = new Bench(controller, socket, messages, () => server.close());
    const token = new Promise<Buffer>((resolve) => socket.once('data', resolve));
    await bench.steps(5);
    assert.equal((await token).readInt32BE(0), TOKEN);
    return bench;
  }

  static async #stepOn(controller: UrController): Promise<never> {
    for (let i = 0; i < 200; i++) {
      controller.step(false);
      await sleep(1);
    }
    throw new Error('the program does not connect');
  }

  /** Steps periods, with time for sockets in between. */
  async steps(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      await sleep(1);
      this.controller.step(false);
    }
  }

  send(timeoutMs: number, values: readonly number[] | null, mode: number): void {
    const frame = Buffer.alloc(REVERSE_FRAME_BYTES);
    encodeReverseFrame(frame, timeoutMs, values === null ? null : Float64Array.from(values), mode);
    this.socket.write(frame);
  }

  /** Moves joint 1 by `perFrame` in each of `frames`, `every` periods apart. */
  async move(frames: number, perFrame: number, every: number): Promise<number[]> {
    const target = [...this.controller.arm.positionsRad];
    for (let i = 0; i < frames; i++) {
      target[0]! += perFrame;
      this.send(100, target, 1);
      await this.steps(every);
    }
    return target;
  }

  close(): void {
    this.socket.destroy();
    this.controller.endProgram();
    this.#close();
  }
}

async function on(
  series: Series,
  work: (bench: Bench) => Promise<void>,
  extrapolateS?: number,
): Promise<void> {
  const bench = await Bench.open(series, extrapolateS);
  try {
    await work(bench);
  } finally {
    bench.close();
  }
}

describe('our control program, executed', () => {
  it('does not move on idle frames', async () => {
    await on('cb3', async (bench) => {
      const rest = [...bench.controller.arm.positionsRad];
      for (let i = 0; i < 20; i++) {
        bench.send(100, null, 0);
        await bench.steps(3);
      }
      assert.ok(bench.controller.playing);
      assert.deepEqual(bench.controller.arm.positionsRad, rest);
    });
  });

  it('follows setpoints and rests at the last one', async () => {
    await on('cb3', async (bench) => {
      const target = await bench.move(50, 0.004, 1);
      for (let i = 0; i < 20; i++) {
        bench.send(100, target, 1);
        await bench.steps(4);
      }
      assert.ok(Math.abs(bench.controller.arm.positionsRad[0]! - target[0]!) < 1e-3);
      assert.ok(bench.controller.playing);
    });
  });

  it('extrapolates between setpoints that arrive every fourth period', async () => {
    const roughness = async (extrapolateS: number): Promise<number> => {
      let worst = 0;
      await on(
        'e',
        async (bench) => {
          const { arm } = bench.controller;
          await bench.move(30, 0.004, 4);
          const target = [...arm.positionsRad];
          target[0]! += 0.015;
          let last = arm.velocitiesRadS[0]!;
          for (let i = 0; i < 30; i++) {
            target[0]! += 0.004;
            bench.send(100, target, 1);
            for (let j = 0; j < 4; j++) {
              await bench.steps(1);
              if (i > 10) worst = Math.max(worst, Math.abs(arm.velocitiesRadS[0]! - last));
              last = arm.velocitiesRadS[0]!;
            }
          }
        },
        extrapolateS,
      );
      return worst;
    };
    const [with_, without] = [await roughness(0.02), await roughness(0)];
    assert.ok(with_ < without, `change of speed per period: ${with_} with, ${without} without`);
  });

  it('ends with a stop on a setpoint timeout, at most 200 ms whatever a frame sets', async () => {
    for (const [timeoutMs, atMostS] of [
      [100, 0.15],
      [10_000, 0.25],
      [-5, 0.05],
    ] as const)
      await on('cb3', async (bench) => {
        await bench.move(10, 0.008, 1);
        const target = [...bench.controller.arm.positionsRad];
        bench.send(timeoutMs, target, 1);
        await bench.steps(Math.ceil(atMostS / 0.008));
        assert.ok(
          bench.messages.some((text) => text.includes('no setpoint in time')),
          `${timeoutMs}`,
        );
        await bench.steps(50);
        assert.ok(!bench.controller.playing);
        assert.ok(!bench.controller.arm.moving);
        assert.equal(bench.controller.safetyMode, SAFETY.normal);
      });
  });

  it('ends with a stop on a jump, a stop frame, an unknown mode, and when its peer vanishes', async () => {
    const endings: ((bench: Bench, target: number[]) => void)[] = [
      (bench, target) => bench.send(100, [target[0]! + 1, ...target.slice(1)], 1),
      (bench) => bench.send(100, null, -2),
      (bench, target) => bench.send(100, target, 5),
      (bench) => bench.socket.resetAndDestroy(),
    ];
    for (const [i, ending] of endings.entries())
      await on('cb3', async (bench) => {
        const target = await bench.move(20, 0.008, 1);
        assert.ok(bench.controller.arm.moving);
        ending(bench, target);
        await bench.steps(60);
        assert.ok(!bench.controller.playing, `ending ${i}`);
        assert.ok(!bench.controller.arm.moving);
        assert.ok(Math.abs(bench.controller.arm.positionsRad[0]! - target[0]!) < 0.1, 'close by');
      });
  });
});
