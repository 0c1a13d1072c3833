import assert from 'node:assert/strict';
import type { AddressInfo, Socket } from 'node:net';
import { describe, it } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { unpack } from './msgpack.ts';
import type { Observation } from './observation.ts';
import { openPolicy } from './open-policy.ts';
import { ANSWER, METADATA } from './openpi-vectors.ts';

const observation = (rad: number) =>
  ({ state: { positionsRad: [rad], gripper: 0 }, frames: {}, task: 't' }) as unknown as Observation;

/** A server that sends what it is on connection, as openpi's does, then hands out what it receives. */
async function serve(onMessage: (socket: WebSocket, state: Uint8Array) => void) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  server.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      const { 'observation/state': state } = unpack(data) as Record<string, { data: Uint8Array }>;
      onMessage(socket, state!.data);
    });
    socket.send(Buffer.from(METADATA, 'hex'));
  });
  const close = () => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  };
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

describe("a policy over openpi's protocol", () => {
  it('reads the server’s rate, and answers arrive in order even when a request is given up', {
    timeout: 10_000,
  }, async () => {
    const asked: (() => void)[] = [];
    const { url, close } = await serve((socket) => asked.push(() => socket.send(Buffer.from(ANSWER, 'hex'))));
    const policy = await openPolicy(url);
    try {
      assert.equal(policy.facts.fps, 10);
      const giveUp = new AbortController();
      const first = policy.infer(observation(1), giveUp.signal);
      const second = policy.infer(observation(2), new AbortController().signal);
      giveUp.abort();
      await assert.rejects(first, /given up/);
      while (asked.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      let isAnswered = false;
      void second.then(() => {
        isAnswered = true;
      });
      asked[0]!();
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.ok(!isAnswered, 'the first answer belongs to the request that was given up');
      asked[1]!();
      assert.deepEqual([...(await second).values], [1.5, -2.25, 0, 0.5, 3, 1]);
    } finally {
      policy.close();
      close();
    }
  });

  it('requests that overlap survive a server that dies with half an answer', {
    timeout: 20_000,
  }, async () => {
    let dying = 3;
    const { url, close } = await serve((socket) => {
      if (dying-- <= 0) return socket.send(Buffer.from(ANSWER, 'hex'));
      const { _socket: raw } = socket as unknown as { _socket: Socket };
      raw.write(Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0, 1]));
      setTimeout(() => raw.destroy(), 20);
    });
    const policy = await openPolicy(url);
    const ask = () => policy.infer(observation(1), AbortSignal.timeout(3000));
    try {
      for (let i = 0; i < 4; i++) await Promise.allSettled([ask(), ask(), ask()]);
      assert.deepEqual(
        (await Promise.all([ask(), ask()])).map(({ rows }) => rows),
        [2, 2],
      );
    } finally {
      policy.close();
      close();
    }
  });

  it('a server that does not speak the protocol is reported', { timeout: 10_000 }, async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await new Promise((resolve) => server.once('listening', resolve));
    server.on('connection', (socket) => socket.send(Buffer.from([0xdf, 255, 255, 255, 255])));
    const { port } = server.address() as AddressInfo;
    await assert.rejects(openPolicy(`ws://127.0.0.1:${port}`), /its first message is invalid/);
    await assert.rejects(openPolicy(`tcp://127.0.0.1:${port}/x`), /not an address of ZeroMQ/);
    server.close();
  });

  it('a server’s error and an unreadable answer reject their request; the next one connects anew', {
    timeout: 10_000,
  }, async () => {
    const answers = ['text', 'garbage', 'good'];
    const { url, close } = await serve((socket) => {
      const kind = answers.shift();
      if (kind === 'text') {
        socket.send('Traceback\nValueError: no camera');
        socket.close(1011);
      } else socket.send(Buffer.from(kind === 'good' ? ANSWER : 'c1', 'hex'));
    });
    const policy = await openPolicy(url);
    const ask = () => policy.infer(observation(1), new AbortController().signal);
    try {
      await assert.rejects(ask(), /ValueError: no camera/);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await assert.rejects(ask(), /not supported/);
      assert.equal((await ask()).rows, 2);
    } finally {
      policy.close();
      close();
    }
  });

  it('without a server it says what to do', { timeout: 10_000 }, async () => {
    await assert.rejects(openPolicy('ws://127.0.0.1:9'), { code: 'policy-failed' });
  });
});
