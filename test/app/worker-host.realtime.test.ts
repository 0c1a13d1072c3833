import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FailedMessage, WorkerHost, type WorkerOptions } from '../../src/app/worker-host.ts';

type Message =
  | { kind: 'ready'; port: number }
  | { kind: 'text'; text: string }
  | { kind: 'closed' }
  | FailedMessage;
type Gone = [message: string, code: number | null];

/** A real thread that runs `code`; `port` is its port to the host. */
function host(code: string, options: Partial<WorkerOptions<Message>> = {}) {
  const source = `import { parentPort as port, workerData } from 'node:worker_threads';\n${code}`;
  const gone: Gone[] = [];
  const onGone = (error: Error, exit: number | null) => void gone.push([error.message, exit]);
  const file = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  const thread = new WorkerHost<Message>(file, { name: 'the test thread', start: 7, onGone, ...options });
  return { thread, gone };
}

const READY = "port.postMessage({ kind: 'ready', port: workerData });";
const STAYS = 'setInterval(() => {}, 1000);';
const FAILED =
  "port.postMessage({ kind: 'failed', code: 'port-in-use', message: 'taken', hint: 'free it' });";

describe('worker host', () => {
  it('starts a thread, passes messages both ways and closes it when it has closed', async () => {
    const received: string[] = [];
    const onMessage = (message: { kind: string; text?: string }) =>
      received.push(message.text ?? message.kind);
    const answers = `port.on('message', (m) => port.postMessage({ kind: m === 'close' ? 'closed' : 'text', text: m }));`;
    const { thread, gone } = host(`${READY} ${STAYS} ${answers}`, { onMessage });
    assert.deepEqual(await thread.ready, { kind: 'ready', port: 7 });
    thread.post('hello');
    await thread.close('close', 60_000);
    await thread.exited;
    assert.deepEqual(received, ['hello', 'close']);
    assert.deepEqual(gone, [], 'a requested end is not reported');
  });

  it('rejects with the error, code and hint of a thread that fails to start', async () => {
    const { thread, gone } = host(`${FAILED} port.close();`);
    await assert.rejects(thread.ready, { code: 'port-in-use', message: 'taken', hint: 'free it' });
    await thread.exited;
    assert.deepEqual(gone, [['the test thread ended with code 0', 0]]);
  });

  it('rejects when the thread throws or exits before it is ready', async () => {
    await assert.rejects(host("throw new Error('a bug')").thread.ready, /a bug/);
    await assert.rejects(host('process.exit(3)').thread.ready, /the test thread ended with code 3/);
  });

  it('gives up and ends a thread that is never ready', async () => {
    const { thread } = host(STAYS, { readyMs: 50 });
    await assert.rejects(thread.ready, { code: 'child-failed', message: /was not ready within 0\.05 s/ });
    await thread.exited;
  });

  it('reports once what ended a thread that was ready', async () => {
    const onOrder = (code: string) => `${READY} ${STAYS} port.on('message', () => { ${code} });`;
    const ends: [string, Gone][] = [
      ["throw new Error('a bug')", ['a bug', null]],
      ['process.exit(4)', ['the test thread ended with code 4', 4]],
      [`${FAILED} process.exit(0)`, ['taken', null]],
    ];
    for (const [code, expected] of ends) {
      const { thread, gone } = host(onOrder(code));
      await thread.ready;
      thread.post('end');
      await thread.exited;
      assert.deepEqual(gone, [expected], code);
      await thread.close('close', 60_000);
    }
  });

  it('ends a thread that does not close in time, even one that never returns', async () => {
    for (const code of [STAYS, 'for (;;);']) {
      const { thread, gone } = host(`${READY} ${code}`);
      await thread.ready;
      await thread.close('close', 50);
      await thread.exited;
      assert.deepEqual(gone, [], code);
    }
  });
});
