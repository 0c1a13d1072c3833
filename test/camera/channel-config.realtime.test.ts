import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TeleopError } from '../../src/core/errors.ts';
import { frameReceiverConfig, frameSenderConfig } from '../../src/rig/camera-channel.ts';
import { loadRig } from '../../src/rig/rig.ts';

const rig = (...overrides: string[]) =>
  loadRig('demo', ['link.security=plain', 'cameras.list.front.source=sim', ...overrides]).config;

const isNotLoopback = (error: unknown): boolean =>
  error instanceof TeleopError && error.code === 'not-loopback' && error.hint.includes('plainBeyondLoopback');

describe('camera channel settings', () => {
  it('keep pictures on this machine on a plain link', () => {
    const receiver = frameReceiverConfig(rig());
    assert.deepEqual([receiver.host, receiver.port, receiver.curve], ['127.0.0.1', 4753, null]);
    assert.deepEqual(frameSenderConfig(rig()).cameras, ['front']);
  });

  it('reject unencrypted pictures beyond this machine unless explicitly allowed', () => {
    assert.throws(() => frameSenderConfig(rig('cameras.listenHost=0.0.0.0')), isNotLoopback);
    assert.throws(() => frameReceiverConfig(rig('cameras.host=192.0.2.7')), isNotLoopback);
    assert.throws(
      () => frameSenderConfig(rig('cameras.wire=udp', 'cameras.sendTo=["192.0.2.7:5000"]')),
      isNotLoopback,
    );
    const open = frameSenderConfig(
      rig('cameras.wire=udp', 'cameras.sendTo=["192.0.2.7:5000"]', 'cameras.plainBeyondLoopback=true'),
    );
    assert.deepEqual(open.sendTo, [{ host: '192.0.2.7', port: 5000 }]);
  });

  it('reject an invalid camera name or rate', () => {
    assert.throws(() => rig('cameras.list.a b.source=sim'), TeleopError);
    assert.throws(() => rig('cameras.list.front.fpsHz=0'), TeleopError);
  });
});
