import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { needs } from '../../test/needs.ts';
import { fleetConfig } from '../rig/fleet-config.ts';
import { AUDIO, openAudio } from './audio-source.ts';

const skip = needs('ffmpeg');

describe('the robot’s sound', { skip }, () => {
  it('arrives as the consecutive Opus packets of one stream', async () => {
    const packets: Uint8Array[] = [];
    const audio = await openAudio({ audio: 'test' }, (rtp) => packets.push(rtp.slice()));
    for (let waits = 0; waits < 300 && packets.length < 25; waits++) await sleep(20);
    audio.close();
    assert.ok(packets.length >= 25, `${packets.length} packets`);
    const views = packets.map((bytes) => new DataView(bytes.buffer));
    for (const view of views) {
      assert.equal(view.getUint8(1) & 0x7f, AUDIO.payloadType);
      assert.equal(view.getUint32(8), AUDIO.ssrc);
    }
    views.forEach((view, i) => {
      assert.equal(view.getUint16(2), i);
      if (i === 0) return;
      const step = (view.getUint32(4) - views[i - 1]!.getUint32(4)) >>> 0;
      assert.equal(step, AUDIO.clockRate / 50, '20 ms');
    });
    const received = packets.length;
    await sleep(100);
    assert.equal(packets.length, received, 'silent when closed');
  });

  it('is off when fleet.audio is empty', async () => {
    const audio = await openAudio({ audio: '' }, () => assert.fail());
    audio.close();
    audio.close();
  });
});

it('accepts only device names in fleet.audio', () => {
  const accepted = (audio: string) => fleetConfig.safeParse({ audio }).success;
  for (const good of ['', 'test', 'alsa:hw:0', 'alsa:plughw:CARD=Device,DEV=0', 'pulse:default'])
    assert.ok(accepted(good), good);
  for (const bad of [
    'lavfi:sine',
    'alsa:',
    'alsa:-y',
    'pulse:a b',
    'alsa:hw:0;reboot',
    '/dev/snd',
    'file:/etc',
  ])
    assert.ok(!accepted(bad), bad);
});
