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

describe('the words of `farhand fleet`', { skip }, () => {
  const folder = temporaryFolder();
  const keys = path.join(folder, 'fleet');
  let dev: Running;
  let url = '';

  async function run(...words: string[]) {
    const child = spawn(process.execPath, [path.join(root, 'bin/farhand'), 'fleet', ...words], {
      env: { ...process.env, FARHAND_STATE: folder },
    });
    let said = '';
    child.stdout.on('data', (data) => {
      said += data;
    });
    child.stderr.on('data', (data) => {
      said += data;
    });
    const [code] = (await once(child, 'close')) as [number];
    return { code, said };
  }

  before(async () => {
    const port = (await freeUdpPorts(1))[0]!;
    dev = startFarhand(['fleet', 'dev', '--port', String(port), '--dir', keys]);
    await dev.waitFor(/Ctrl-C/);
    url = `nats://127.0.0.1:${port}`;
  });
  after(() => dev?.end());

  it('says after `dev` how to begin, with addresses that are right', () => {
    const said = dev.stdout();
    assert.match(said, new RegExp(`farhand robot --fleet ${url} --creds ${keys}/demo.creds`));
    assert.match(said, new RegExp(`farhand fleet console --server ${url} --creds ${keys}/me.creds`));
  });

  it('refuses in its own words what the broker refuses', async () => {
    const me = ['--server', url, '--creds', path.join(keys, 'me.creds')];
    const refused = await Promise.all([run('logs', ...me), run('bucket', 'demo', ...me)]);
    for (const { code, said } of refused) {
      assert.equal(code, 2);
      assert.match(
        said,
        /these credentials do not allow `fleet \w+` here \[fleet-refused\]\n {2}→ .*admin\.creds/,
      );
    }
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
    assert.match(resized.said, /there already, with another size.*\[fleet-refused\]/);
  });

  it('takes one name for the broker, also its old one, and the credentials of `dev` when none are given', async () => {
    const [listed, log] = await Promise.all([
      run('recordings', 'demo', '--server', url),
      run('logs', 'demo', '--url', url, '--creds', `${keys}/me.creds`),
    ]);
    assert.deepEqual([listed.code, listed.said.trim()], [0, 'no recordings of demo are known']);
    assert.deepEqual([log.code, log.said.trim()], [0, 'the log is empty']);
  });

  it('does not take another server for its own', async () => {
    const { code, said } = await run('dev', '--dir', keys, '--port', url.split(':').at(-1)!);
    assert.equal(code, 2);
    assert.match(said, /port \d+ of 127\.0\.0\.1 is taken \[port-in-use\]/);
  });

  it('makes no server with half of what TLS needs, and no keys on the way', async () => {
    const dir = path.join(folder, 'other');
    const half = await run('init', '--dir', dir, '--tls-cert', '/tmp/c.pem');
    assert.match(half.said, /--tls-cert and --tls-key go together/);
    assert.equal(existsSync(dir), false);
  });
});
