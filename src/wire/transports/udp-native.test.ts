import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { needs } from '../../../test/needs.ts';
import { monotonicClock } from '../../core/time/clock.ts';
import { type DatagramHandler, peerOf } from '../reactor.ts';
import { type Libc, loadLibc } from './libc.ts';
import { nativeReactor, openNativeReactor } from './udp-native.ts';

const LOOPBACK = '127.0.0.1';
const skip = needs('Linux');

const AF_INET = 2;
const SOCK_DGRAM = 2;
const IPPROTO_IP = 0;
const IP_RECVTOS = 13;
const IP_TOS = 1;
const MSG_DONTWAIT = 0x40;

/** A bound socket that asks the kernel for the type-of-service byte of what it receives. */
function openTosListener(libc: Libc): { fd: number; port: number } {
  const fd = libc.socket(AF_INET, SOCK_DGRAM, 0);
  assert.ok(fd >= 0);
  const one = new Uint8Array(new Int32Array([1]).buffer);
  assert.equal(libc.setsockopt(fd, IPPROTO_IP, IP_RECVTOS, one, 4), 0);
  const address = new Uint8Array(new ArrayBuffer(16));
  address.set([AF_INET, 0, 0, 0, 127, 0, 0, 1]);
  assert.equal(libc.bind(fd, address, 16), 0);
  const size = new Uint8Array(new Uint32Array([16]).buffer);
  assert.equal(libc.getsockname(fd, address, size), 0);
  return { fd, port: address[2]! * 256 + address[3]! };
}

/** The type-of-service byte of one waiting datagram. */
function receiveTos(libc: Libc, fd: number): number {
  const header = new DataView(new ArrayBuffer(64));
  const vector = new DataView(new ArrayBuffer(16));
  const control = new DataView(new ArrayBuffer(64));
  const payload = new Uint8Array(new ArrayBuffer(64));
  const bytes = (view: DataView) => new Uint8Array(view.buffer);
  vector.setBigUint64(0, libc.address(payload), true);
  vector.setBigUint64(8, 64n, true);
  header.setBigUint64(16, libc.address(bytes(vector)), true);
  header.setBigUint64(24, 1n, true);
  header.setBigUint64(32, libc.address(bytes(control)), true);
  header.setBigUint64(40, 64n, true);
  assert.equal(libc.recvmmsg(fd, bytes(header), 1, MSG_DONTWAIT, null), 1);
  // struct cmsghdr: length, level, type, then the byte.
  assert.deepEqual([control.getInt32(8, true), control.getInt32(12, true)], [IPPROTO_IP, IP_TOS]);
  return control.getUint8(16);
}

describe('native sockets', { skip }, () => {
  it('mark what they send for expedited forwarding', async () => {
    const libc = await loadLibc();
    const reactor = await openNativeReactor([{ name: 'command', host: LOOPBACK, port: 0 }]);
    const { fd, port } = openTosListener(libc);
    try {
      assert.ok(reactor.send(0, new Uint8Array([1, 2, 3]), 3, peerOf(LOOPBACK, port)) > 0);
      assert.equal(receiveTos(libc, fd), 0xb8);
    } finally {
      libc.close(fd);
      reactor.close();
    }
  });

  it('work without kernel stamps and marks where the kernel has none, and say so', async () => {
    const libc = await loadLibc();
    const without: Libc = { ...libc, setsockopt: () => -1 };
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const reactor = nativeReactor(without, [{ name: 'a', host: LOOPBACK, port: 0 }], stop, monotonicClock, 0);
    const stampsNs: number[] = [];
    try {
      assert.equal(reactor.stampSource, 'userspace');
      reactor.send(0, new Uint8Array([7]), 1, peerOf(LOOPBACK, reactor.localPort(0)));
      await reactor.run({
        onDatagram: (_socket, _bytes, _length, _from, _receivedNs, kernelNs) => {
          stampsNs.push(kernelNs);
          reactor.stop();
        },
        onOversize: () => {},
        onDeadline: () => reactor.stop(),
        nextDeadlineNs: () => Number.POSITIVE_INFINITY,
      });
    } finally {
      reactor.close();
    }
    assert.deepEqual(stampsNs, [Number.NaN]);
  });

  it('stamp arrivals in the kernel, at most 50 ms before they are read, also while the reader is busy', async (context) => {
    const reactor = await openNativeReactor([
      { name: 'a', host: LOOPBACK, port: 0 },
      { name: 'b', host: LOOPBACK, port: 0 },
    ]);
    if (reactor.stampSource !== 'kernel') {
      reactor.close();
      return context.skip('run on Linux itself: an emulated processor has no kernel stamps');
    }
    const to = peerOf(LOOPBACK, reactor.localPort(1));
    const waits: number[] = [];
    let sentNs = 0;
    let tick = 0;
    const handler: DatagramHandler = {
      onDatagram(_socket, _bytes, _length, _from, receivedNs, kernelNs) {
        waits.push(receivedNs - kernelNs);
        assert.ok(kernelNs >= sentNs - 1e6, 'not before it was sent');
      },
      onOversize: () => assert.fail(),
      onDeadline() {
        if (++tick > 40) return reactor.stop();
        sentNs = monotonicClock.nowNs();
        reactor.send(0, new Uint8Array(8), 8, to);
        // Odd ticks leave the datagram in the socket for 3 ms, however long sending it took.
        const arrivedNs = monotonicClock.nowNs();
        while (tick % 2 === 1 && monotonicClock.nowNs() < arrivedNs + 3e6);
      },
      nextDeadlineNs: () => 0,
    };
    await reactor.run(handler);
    reactor.close();
    const prompt = waits.filter((_, i) => i % 2 === 1);
    const delayed = waits.filter((_, i) => i % 2 === 0);
    assert.equal(waits.length, 40);
    assert.ok(waits.every((ns) => ns >= 0));
    assert.ok(Math.min(...prompt) < 50e6);
    // The stamp is the arrival time, not the time of the read. On a busy machine the kernel itself may deliver one late.
    const medianNs = delayed.sort((a, b) => a - b)[delayed.length >> 1]!;
    assert.ok(medianNs > 2e6, `${medianNs}`);
    assert.ok(Math.min(...prompt) < medianNs);
  });

  it('do not treat a host name as “all addresses”', async () => {
    await assert.rejects(openNativeReactor([{ name: 'command', host: 'localhost', port: 0 }]), {
      code: 'socket-failed',
    });
    const everywhere = await openNativeReactor([{ name: 'command', host: '0.0.0.0', port: 0 }]);
    everywhere.close();
  });
});
