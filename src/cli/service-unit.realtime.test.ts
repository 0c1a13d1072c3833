import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { needs } from '../../test/needs.ts';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { type ServiceUnit, unitName, unitText } from './service-unit.ts';

const unit: ServiceUnit = {
  role: 'robot',
  user: 'daemon',
  rig: 'demo',
  overrides: ['link.listenHost=0.0.0.0', 'name=an arm at 100 % $HOME "quoted"'],
  node: process.execPath,
  bin: path.resolve('bin/farhand'),
  workingDirectory: tmpdir(),
  home: '/home/daemon',
  realtimePriority: 80,
};

describe('a systemd unit', () => {
  it('restarts on failure and allows real-time priority', () => {
    const text = unitText(unit);
    assert.match(text, /^Restart=on-failure$/m);
    assert.match(text, /^LimitRTPRIO=80$/m);
    assert.match(text, /^User=daemon$/m);
    assert.match(text, /"name=an arm at 100 %% \$\$HOME \\"quoted\\""/);
  });

  it('starts a robot of a fleet, or the fleet console', () => {
    const fleet = { url: 'nats://broker:4222', credentials: '/etc/farhand/arm-1.creds' };
    const robot =
      /^ExecStart=.*farhand robot --fleet nats:\/\/broker:4222 --creds \/etc\/farhand\/arm-1\.creds --rig demo/m;
    assert.match(unitText({ ...unit, fleet }), robot);
    const page = /^ExecStart=.*farhand fleet console --server nats:\/\/broker:4222 --creds \S+ --rig demo/m;
    assert.match(unitText({ ...unit, role: 'console', fleet }), page);
    assert.match(unitText({ ...unit, role: 'fleet', fleet }), / fleet serve --server \S+ --creds \S+ --rig /);
  });

  it('passes systemd-analyze verify', { skip: needs('systemd-analyze') }, () => {
    const file = path.join(temporaryFolder('unit'), unitName('robot'));
    writeFileSync(file, unitText(unit));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
      encoding: 'utf8',
    });
    const ours = stderr.split('\n').filter((line) => line.includes(unitName('robot')));
    assert.deepEqual([status, ours], [0, []], stderr);
  });

  it('is sandboxed: exposure of at most 3 of 10 by systemd’s own count', {
    skip: needs('systemd-analyze'),
  }, () => {
    const file = path.join(temporaryFolder('unit'), unitName('robot'));
    writeFileSync(file, unitText(unit));
    const args = ['security', '--offline=true', '--threshold=30', '--no-pager', file];
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    assert.equal(status, 0, stdout.split('\n').slice(-3).join('\n') + stderr);
  });
});
