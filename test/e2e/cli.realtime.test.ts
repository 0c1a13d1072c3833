import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, it } from 'node:test';
import { createKey, writeKeyFile } from '../../src/wire/secure/key-file.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand } from './farhand.ts';

const dir = temporaryFolder();
const keyFile = path.join(dir, 'test.key');
writeKeyFile(keyFile, { name: 'test', key: createKey(), createdAt: '2026-01-01T00:00:00Z' });
const paired = `link.keyFile=${keyFile}`;

describe('command line', () => {
  it('lists its verbs and explains each', async () => {
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

  const wrong: [string, string[], RegExp, RegExp][] = [
    ['an unknown verb', ['dmeo'], /no verb "dmeo"/, /Did you mean `farhand demo`/],
    ['an unknown option', ['demo', '--headles'], /no option --headles/, /Did you mean --headless/],
    ['a value out of range', ['demo', '--duration', '0'], /--duration 0 is not a number/, /--duration 10/],
    ['a word too many', ['robot', 'ur3'], /does not take "ur3"/, /robot --help/],
    ['a missing rig', ['robot', '--rig', 'dmo'], /no rig named "dmo"/, /Did you mean "demo"/],
    ['a missing rig file', ['robot', '--rig', './none.yaml'], /none\.yaml does not exist/, /config rigs/],
    ['a missing rig among the settings', ['robot', 'rig=dmo'], /no rig named "dmo"/, /Did you mean "demo"/],
    ['two rigs', ['robot', 'rig=piper', '--rig', 'ur3'], /two rigs are named: piper and ur3/, /rig=NAME/],
    ['a missing trace', ['trace', 'report', 'none.jsonl'], /none\.jsonl/, /→ \w/],
    ['a bad key', ['robot', 'robot.speedPercnt=40'], /unknown setting "robot.speedPercnt"/, /"speedPercent"/],
    [
      'a bad value',
      ['robot', 'robot.speedPercent=400'],
      /"robot.speedPercent" is not valid \(from command line\)/,
      /share of/,
    ],
    [
      'a bad playout',
      ['robot', 'robot.playout=sixty', 'link.commandPort=0', 'link.statePort=0', 'link.syncPort=0', paired],
      /not a playout policy/,
      /fixed:<ms>/,
    ],
    [
      'an unknown driver',
      ['robot', 'robot.driver=simm', 'link.commandPort=0', 'link.statePort=0', 'link.syncPort=0', paired],
      /no driver named "simm"/,
      /Did you mean "sim"/,
    ],
    ['an unknown model', ['robot', 'model=ur33'], /no robot model named "ur33"/, /"ur3"/],
    [
      'a host without address',
      [
        'operator',
        'link.robotHost=no-such-host.invalid',
        'console.deskPort=0',
        'console.telemetryPort=0',
        paired,
      ],
      /no-such-host\.invalid/,
      /link\.robotHost=/,
    ],
  ];
  for (const [what, args, message, hint] of wrong)
    it(`refuses ${what} with a hint and exit code 2`, async () => {
      const { code, stdout, stderr } = await farhand(args);
      assert.equal(code, 2, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, message);
      assert.match(stderr, hint);
      assert.match(stderr, /^farhand: .*\n {2}→ .*\n$/, 'one line of what, one of what to do');
    });

  it('names file and line of a broken rig', async () => {
    const file = path.join(dir, 'broken.yaml');
    writeFileSync(file, 'name: x\nrobot: [unclosed\n');
    const { code, stderr } = await farhand(['robot', '--rig', file]);
    assert.equal(code, 2);
    assert.match(stderr, /broken\.yaml cannot be read: .*line/s);
  });

  it('says which UDP port is in use and how to choose another', async () => {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    const { port } = socket.address();
    const { code, stderr } = await farhand([
      'robot',
      paired,
      `link.commandPort=${port}`,
      'link.statePort=0',
      'link.syncPort=0',
    ]);
    socket.close();
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`127\\.0\\.0\\.1:${port} for the command socket is in use`));
    assert.match(stderr, new RegExp(`link\\.commandPort=${port + 10}`));
  });

  it('says which HTTP port is in use and how to choose another', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const { code, stderr } = await farhand(['console', `console.port=${port}`]);
    server.close();
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`console\\.port=${port + 1}`));
  });

  it('takes a rig among the settings', async () => {
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
      'every setting says what it means',
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
