// Makes docs/images/fleet.png anew: runs the test of the fleet page, which takes pictures, and copies one. Needs nats-server
// and Chromium; build first.
import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import path from 'node:path';

process.chdir(path.resolve(import.meta.dirname, '..'));
const { status } = spawnSync(process.execPath, ['scripts/test.mjs', 'fleet-console'], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
copyFileSync('artifacts/fleet-desk-dark.png', 'docs/images/fleet.png');
console.log('wrote docs/images/fleet.png');
