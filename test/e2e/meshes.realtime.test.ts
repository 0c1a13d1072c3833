import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { openConsole } from '../../src/app/open-console.ts';
import type { ConsoleHandle } from '../../src/console/server.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { rigMeshes } from '../../src/rig/robot-meshes.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { launchChromium } from './chromium.ts';
import { root } from './farhand.ts';
import { armUrdf, daeText, glbBytes, objText, stlBytes } from './mesh-samples.ts';
import { OperatorPeer } from './operator-peer.ts';

const artifacts = path.join(root, 'artifacts');

/** An own robot with one mesh of each format. */
describe('meshes of a URDF', { skip: needs('chromium'), timeout: 60_000 }, () => {
  const folder = path.join(temporaryFolder('meshes'), 'own_arm');
  const urdf = path.join(folder, 'urdf', 'arm.urdf');
  let browser: Browser;
  let served: ConsoleHandle;
  let peer: OperatorPeer;
  const complaints: string[] = [];

  before(async () => {
    const meshes = path.join(folder, 'meshes');
    for (const each of [meshes, path.dirname(urdf), path.join(folder, 'urdf', 'meshes')])
      mkdirSync(each, { recursive: true });
    writeFileSync(path.join(meshes, 'base.stl'), stlBytes());
    writeFileSync(path.join(folder, 'urdf/meshes/one.obj'), objText());
    writeFileSync(path.join(folder, 'urdf/meshes/two.dae'), daeText());
    writeFileSync(path.join(folder, 'urdf/meshes/three.glb'), glbBytes());
    writeFileSync(urdf, armUrdf());
    const [deskPort = 0, telemetryPort = 0] = await freeUdpPorts(2);
    const ports = [`console.deskPort=${deskPort}`, `console.telemetryPort=${telemetryPort}`];
    const rig = loadRig('demo', [`model=${urdf}`, 'operator.mapper.ik=numeric', 'console.port=0', ...ports]);
    peer = new OperatorPeer({ deskPort, telemetryPort }, loadModel(urdf));
    peer.measuredRad = [0.3, 0.5, 0.4];
    served = await openConsole(rig.config);
    browser = await launchChromium();
    mkdirSync(artifacts, { recursive: true });
  });
  after(async () => {
    await browser?.close();
    await served?.close();
    peer?.close();
  });

  it('are found beside the file and by package, and a missing one is left out', () => {
    const meshes = rigMeshes(urdf);
    assert.deepEqual(
      meshes.map(({ frame, format, colour }) => [frame, format, colour]),
      [
        [0, 'stl', '#00b300'],
        [1, 'obj', null],
        [2, 'dae', null],
        [3, 'glb', null],
      ],
    );
    assert.deepEqual(meshes[1]!.scale, [1, 1, 1.5]);
    assert.deepEqual(rigMeshes('ur3'), []);
  });

  for (const name of ['', 'vr'])
    it(`show the robot on /${name}`, async () => {
      const page = await browser.newPage({ viewport: { width: 900, height: 640 } });
      page.on('console', (message) => ['error', 'warning'].includes(message.type()) && note(message.text()));
      page.on('pageerror', (error) => complaints.push(String(error)));
      await page.goto(new URL(name, served.url).href);
      await page.locator('html[data-meshes="4"]').waitFor();
      await page.waitForTimeout(300);
      await page.screenshot({ path: path.join(artifacts, `meshes-${name || 'page'}.png`) });
      assert.deepEqual(complaints, []);
      await page.close();
    });

  it('are the only files that the console hands out', async () => {
    const first = await fetch(served.url);
    const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
    const get = (url: string, headers: Record<string, string> = { cookie }) =>
      fetch(new URL(url, served.url), { headers });
    assert.deepEqual(new Uint8Array(await (await get('api/meshes/0')).arrayBuffer()), stlBytes());
    assert.equal((await get('api/meshes/4')).status, 404);
    assert.equal((await get('api/meshes/..%2Furdf%2Farm.urdf')).status, 404);
    assert.equal((await get('api/meshes/0', {})).status, 403);
  });

  /** A software renderer reports slow calls. */
  const note = (text: string) => /GPU stall|swiftshader|WebGL/i.test(text) || complaints.push(text);
});
