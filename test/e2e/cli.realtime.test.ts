import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
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

/** The messages are tested without processes in src/cli/verbs.test.ts. */
describe('command line as a process', () => {
  const wrong: [string, string[], RegExp, RegExp][] = [
    ['an unknown verb', ['dmeo'], /no verb "dmeo"/, /Did you mean `farhand demo`/],
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
    [
      'a host that does not resolve',
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
    it(`rejects ${what} with a hint and exit code 2`, async () => {
      const { code, stdout, stderr } = await farhand(args);
      assert.equal(code, 2, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, message);
      assert.match(stderr, hint);
      assert.match(stderr, /^farhand: .*\n {2}→ .*\n$/, 'one line for the error, one for the hint');
    });

  it('reports a UDP port in use and how to choose another', async () => {
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

  it('reports an HTTP port in use and how to choose another', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const { code, stderr } = await farhand(['console', `console.port=${port}`]);
    server.close();
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`console\\.port=${port + 1}`));
  });
});
