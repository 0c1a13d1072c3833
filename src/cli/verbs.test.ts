import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, mock } from 'node:test';
import { simulatorNames } from '../../sim/simulator.ts';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { TeleopError } from '../core/errors.ts';
import { loadRig } from '../rig/rig.ts';
import { createKey, writeKeyFile } from '../wire/secure/key-file.ts';
import { exitCodeOf, failureText, runFarhand } from './verbs.ts';

const keyFile = path.join(temporaryFolder(), 'test.key');
writeKeyFile(keyFile, { name: 'test', key: createKey(), createdAt: '2026-01-01T00:00:00Z' });
const paired = `link.keyFile=${keyFile}`;

/** Output and exit code that the process would have. */
async function farhand(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const log = mock.method(console, 'log', () => {});
  const printed = () => log.mock.calls.map((call) => `${call.arguments.join(' ')}\n`).join('');
  try {
    return { code: await runFarhand(args), stdout: printed(), stderr: '' };
  } catch (error) {
    if (!(error instanceof TeleopError)) throw error;
    return { code: exitCodeOf(error), stdout: printed(), stderr: `${failureText(error)}\n` };
  } finally {
    log.mock.restore();
  }
}

const examplesIn = (help: string): string[] =>
  (/^Examples:\n((?: {2}.+\n)+)/m.exec(help)?.[1] ?? '').split('\n').flatMap((line) => line.trim() || []);

/** Asks for the help of what an example starts, with its options: an unknown one is rejected before. */
async function accepts(example: string): Promise<void> {
  const words = example
    .replace(/ [<>] .*/, '')
    .replaceAll('"', '')
    .split(' ')
    .slice(1);
  const { code, stderr } = await farhand([...words.filter((word) => word !== '--help'), '--help']);
  assert.equal(code, 0, `${example}: ${stderr}`);
  const settings = words.filter((word) => SETTING.test(word));
  const rig = words.find((word) => word.startsWith('rig='))?.slice(4) ?? 'demo';
  assert.doesNotThrow(() => loadRig(rig, settings), example);
}
/** Options of drivers and devices depend on a rig that has them. */
const SETTING = /^(?!rig=|robot\.options|operator\.inputs)[a-z]+\.[\w.]+=/;

