import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Finding, Repair } from '../../src/doctor/check.ts';
import { applyRepair, isSafe, repairsOf } from '../../src/doctor/repair.ts';

const latency: Repair = {
  kind: 'write',
  path: '/sys/bus/usb-serial/devices/ttyUSB0/latency_timer',
  value: '1',
  previous: '16',
};
const powerSave: Repair = {
  kind: 'run',
  command: ['iw', 'dev', 'wlan0', 'set', 'power_save', 'off'],
  undo: ['iw', 'dev', 'wlan0', 'set', 'power_save', 'on'],
};
const unsafe: Repair[] = [
  { kind: 'write', path: '/etc/passwd', value: 'x', previous: '' },
  { kind: 'write', path: '/sys/class/net/../../../etc/tx_queue_len', value: '1', previous: '' },
  { kind: 'write', path: '/proc/sys/net/core/rmem_max/../../../kernel/panic', value: '1', previous: '' },
  { kind: 'run', command: ['rm', '-rf', '/'], undo: [] },
  { kind: 'run', command: ['iw', 'dev', 'wlan0', 'set', 'power_save', 'off'], undo: ['reboot'] },
];

describe('repairs of the doctor', () => {
  it('are applied only if they are on the list', () => {
    assert.ok(isSafe(latency) && isSafe(powerSave));
    for (const repair of unsafe) {
      assert.equal(isSafe(repair), false, JSON.stringify(repair));
      assert.throws(() => applyRepair(repair, { write: assert.fail, run: assert.fail }), /not a safe repair/);
    }
    const finding: Finding = {
      name: '',
      verdict: 'bad',
      found: '',
      why: '',
      fix: '',
      repairs: [...unsafe, latency],
    };
    assert.deepEqual(repairsOf([finding]), [latency]);
  });

  it('apply one change and report how to undo it', () => {
    const done: string[] = [];
    const effects = {
      write: (path: string, value: string) => void done.push(`${path} ← ${value}`),
      run: (command: string, args: readonly string[]) => void done.push([command, ...args].join(' ')),
    };
    const [first, second] = [applyRepair(latency, effects), applyRepair(powerSave, effects)];
    assert.deepEqual(done, [`${latency.path} ← 1`, 'iw dev wlan0 set power_save off']);
    assert.equal(first.undo, `echo 16 | sudo tee ${latency.path}`);
    assert.equal(second.undo, 'sudo iw dev wlan0 set power_save on');
    assert.deepEqual([first.failed, second.failed], [null, null]);
  });

  it('report a missing permission or file', () => {
    const denied = () => {
      throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    };
    const { failed } = applyRepair(latency, { write: denied, run: denied });
    assert.equal(failed, 'needs root');
    const missing = applyRepair({ ...latency, path: latency.path.replace('ttyUSB0', 'ttyNowhere') });
    assert.ok(missing.failed !== null, 'there is no such adapter here');
  });
});
