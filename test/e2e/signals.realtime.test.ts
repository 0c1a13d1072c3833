import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { type Running, startFarhand } from './farhand.ts';

/** First number of a record in `robot.driverLog`. */
const WRITE = 2;
const STOP = 3;
const JOINTS = 6;
const RECORD_NUMBERS = JOINTS + 3;

function driverCalls(file: string): number[] {
  const bytes = readFileSync(file);
  const numbers = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  return Array.from(
    { length: Math.floor(numbers.length / RECORD_NUMBERS) },
    (_, i) => numbers[i * RECORD_NUMBERS]!,
  );
}

/** Whether a process handles a signal itself. */
function catches(pid: number, signal: number): boolean {
  const mask = /^SigCgt:\s*([0-9a-f]+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]!;
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

describe('signals', { skip: needs('Linux') }, () => {
  const running: Running[] = [];
  const start = (args: string[]): Running => {
    const child = startFarhand(args);
    running.push(child);
    return child;
  };
  afterEach(async () => {
    await Promise.all(running.splice(0).map((child) => child.end()));
  });

  async function settings(): Promise<{ robot: string[]; operator: string[]; log: string }> {
    const [command, state, sync, desk, telemetry] = await freeUdpPorts(5);
    const folder = temporaryFolder('signals');
    const log = path.join(folder, 'driver.log');
    const link = [
      ...['link.security=plain', `trace.dir=${folder}`],
      ...[`link.commandPort=${command}`, `link.statePort=${state}`, `link.syncPort=${sync}`],
    ];
    return {
      robot: ['robot', ...link, `robot.driverLog=${log}`],
      operator: ['operator', ...link, `console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`],
      log,
    };
  }

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const)
    it(`${signal} stops a robot in motion before its process ends`, async () => {
      const { robot, operator, log } = await settings();
      const child = start(robot);
      await child.waitFor(/robot ready/);
      start(operator);
      await child.waitFor(/→ engaged/);
      await sleep(300);
      child.process.kill(signal);
      assert.equal(await child.exited, 0, child.stderr());
      const calls = driverCalls(log);
      assert.ok(calls.includes(WRITE), 'it moved');
      assert.equal(calls.at(-1), STOP);
    });

  it('SIGTERM during the start ends it before it opens anything', async () => {
    const { robot } = await settings();
    const child = start(robot);
    // Node itself catches SIGTERM from the start; only our code catches SIGQUIT.
    await until('our signal handler', () => catches(child.process.pid!, constants.signals.SIGQUIT));
    child.process.kill('SIGTERM');
    assert.equal(await child.exited, 0, child.stderr());
    assert.doesNotMatch(child.stdout(), /robot ready/);
  });
});
