import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Reply } from 'zeromq';
import type { Observation } from '../../src/app/policy/observation.ts';
import { openPolicy } from '../../src/app/policy/transports.ts';

describe('a policy over ZeroMQ', () => {
  it('is asked anew when it did not answer, and its old answer is not taken for the new one', {
    timeout: 10_000,
  }, async () => {
    // A socket that waits keeps no process alive.
    const alive = setInterval(() => {}, 1000);
    const reply = new Reply({ linger: 0 });
    await reply.bind('tcp://127.0.0.1:*');
    const channel = await openPolicy(reply.lastEndpoint!);
    const ask = (tick: number) => channel.ask({ tick } as Observation, new AbortController().signal);
    const given = async () => (JSON.parse(String((await reply.receive())[0])) as { tick: number }).tick;
    try {
      const first = ask(1);
      assert.equal(await given(), 1);
      const second = ask(2);
      await reply.send(JSON.stringify({ action: [1] }));
      assert.equal(await given(), 2);
      await reply.send(JSON.stringify({ action: [2] }));
      assert.deepEqual(await second, { action: [2] });
      void first;
      await assert.rejects(openPolicy('ftp://x'), { code: 'bad-option' });
    } finally {
      clearInterval(alive);
      channel.close();
      reply.close();
    }
  });
});
