import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand, startFarhand } from './farhand.ts';

describe('farhand ask', () => {
  it('sends a request to a running operator and reports the result', async () => {
    const [desk, telemetry] = await freeUdpPorts(2);
    const ports = [`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`];
    const demo = startFarhand(['demo', '--headless', `trace.dir=${temporaryFolder()}`, ...ports]);
    const ask = (kind: string) => farhand(['ask', kind, ...ports]);
    try {
      await demo.waitFor(/armed → engaged/);
      await new Promise((resolve) => setTimeout(resolve, 2000));
      const home = await ask('home');
      assert.equal(home.code, 0, home.stdout + home.stderr);
      assert.match(home.stdout, /^home after \d+ ms: robot \w+ \(.+\).*, operator home$/m);
      const held = await ask('hold');
      assert.deepEqual([held.code, held.stderr], [0, '']);
      assert.match((await ask('estop')).stdout, /^estop after \d+ ms: robot stopped \(e-stop pressed\)/);
      const rejected = await ask('home');
      assert.equal(rejected.code, 1);
      assert.match(
        rejected.stderr,
        /a stopped robot cannot move: robot stopped .*, operator hold \[not-conf[\s\S]*farhand reset/,
      );
      for (const kind of ['disarm', 'teleop']) {
        const refused = await ask(kind);
        assert.equal(refused.code, 1, kind);
        assert.match(refused.stderr, /a stopped robot cannot \w+.*[\s\S]*farhand reset/);
      }
      assert.equal((await ask('reset')).code, 0);
      assert.equal((await ask('arm')).code, 0);
      await demo.waitFor(/idle → armed[\s\S]*idle → armed[\s\S]*armed → engaged/);
    } finally {
      await demo.end();
    }
  });

  it('fails if there is no operator', async () => {
    const [desk, telemetry] = await freeUdpPorts(2);
    const asked = await farhand([
      'ask',
      'home',
      `console.deskPort=${desk}`,
      `console.telemetryPort=${telemetry}`,
    ]);
    assert.equal(asked.code, 1);
    assert.match(asked.stderr, /home not confirmed within 2000 ms: no operator answers/);
    const wrong = await farhand(['ask', 'hom']);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /Did you mean home/);
  });
});
