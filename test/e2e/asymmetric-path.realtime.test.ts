import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLinkEmulator } from '../../src/app/link-emulator.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand, startFarhand } from './farhand.ts';

const [FORWARD_MS, RETURN_MS] = [2, 30];
/** The clock of another machine: it has run for 5,000 s more. */
const OTHER_CLOCK = ['unshare', '--time', '--monotonic', '5000', '--fork', '--kill-child'];

/** What a report says of a run over a path that is slow in one direction. */
async function reportOf(within: readonly string[]): Promise<string> {
  const [command, state, sync, ...listened] = await freeUdpPorts(6);
  const robotPorts = [command, state, sync];
  const link = await startLinkEmulator({
    forward: { delayMs: FORWARD_MS },
    return: { delayMs: RETURN_MS },
    mappings: listened.map((port, i) => ({ listen: String(port), target: `127.0.0.1:${robotPorts[i]}` })),
  });
  const folder = temporaryFolder();
  const ports = (given: readonly (number | undefined)[]) =>
    ['commandPort', 'statePort', 'syncPort'].map((name, i) => `link.${name}=${given[i]}`);
  const robot = startFarhand(['robot', 'link.security=plain', ...ports(robotPorts)], false, within);
  const operator = startFarhand([
    ...['operator', 'link.security=plain', ...ports(listened), `trace.dir=${folder}`],
    'operator.autoArm=true',
  ]);
  try {
    await robot.waitFor(/→ engaged/);
    await sleep(5000);
  } finally {
    await operator.end();
    await robot.end();
    await link.close();
  }
  const file = readdirSync(folder).find((name) => name.endsWith('.jsonl'));
  const { code, stdout, stderr } = await farhand(['trace', 'report', path.join(folder, file ?? 'none')]);
  assert.equal(code, 0, stderr);
  return stdout;
}

const wireMs = (report: string) => Number(/^Wire +([\d.]+)/m.exec(report)?.[1]);

describe('a path of 2 ms forward and 30 ms back', { skip: needs('time namespaces') }, () => {
  it('is measured between two processes of one clock', async () => {
    const report = await reportOf([]);
    assert.ok(wireMs(report) >= FORWARD_MS && wireMs(report) < FORWARD_MS + 6, report);
    assert.doesNotMatch(report, /the median time on the wire lies between/);
  });

  it('is only bounded between two clocks, and the report says so', async () => {
    const report = await reportOf(OTHER_CLOCK);
    const [, from, to] =
      /the median time on the wire lies between ([\d.]+) and ([\d.]+) ms/.exec(report) ?? [];
    assert.ok(Number(from) <= FORWARD_MS && Number(to) >= FORWARD_MS, report);
    assert.ok(Number(to) <= 2 * wireMs(report) + 1, `the bound is no wider than the round trip: ${report}`);
    assert.match(report, /a path that is slower in one direction looks like any other/);
  });
});
