import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { startSimProcess } from '../contract/sim-process.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand } from './farhand.ts';

const skip = needs('Linux');

describe('farhand can and farhand sim', { skip }, () => {
  it('dump and send on a simulated Piper', async () => {
    const folder = temporaryFolder('can');
    const slcan = path.join(folder, 'slcan');
    const sim = await startSimProcess(['piper', '--slcan', slcan]);
    try {
      assert.ok(sim.ready.includes(slcan));
      const sent = await farhand(['can', 'send', '--slcan', slcan, '471#0702000000000000']);
      assert.equal(sent.code, 0, sent.stderr);
      const dumped = await farhand(['can', 'dump', '--slcan', slcan, '--seconds', '1.5']);
      assert.equal(dumped.code, 0, dumped.stderr);
      assert.match(dumped.stdout, /^\(\d+\.\d{6}\) 261#00F1002624400190$/m, 'enabled by the sent frame');
      assert.match(dumped.stdout, /2A5#0000000000000000/);
      const perSecond = Number(/\((\d+)\/s\), bus load up to (\d+) %/.exec(dumped.stderr)?.[1]);
      assert.ok(perSecond > 1500 && perSecond < 3300, dumped.stderr);
      const json = await farhand(['can', 'dump', '--slcan', slcan, '--seconds', '1', '--json']);
      const lines = json.stdout.trim().split('\n');
      const first = JSON.parse(lines[0]!) as { id: number; length: number };
      assert.ok(first.id >= 0x251 && first.length === 8);
      assert.ok((JSON.parse(lines.at(-1)!) as { received: number }).received > 500);
    } finally {
      await sim.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('explain invalid arguments', async () => {
    const cases: [string[], RegExp][] = [
      [['can', 'dump'], /needs either --slcan or --socketcan/],
      [['can', 'send', '--slcan', '/dev/null', '155'], /"155" is not a CAN frame/],
      [['can', 'dump', '--slcan', '/dev/no-such-tty'], /cannot be opened.*\[bus-failed\]/],
      [['can', 'dump', '--socketcan', 'nocan7'], /nocan7.*\[bus-failed\]/],
      [['can', 'shout'], /no action "shout"/],
      [['sim', 'pipr'], /Did you mean "piper"/],
      [['sim', 'piper'], /needs --slcan/],
      [['sim', 'piper', '--slacn', 'x'], /Did you mean --slcan/],
    ];
    for (const [args, text] of cases) {
      const { code, stderr } = await farhand(args);
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, text);
    }
    const listed = await farhand(['sim']);
    assert.match(listed.stdout, /^piper +AgileX/m);
    assert.match((await farhand(['sim', 'piper', '--help'])).stdout, /--firmware new\|old/);
  });
});
