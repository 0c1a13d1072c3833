import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { describe, it } from 'node:test';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { Lifetime } from '../lifetime.ts';
import { needs } from '../needs.ts';
import { openSmallDisk } from '../small-disk.ts';
import { until } from '../until.ts';
import { launchChromium } from './chromium.ts';
import { startFarhand } from './farhand.ts';

/** Three processes and a browser start on a machine that may be busy. */
const MS = 120_000;

describe('the page while files are lost', { skip: needs('chromium') || needs('mounts') }, () => {
  it('shows which file is incomplete, and why, as long as it is', { timeout: 2 * MS }, async () => {
    const lifetime = new Lifetime();
    try {
      const disk = lifetime.own(await openSmallDisk(16 << 20), (it) => it.close());
      const [command, state, sync, desk, telemetry] = await freeUdpPorts(5);
      const settings = [
        ...['demo', '--no-open', 'console.port=0', 'record.minFreeMb=0'],
        ...[`trace.dir=${disk.dir}/traces`, `record.dir=${disk.dir}/recordings`],
        ...[`link.commandPort=${command}`, `link.statePort=${state}`, `link.syncPort=${sync}`],
        ...[`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`],
      ];
      const demo = lifetime.own(startFarhand(settings), (it) => it.end());
      const browser = lifetime.own(await launchChromium(), (it) => it.close());
      const page = await browser.newPage();
      page.setDefaultTimeout(MS);
      await page.goto((await demo.waitFor(/console: (http:\S+)/, MS))[1]!);
      await demo.waitFor(/→ engaged/, MS);
      const banner = (text: string) => page.getByTestId('banner').filter({ hasText: text });
      const { dir } = disk;
      const recordings = `${dir}/recordings`;
      const names = (): string[] => (existsSync(recordings) ? readdirSync(recordings) : []);
      const bytes = (): number =>
        Math.max(0, ...names().map((name) => statSync(`${recordings}/${name}`).size));
      await page.evaluate('location.hash = "#record"');
      await page.getByTestId('record-start').click();
      await until('a recording', () => bytes() > 0);
      const headBytes = bytes();
      await until('rows in the recording', () => bytes() > headBytes);
      assert.equal(await banner('Trace incomplete').count(), 0);
      disk.fill();
      await banner('Trace incomplete').waitFor({ state: 'visible' });
      assert.match(
        (await banner('Trace incomplete').textContent()) ?? '',
        /The trace .*_trace_.* cannot be written: the disk is full \(ENOSPC\)/,
      );
      disk.free();
      // The trace goes on, the recording does not.
      await banner('Recording stopped').waitFor({ state: 'visible' });
      assert.match(
        (await banner('Recording stopped').textContent()) ?? '',
        /Cannot continue .*: the disk is full.*farhand recover/s,
      );
      rmSync(`${disk.dir}/traces`, { recursive: true });
      await banner('the file was deleted').waitFor({ state: 'visible' });
      assert.match((await banner('the file was deleted').textContent()) ?? '', /Trace incomplete/);
    } finally {
      await lifetime.end();
    }
  });
});
