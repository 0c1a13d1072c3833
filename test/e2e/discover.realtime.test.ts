import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { NearbyRobot } from '../../src/messages/console.ts';
import { Lifetime } from '../lifetime.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { root } from './farhand.ts';

const bin = path.join(root, 'bin', 'farhand');

/** A network of its own, with two robots and a console; the last line is what the console finds on it. */
const SCRIPT = `
ip link set lo up
ip link add lan type veth peer name far
ip link set far up
ip address add 10.9.0.1/24 dev lan
ip address add fd09::1/64 dev lan nodad
ip link set lan up
ip route add multicast 224.0.0.0/4 dev lan
"$FARHAND" pair --key-file cell.key --name cell >/dev/null
"$FARHAND" pair --import cell.key >/dev/null
"$FARHAND" robot --listen 10.9.0.1 --announce "left cell" trace.dir= &
"$FARHAND" robot --listen fd09::1 --announce "right cell" link.commandPort=4850 link.statePort=4851 link.syncPort=4852 trace.dir= &
"$FARHAND" console &
node ask.mjs
`;

const ASK = `
const url = 'http://localhost:4747/';
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
let page = null;
while (page === null) {
  await wait(200);
  page = await fetch(url).catch(() => null);
}
const cookie = page.headers.get('set-cookie').split(';')[0];
const unpaired = (await fetch(url + 'api/robots')).status;
let robots = [];
while (robots.length < 2) robots = await (await fetch(url + 'api/robots', { headers: { cookie } })).json();
console.log(JSON.stringify({ unpaired, robots }));
`;

describe('robots on the local network', { timeout: 120_000 }, () => {
  it('are listed by the console, each with what to type', { skip: needs('network namespaces') }, async () => {
    const lifetime = new Lifetime();
    const folder = temporaryFolder('discover');
    const env = {
      ...process.env,
      FARHAND: bin,
      FARHAND_KEYS: path.join(folder, 'keys'),
      FARHAND_STATE: folder,
    };
    writeFileSync(path.join(folder, 'ask.mjs'), ASK);
    const network = spawn('unshare', ['-n', '--kill-child', '-fp', 'bash', '-ec', SCRIPT], {
      cwd: folder,
      env,
    });
    lifetime.own(network, () => network.kill('SIGKILL'));
    try {
      let text = '';
      network.stdout.on('data', (bytes) => {
        text += String(bytes);
      });
      let errors = '';
      network.stderr.on('data', (bytes) => {
        errors += String(bytes);
      });
      const [code] = await once(network, 'close');
      assert.equal(code, 0, errors);
      const { unpaired, robots } = JSON.parse(text.trim().split('\n').at(-1)!) as {
        unpaired: number;
        robots: NearbyRobot[];
      };
      assert.equal(unpaired, 403);
      assert.deepEqual(robots.map(({ name, command }) => [name, command]).sort(), [
        ['left cell', 'farhand operator --robot 10.9.0.1'],
        [
          'right cell',
          'farhand operator --robot fd09::1 link.commandPort=4850 link.statePort=4851 link.syncPort=4852',
        ],
      ]);
    } finally {
      await lifetime.end();
    }
  });
});
