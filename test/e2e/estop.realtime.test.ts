import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKey, writeKeyFile } from '../../src/wire/secure/key-file.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { farhand, type Running, startFarhand } from './farhand.ts';

interface FlightLine {
  format?: string;
  cause?: string;
  to?: string;
  robotNs: number;
  state: string;
  targetRad: number[];
}

describe('the e-stop from a terminal', () => {
  const folder = temporaryFolder();
  let robot: Running;
  let operator: Running;
  let desk: string[] = [];

  before(async () => {
    const keyFile = path.join(folder, 'test.key');
    writeKeyFile(keyFile, { name: 'test', key: createKey(), createdAt: '2026-01-01T00:00:00Z' });
    const [command, state, sync, deskPort, telemetryPort] = await freeUdpPorts(5);
    const shared = [
      `link.commandPort=${command}`,
      `link.statePort=${state}`,
      `link.syncPort=${sync}`,
      `link.keyFile=${keyFile}`,
      `trace.dir=${folder}`,
    ];
    desk = [`console.deskPort=${deskPort}`, `console.telemetryPort=${telemetryPort}`];
    robot = startFarhand(['robot', '--json', ...shared]);
    await robot.waitFor(/"kind":"ready"/);
    operator = startFarhand(['operator', '--json', ...shared, ...desk]);
    await robot.waitFor(/"to":"engaged"/);
    await sleep(500);
  });

  after(async () => {
    await operator?.end();
    await robot?.end();
  });

  const flights = () => readdirSync(folder).filter((name) => name.startsWith('flight-'));

  it('stops the robot, reports how long it took, and writes the last seconds to disk', async () => {
    const { code, stdout, stderr } = await farhand(['estop', '--json', '--within', '20000', ...desk]);
    assert.equal(code, 0, stderr);
    const answer = JSON.parse(stdout) as { state: string; tookMs: number; cause: string };
    assert.equal(answer.state, 'stopped');
    assert.equal(answer.cause, 'e-stop pressed');
    assert.ok(answer.tookMs > 0);
    await robot.waitFor(/"to":"stopped","cause":"e-stop pressed"/);
    const stopped = () => flights().filter((name) => name.endsWith('-stopped.jsonl'));
    await until(
      'a flight file',
      () => stopped().length > 0,
      () => flights().join(),
    );
    const stops = stopped();
    assert.equal(stops.length, 1);
    const text = readFileSync(path.join(folder, stops[0]!), 'utf8').trim();
    const [about, ...cycles] = text.split('\n').map((line) => JSON.parse(line) as FlightLine);
    assert.deepEqual(
      [about?.format, about?.to, about?.cause],
      ['farhand-flight/1', 'stopped', 'e-stop pressed'],
    );
    assert.ok(cycles.length > 10 && cycles.length <= 400, `${cycles.length} cycles`);
    assert.equal(cycles.at(-1)!.state, 'engaged');
    cycles.forEach((cycle, i) => {
      assert.ok(i === 0 || cycle.robotNs > cycles[i - 1]!.robotNs);
      assert.equal(cycle.targetRad.length, 6);
    });
  });

  it('a stopped robot cannot be armed before a reset', async () => {
    const { code, stderr } = await farhand(['ask', 'arm', ...desk]);
    assert.equal(code, 1);
    assert.match(stderr, /a stopped robot cannot be armed: robot stopped \(e-stop pressed\)/);
    assert.match(stderr, /→ .*farhand reset/);
  });

  it('a reset clears it; a second reset fails', async () => {
    const first = await farhand(['reset', '--within', '20000', ...desk]);
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /^reset after \d+ ms: robot idle \(reset by operator\), operator hold\n$/);
    const second = await farhand(['reset', ...desk]);
    assert.equal(second.code, 1);
    assert.match(second.stderr, /nothing to reset: robot idle \(.*\[not-confirmed\]\n {2}→ /);
  });

  it('is not confirmed without an operator', async () => {
    const [deskPort, telemetryPort] = await freeUdpPorts(2);
    const nowhere = [`console.deskPort=${deskPort}`, `console.telemetryPort=${telemetryPort}`];
    const { code, stderr } = await farhand(['estop', '--within', '300', ...nowhere]);
    assert.equal(code, 1);
    assert.match(stderr, /estop not confirmed within 300 ms: no operator answers/);
  });

  it('a signal to the robot process also stops the robot, without a flight record', async () => {
    const { length } = flights();
    await robot.end();
    assert.match(robot.stdout(), /"to":"stopped","cause":"robot process is shutting down"/);
    assert.equal(flights().length, length);
  });
});
