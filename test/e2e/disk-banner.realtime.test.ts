import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { Lifetime } from '../lifetime.ts';
import { needs } from '../needs.ts';
import { openSmallDisk } from '../small-disk.ts';
import { launchChromium } from './chromium.ts';
import { startFarhand } from './farhand.ts';

/** Three processes and a browser start on a machine that may be busy. */
const MS = 120_000;

describe('the page while the disk is full', { skip: needs('chromium') || needs('mounts') }, () => {
  it('shows which file is incomplete, until there is space again', { timeout: 2 * MS }, async () => {
    const lifetime = new Lifetime();
    try {
      const disk = lifetime.own(await openSmallDisk(16 << 20), (it) => it.close());
      const [command, state, sync, desk, telemetry] = await freeUdpPorts(5);
      const settings = [
        ...['demo', '--no-open', 'console.port=0', `trace.dir=${disk.dir}/traces`, 'record.minFreeMb=0'],
        ...[`link.commandPort=${command}`, `link.statePort=${state}`, `link.syncPort=${sync}`],
        ...[`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`],
      ];
      const demo = lifetime.own(startFarhand(settings), (it) => it.end());
      const browser = lifetime.own(await launchChromium(), (it) => it.close());
      const page = await browser.newPage();
      page.setDefaultTimeout(MS);
      await page.goto((await demo.waitFor(/console: (http:\S+)/, MS))[1]!);
      await demo.waitFor(/→ engaged/, MS);
      const banner = page.getByTestId('banner').filter({ hasText: 'Trace incomplete' });
      assert.equal(await banner.count(), 0);
      disk.fill();
      await banner.waitFor({ state: 'visible' });
      assert.match(
        await banner.innerText(),
        /The trace .*_trace_.* cannot be written: the disk is full \(ENOSPC\)/,
      );
      disk.free();
      await banner.waitFor({ state: 'hidden' });
    } finally {
      await lifetime.end();
    }
  });
});
