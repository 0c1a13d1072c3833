import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Running, root, startFarhand } from './farhand.ts';

const skip = needs('nats-server');

describe('the actions of `farhand fleet`', { skip }, () => {
  const folder = temporaryFolder();
  const keys = path.join(folder, 'fleet');
  let dev: Running;
  let url = '';

  async function run(...args: string[]) {
    const child = spawn(process.execPath, [path.join(root, 'bin/farhand'), 'fleet', ...args], {
      env: { ...process.env, FARHAND_STATE: folder },
    });
    let output = '';
    child.stdout.on('data', (data) => {
      output += data;
    });
    child.stderr.on('data', (data) => {
      output += data;
    });
    const [code] = (await once(child, 'close')) as [number];
    return { code, output };
  }

  before(async () => {
    const port = (await freeUdpPorts(1))[0]!;
    dev = startFarhand(['fleet', 'dev', '--port', String(port), '--dir', keys]);
    await dev.waitFor(/Ctrl-C/);
    url = `nats://127.0.0.1:${port}`;
  });
  after(() => dev?.end());

  it('prints the next commands after `dev`, with the right addresses', () => {
    const output = dev.stdout();
    assert.match(output, new RegExp(`farhand robot --fleet ${url} --creds ${keys}/demo.creds`));
    assert.match(output, new RegExp(`farhand fleet console --server ${url} --creds ${keys}/me.creds`));
  });

  it('explains what the broker rejects', async () => {
    const me = ['--server', url, '--creds', path.join(keys, 'me.creds')];
    const [logs, bucket] = await Promise.all([run('logs', ...me), run('bucket', 'demo', ...me)]);
    assert.match(logs.output, /only an administrator may read the log of all robots \[bad-option\]/);
    assert.match(
      bucket.output,
      /these credentials do not allow `fleet \w+` here \[fleet-refused\]\n {2}→ .*admin\.creds/,
    );
    assert.deepEqual([logs.code, bucket.code], [2, 2]);
    const resized = await run(
      'bucket',
      'demo',
      '--gb',
      '3',
      '--server',
      url,
      '--creds',
      `${keys}/admin.creds`,
    );
    assert.match(resized.output, /exists already, with a different size.*\[fleet-refused\]/);
  });

  it('accepts the old name of --server, and uses the credentials of `dev` by default', async () => {
    const [listed, log] = await Promise.all([
      run('recordings', 'demo', '--server', url),
      run('logs', 'demo', '--url', url, '--creds', `${keys}/me.creds`),
    ]);
    assert.deepEqual([listed.code, listed.output.trim()], [0, 'no recordings of demo']);
    assert.deepEqual([log.code, log.output.trim()], [0, 'the log is empty']);
  });

  it('rejects a port on which another server listens', async () => {
    const { code, output } = await run('dev', '--dir', keys, '--port', url.split(':').at(-1)!);
    assert.equal(code, 2);
    assert.match(output, /port \d+ on 127\.0\.0\.1 is in use \[port-in-use\]/);
  });

  it('creates neither server nor keys if one of the two TLS files is missing', async () => {
    const dir = path.join(folder, 'other');
    const half = await run('init', '--dir', dir, '--tls-cert', '/tmp/c.pem');
    assert.match(half.output, /--tls-cert and --tls-key go together/);
    assert.equal(existsSync(dir), false);
  });
});
