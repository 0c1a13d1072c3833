import { createSecretKey } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { Periodic } from '../../src/core/time/periodic.ts';
import { peerOf } from '../../src/wire/reactor.ts';
import { Opener, SEAL_BYTES, Sealer } from '../../src/wire/secure/sealed-box.ts';
import { openNativeReactor } from '../../src/wire/transports/udp-native.ts';

/** One end of a one-way measurement, as a separate process: `endpoint rx|tx KIND HOST PORT COUNT HZ`. */
const [role = '', kind = '', host = '', portText = '', countText = '', hzText = ''] = process.argv.slice(2);
const port = Number(portText);
const count = Number(countText);
const hz = Number(hzText);

const MESSAGE_BYTES = 200;
const QUIET_MS = 2000;
const key = createSecretKey(new Uint8Array(32).fill(7));
const nowNs = () => monotonicClock.nowNs();

/** Received: seq, program's stamp, kernel's stamp or null. Sent: seq, tick due, passed to the socket. */
const stamps: [number, number, number | null][] = [];
const say = (line: unknown) => console.log(JSON.stringify(line));

const message = new Uint8Array(MESSAGE_BYTES);
const view = new DataView(message.buffer);
const box = new Uint8Array(MESSAGE_BYTES + SEAL_BYTES);
const sealer = new Sealer(key, 1);
const opener = new Opener(key);

/** The message on the wire: 200 bytes, sealed or plain. */
function compose(seq: number): Uint8Array {
  view.setUint32(0, seq, true);
  if (kind !== 'sealed') return message;
  return box.subarray(0, sealer.seal(0, message, MESSAGE_BYTES - SEAL_BYTES, box));
}

function note(bytes: Uint8Array, length: number, kernelNs: number): void {
  let plain = bytes;
  if (kind === 'sealed') {
    if (opener.open(0, bytes, length, box) !== null) return;
    plain = box;
  }
  const seq = new DataView(plain.buffer, plain.byteOffset, 4).getUint32(0, true);
  stamps.push([seq, nowNs(), Number.isFinite(kernelNs) ? kernelNs : null]);
}

async function receiveNative(): Promise<void> {
  const reactor = await openNativeReactor([{ name: 'bench', host, port: 0 }]);
  say(reactor.localPort(0));
  let quietNs = nowNs() + 60e9;
  await reactor.run({
    nextDeadlineNs: () => quietNs,
    onDeadline: () => reactor.stop(),
    onDatagram(_socket, bytes, length, _from, _receivedNs, kernelNs) {
      note(bytes, length, kernelNs);
      quietNs = nowNs() + QUIET_MS * 1e6;
      if (stamps.length >= count) reactor.stop();
    },
    onOversize: () => {},
  });
  reactor.close();
}

async function sendNative(): Promise<void> {
  const reactor = await openNativeReactor([{ name: 'bench', host: '0.0.0.0', port: 0 }]);
  const to = peerOf(host, port);
  const ticks = new Periodic(hz, nowNs() + 100e6);
  let seq = 0;
  await reactor.run({
    nextDeadlineNs: () => ticks.nextNs,
    onDeadline(atNs) {
      const dueNs = ticks.nextNs;
      ticks.due(atNs);
      const bytes = compose(++seq);
      const sentNs = reactor.send(0, bytes, bytes.length, to);
      stamps.push([seq, dueNs, sentNs]);
      if (seq >= count) reactor.stop();
    },
    onDatagram: () => {},
    onOversize: () => {},
  });
  reactor.close();
}

/** A typical Node program: an event loop, and a timer corrected for drift. */
async function tickLoop(send: (bytes: Uint8Array) => unknown): Promise<void> {
  const ticks = new Periodic(hz, nowNs() + 100e6);
  for (let seq = 1; seq <= count; seq++) {
    const dueNs = ticks.nextNs;
    // Timers count whole milliseconds; at 1 kHz the event loop must spin instead.
    while (nowNs() < dueNs) {
      const waitMs = (dueNs - nowNs()) / 1e6;
      if (waitMs > 2) await sleep(waitMs - 1);
      else await new Promise((resolve) => setImmediate(resolve));
    }
    ticks.due(nowNs());
    const bytes = compose(seq).slice();
    stamps.push([seq, dueNs, nowNs()]);
    await send(bytes);
  }
}

async function receiveDgram(): Promise<void> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, host, resolve));
  say(socket.address().port);
  await new Promise<void>((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    socket.on('message', (bytes) => {
      note(bytes, bytes.length, Number.NaN);
      clearTimeout(timer);
      if (stamps.length >= count) resolve();
      else timer = setTimeout(resolve, QUIET_MS);
    });
  });
  socket.close();
}

async function sendDgram(): Promise<void> {
  const socket = createSocket('udp4');
  await tickLoop((bytes) => socket.send(bytes, port, host));
  await sleep(200);
  socket.close();
}

async function receiveZmq(): Promise<void> {
  const { Subscriber } = await import('zeromq');
  const socket = new Subscriber({ receiveTimeout: QUIET_MS });
  socket.subscribe();
  await socket.bind(`tcp://${host}:0`);
  say(Number(socket.lastEndpoint?.split(':').pop()));
  while (stamps.length < count) {
    try {
      const [bytes] = await socket.receive();
      note(bytes!, bytes!.length, Number.NaN);
    } catch {
      if (stamps.length > 0) break;
    }
  }
  socket.close();
}

async function sendZmq(): Promise<void> {
  const { Publisher } = await import('zeromq');
  const socket = new Publisher({ linger: 0 });
  socket.connect(`tcp://${host}:${port}`);
  await sleep(500);
  await tickLoop((bytes) => socket.send(bytes));
  await sleep(200);
  socket.close();
}

const RUNS: Record<string, () => Promise<void>> = {
  'rx native': receiveNative,
  'rx sealed': receiveNative,
  'rx dgram': receiveDgram,
  'rx zeromq': receiveZmq,
  'tx native': sendNative,
  'tx sealed': sendNative,
  'tx dgram': sendDgram,
  'tx zeromq': sendZmq,
};

await RUNS[`${role} ${kind}`]!();
// Exit only after everything is in the pipe.
process.stdout.write(`${JSON.stringify(stamps)}\n`, () => process.exit(0));
