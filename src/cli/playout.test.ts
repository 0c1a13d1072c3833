import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, mock } from 'node:test';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { TeleopError } from '../core/errors.ts';
import { parseVerb } from './arguments.ts';
import { playoutVerb } from './playout.ts';

const dir = temporaryFolder('playout');

const at = (name: string) => path.join(dir, name);

/** Twenty seconds at 100 Hz; the link stalls for 80 ms every four seconds. */
function writeTrace(name: string): string {
  const rows = Array.from({ length: 2000 }, (_, i) => {
    const delayUs = Math.max(2000 + ((i * 7919) % 400), 80_000 - (i % 400) * 10_000);
    return `${i},${20_000 + i * 10_000 + ((i * 31) % 90)},${i % 97 === 5 ? '' : delayUs}`;
  });
  writeFileSync(at(name), ['# made', 'seq,send_us,delay_us', ...rows].join('\n'));
  return at(name);
}

async function run(...args: string[]): Promise<{ code: number; out: string }> {
  const log = mock.method(console, 'log', () => {});
  try {
    const code = await playoutVerb.run(parseVerb(playoutVerb, args));
    return { code, out: log.mock.calls.map((call) => String(call.arguments[0])).join('\n') };
  } finally {
    log.mock.restore();
  }
}

const fails = (code: string, message: RegExp, hint: RegExp) => (error: unknown) =>
  error instanceof TeleopError &&
  error.code === code &&
  message.test(error.message) &&
  hint.test(error.hint) &&
  true;

describe('farhand playout replay', () => {
  const trace = writeTrace('made.csv');

  it('prints the score and writes the applied commands and the learned prior', async () => {
    const out = at('deep/applied.csv');
    const prior = at('prior.json');
    const { code, out: text } = await run('replay', '--trace', trace, '--out', out, '--save-prior', prior);
    assert.equal(code, 0);
    const score = JSON.parse(text) as Record<string, number>;
    assert.equal(score['impossible'], 0);
    assert.ok(score['meanMs']! > 2);
    const lines = readFileSync(out, 'utf8').split('\n');
    assert.equal(lines[0], 'seq,apply_us,delay_us');
    assert.equal(lines.length, 2002);
    assert.ok(JSON.parse(readFileSync(prior, 'utf8')).needsMs[0] > 5);
    const again = await run('replay', '--trace', trace, '--prior', prior, '--policy', 'adaptive:fast');
    assert.equal(again.code, 0);
  });

  it('recovers lost commands by redundancy', async () => {
    const variation = async (...args: string[]) =>
      JSON.parse((await run('replay', '--trace', trace, '--policy', 'fixed:60', ...args)).out).variationP99Ms;
    assert.ok((await variation()) > 9);
    assert.ok((await variation('--redundancy', '8')) < 1);
  });

  it('rejects bad input with an error and a hint', async () => {
    const cases: [string[], ReturnType<typeof fails>][] = [
      [[], fails('bad-option', /needs/, /--help/)],
      [['play'], fails('bad-option', /no action "play"/, /farhand playout replay/)],
      [['replay'], fails('bad-option', /needs --trace/, /--trace FILE/)],
      [['replay', '--trace', at('mad.csv')], fails('file-missing', /no file/, /made\.csv/)],
      [['replay', '--trace', dir], fails('file-unreadable', /cannot be read/, /csv/)],
      [
        ['replay', '--trace', trace, '--policy', 'adaptve'],
        fails('bad-option', /not a playout/, /adaptive\?/),
      ],
      [
        ['replay', '--trace', trace, '--policy', 'adaptive,cap=1'],
        fails('bad-option', /cap/, /--policy adap/),
      ],
      [['replay', '--trace', trace, '--redundancy', '1.5'], fails('bad-option', /whole/, /help/)],
      [['replay', '--trace', trace, '--prior', trace], fails('file-unreadable', /not JSON/, /--save-prior/)],
      [
        ['replay', '--trace', trace, '--policy', 'none', '--save-prior', at('x')],
        fails('bad-option', /no prior/, /Leave out/),
      ],
      [
        ['replay', '--trace', trace, '--out', path.join(trace, 'x')],
        fails('file-unwritable', /written/, /folder/),
      ],
      [['compare', '--traces', at('none')], fails('file-missing', /no directory/, /csv/)],
      [
        ['compare', '--traces', dir, '--policy', 'none'],
        fails('bad-option', /does not take --policy/, /help/),
      ],
    ];
    for (const [args, is] of cases) await assert.rejects(run(...args), is, args.join(' '));
    writeFileSync(at('cut.csv.gz'), Buffer.from([0x1f, 0x8b, 8, 0]));
    await assert.rejects(
      run('replay', '--trace', at('cut.csv.gz')),
      fails('file-unreadable', /decompressed/, /download/),
    );
    rmSync(at('cut.csv.gz'));
  });
});

describe('farhand playout compare', () => {
  it('scores every policy and both oracles', async () => {
    writeTrace('made.csv');
    const { out } = await run('compare', '--traces', dir);
    for (const name of ['oracle smooth', 'oracle constant', 'none', 'fixed:60', 'neteq', 'adaptive:smooth'])
      assert.match(out, new RegExp(`^${name}\\s+\\d+\\.\\d/\\d+$`, 'm'), name);
    const { traces } = JSON.parse((await run('compare', '--traces', dir, '--json')).out);
    assert.equal(traces[0].name, 'made');
    assert.equal(traces[0].scores.adaptive.impossible, 0);
  });
});