describe('command line', () => {
  it('lists its verbs, and each has a help text', async () => {
    const { code, stdout } = await farhand(['--help']);
    assert.equal(code, 0);
    const verbs = [...stdout.matchAll(/^ {2}(\w+) {2,}\S/gm)].map((match) => match[1]!);
    assert.ok(verbs.includes('demo') && verbs.includes('trace'));
    for (const verb of verbs) {
      const help = await farhand([verb, '--help']);
      assert.equal(help.code, 0, verb);
      assert.match(help.stdout, new RegExp(`^Usage: farhand ${verb} `));
    }
  });

  it('gives examples in every help text, with options and settings that exist', async () => {
    const { stdout } = await farhand(['--help']);
    const verbs = [...stdout.matchAll(/^ {2}(\w+) {2,}\S/gm)].map((match) => match[1]!);
    const parts = ['calibrate hand', 'calibrate orca', 'calibrate so101'];
    const devices = simulatorNames().map((name) => `sim ${name}`);
    assert.ok(devices.length > 10);
    for (const verb of [...verbs, ...parts, ...devices]) {
      const examples = examplesIn((await farhand([...verb.split(' '), '--help'])).stdout);
      assert.ok(
        examples.some((line) => line.startsWith(`farhand ${verb}`)),
        verb,
      );
      for (const example of examples) await accepts(example);
    }
  });

  it('shows the help of a verb as `help VERB`', async () => {
    assert.equal((await farhand(['help', 'demo'])).stdout, (await farhand(['demo', '--help'])).stdout);
    assert.match((await farhand(['help', 'dmeo'])).stderr, /Did you mean `farhand demo`/);
  });

  it('explains one setting, or those of a part', async () => {
    const one = await farhand(['config', 'explain', 'robot.playout']);
    assert.match(one.stdout, /^robot\.playout .*adaptive/);
    assert.equal(one.stdout.trim().split('\n').length, 1);
    const part = await farhand(['config', 'explain', 'link']);
    assert.ok(
      part.stdout
        .trim()
        .split('\n')
        .every((line) => line.startsWith('link.')),
    );
    assert.match(
      (await farhand(['config', 'explain', 'robot.playou'])).stderr,
      /Did you mean robot\.playout/,
    );
  });

  const wrong: [string, string[], RegExp, RegExp][] = [
    ['an unknown verb', ['dmeo'], /no verb "dmeo"/, /Did you mean `farhand demo`/],
    ['an unknown option', ['demo', '--headles'], /no option --headles/, /Did you mean --headless/],
    ['a value out of range', ['demo', '--duration', '0'], /--duration 0 is not a number/, /--duration 10/],
    ['a negative value', ['demo', '--duration', '-1'], /--duration -1 is not a number/, /--duration 10/],
    [
      'an option as a value',
      ['demo', '--duration', '--json'],
      /--duration needs a value \[/,
      /--duration=VALUE/,
    ],
    [
      'a page beyond loopback without HTTPS',
      ['demo', '--no-open', 'console.host=0.0.0.0'],
      /cannot listen on 0\.0\.0\.0 without HTTPS/,
      /Add console\.https=true/,
    ],
    [
      'a folder as recording',
      ['recover', 'docs'],
      /recording docs cannot be read: it is a folder/,
      /record list/,
    ],
    [
      'a setting of a rig where there is none',
      ['world', 'show', 'sort', 'robot.driver=ur'],
      /robot\.driver=ur has no effect/,
      /--model/,
    ],
    [
      'an invalid address',
      ['robot', '--listen', '999.1.1.1', paired],
      /the host of the command socket "999\.1\.1\.1" has no address/,
      /192\.168\.1\.20/,
    ],
    [
      'YAML without a space',
      ['operator', 'operator.inputs.joints={port:5670}'],
      /"port:5670" needs a space after its colon/,
      /operator\.inputs\.joints\.port=5670/,
    ],
    ['an extra argument', ['robot', 'ur3'], /does not take "ur3"/, /robot --help/],
    ['a missing rig', ['robot', '--rig', 'dmo'], /no rig named "dmo"/, /Did you mean "demo"/],
    ['a missing rig file', ['robot', '--rig', './none.yaml'], /none\.yaml does not exist/, /config rigs/],
    ['a missing rig among the settings', ['robot', 'rig=dmo'], /no rig named "dmo"/, /Did you mean "demo"/],
    ['a device as rig', ['robot', '--rig', '/dev/zero'], /not a regular file/, /a regular file of YAML/],
    [
      'missing credentials of a fleet',
      ['robot', '--fleet', 'nats://127.0.0.1:1', '--creds', 'none.creds'],
      /credentials none\.creds cannot be read: it does not exist \(ENOENT\)/,
      /fleet user NAME/,
    ],
    [
      'a file that holds no credentials',
      ['robot', '--fleet', 'nats://127.0.0.1:1', '--creds', 'package.json'],
      /credentials package\.json cannot be read: bad credentials/,
      /fleet user NAME/,
    ],
    [
      'two rigs',
      ['robot', 'rig=piper', '--rig', 'ur3'],
      /two different rigs given: piper and ur3/,
      /rig=NAME/,
    ],
    ['a missing trace', ['trace', 'report', 'none.jsonl'], /none\.jsonl/, /→ \w/],
    ['a bad key', ['robot', 'robot.speedPercnt=40'], /unknown setting "robot.speedPercnt"/, /"speedPercent"/],
    [
      'a bad value',
      ['robot', 'robot.speedPercent=400'],
      /"robot.speedPercent" is not valid \(from command line\)/,
      /share of/,
    ],
    ['an unknown model', ['robot', 'model=ur33'], /no robot model named "ur33"/, /"ur3"/],
    ['link: no link', ['link', '5750=4750'], /needs --profile/, /wifi-untuned/],
    ['link: no mapping', ['link', '--profile', 'wifi'], /LISTEN=TARGET/, /5750=4750/],
    [
      'link: half a mapping',
      ['link', '--profile', 'wifi', '5750'],
      /"5750" is not LISTEN=TARGET/,
      /5750=4750/,
    ],
    [
      'link: a bad port',
      ['link', '--profile', 'wifi', '5750=70000'],
      /"70000" is not an address/,
      /HOST:\]PORT/,
    ],
    ['link: no target', ['link', '--profile', 'wifi', '5750=0'], /not a target/, /port/],
    [
      'link: an unknown profile',
      ['link', '--profile', 'wan2', '5750=4750'],
      /no link profile "wan2"/,
      /"wan"/,
    ],
    [
      'link: a missing trace',
      ['link', '--trace', 'none.csv', '5750=4750'],
      /none\.csv does not exist/,
      /seq,send_us/,
    ],
    [
      'link: a bad setting',
      ['link', '--profile', 'wifi', '--set', 'delay=3', '0=4750'],
      /setting "delay"/,
      /→ \w/,
    ],
    ['link: a bad fault', ['link', '--profile', 'wifi', '--hole', 'soon', '0=4750'], /"soon"/, /300ms@5s/],
    [
      'link: a bad direction',
      ['link', '--profile', 'wifi', '--faults', 'up', '0=4750'],
      /--faults up/,
      /both, forward/,
    ],
    ['check: an unknown kind', ['check', 'wierd'], /no check "wierd"/, /Did you mean wired/],
    ['check: an unknown profile', ['check', 'profile:wify'], /no link profile "wify"/, /profile:wifi\?/],
    [
      'check: a robot that was not cleared to move',
      ['check', 'wired', '--robot', 'h'],
      /would be armed/,
      /add --arm/,
    ],
    [
      'check: a real arm not cleared',
      ['check', 'local', '--rig', 'piper'],
      /driver piper.* would be armed/,
      /add --arm/,
    ],
    [
      'check: a remote robot with a local check',
      ['check', 'local', '--robot', 'h', '--arm', paired],
      /this machine only/,
      /check wired/,
    ],
    [
      'check: a comparison with an unknown transport',
      ['check', 'wireless', '--compare', 'udp,tcp'],
      /--compare udp,tcp is not valid/,
      /udp,zmq/,
    ],
    [
      'check: a comparison of one transport',
      ['check', 'local', '--compare', 'udp'],
      /--compare udp is not valid/,
      /udp,zmq/,
    ],
    [
      'check: a missing budget',
      ['check', 'local', '--budget', 'none.yaml'],
      /none\.yaml does not exist/,
      /budgets\//,
    ],
  ];
  for (const [what, args, message, hint] of wrong)
    it(`rejects ${what} with a hint and exit code 2`, async () => {
      const { code, stdout, stderr } = await farhand(args);
      assert.equal(code, 2, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, message);
      assert.match(stderr, hint);
      assert.match(stderr, /^farhand: .*\n {2}→ .*\n$/, 'one line for the error, one for the hint');
    });

  it('names file and line of a broken rig', async () => {
    const file = path.join(temporaryFolder(), 'broken.yaml');
    writeFileSync(file, 'name: x\nrobot: [unclosed\n');
    const { code, stderr } = await farhand(['robot', '--rig', file]);
    assert.equal(code, 2);
    assert.match(stderr, /broken\.yaml cannot be read: .*line/s);
  });

  it('rejects a rig file without settings, which would otherwise start the arm of the demo', async () => {
    const file = path.join(temporaryFolder(), 'empty.yaml');
    for (const text of ['', '# nothing yet\n', '{}', '[]', 'ur3']) {
      writeFileSync(file, text);
      const { code, stderr } = await farhand(['robot', '--rig', file]);
      assert.equal(code, 2, text);
      assert.match(stderr, /empty\.yaml has no settings.*farhand config rigs/s);
    }
  });

  it('explains no settings that a robot or an operator would reject', async () => {
    for (const [setting, reason] of [
      ['robot.jointRanges={elbo: {minRad: 0}}', /has no joint "elbo"/],
      ['robot.jointRanges.__proto__.minRad=0', /unknown setting "robot\.jointRanges\.__proto__"/],
      ['robot.options.sped=1', /sped/],
      ['robot.playout=fixd:20', /fixd/],
      ['robot.groundZM=0.3', /home pose/],
      ['operator.input=page2', /is not one of operator\.inputs/],
      ['operator.inputs.scripted.sped=1', /sped/],
      ['model=ur33', /ur33/],
    ] as const) {
      const { code, stderr } = await farhand(['config', 'explain', setting]);
      assert.equal(code, 2, setting);
      assert.match(stderr, reason);
    }
  });

  it('accepts rig=NAME among the settings', async () => {
    const { stdout } = await farhand(['config', 'explain', '--json', 'rig=piper', 'operator.hz=50']);
    const entries = JSON.parse(stdout) as { key: string; value: unknown; source: string }[];
    const find = (key: string) => entries.find((entry) => entry.key === key);
    assert.equal(find('robot.driver')?.source, 'rig piper.yaml');
    assert.equal(find('operator.hz')?.value, 50);
  });

  it('explains every setting with value, source and meaning', async () => {
    const { code, stdout } = await farhand(['config', 'explain', '--json', 'robot.speedPercent=40']);
    assert.equal(code, 0);
    const entries = JSON.parse(stdout) as { key: string; value: unknown; source: string; about: string }[];
    const find = (key: string) => entries.find((entry) => entry.key === key);
    assert.deepEqual(
      [find('robot.speedPercent')?.value, find('robot.speedPercent')?.source],
      [40, 'command line'],
    );
    assert.equal(find('operator.autoArm')?.source, 'rig demo.yaml');
    assert.equal(find('operator.hz')?.source, 'default');
    assert.deepEqual(
      entries
        .filter((entry) => entry.about === '' && !/\.inputs\./.test(entry.key))
        .map((entry) => entry.key),
      [],
      'every setting has a description',
    );
  });

  it('lists plug-ins found in their folders', async () => {
    const { stdout } = await farhand(['plugins', '--json']);
    const rows = JSON.parse(stdout) as { kind: string; name: string }[];
    for (const wanted of ['driver sim', 'input scripted', 'input page', 'model ur3'])
      assert.ok(
        rows.some((row) => `${row.kind} ${row.name}` === wanted),
        wanted,
      );
  });
});
