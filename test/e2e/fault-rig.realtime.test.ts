import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FaultRig } from './fault-rig.ts';

/** Processes, sockets and threads that keep this process alive. */
const held = (): string[] =>
  process.getActiveResourcesInfo().filter((name) => /^(ProcessWrap|UDPWrap|Worker|MessagePort)$/.test(name));

describe('a rig whose set-up fails', () => {
  it('prints its operator’s output and leaves no process, thread or socket behind', async () => {
    await assert.rejects(FaultRig.start(['operator.noSuchSetting=1']), /noSuchSetting/);
    for (const untilMs = performance.now() + 10_000; held().length > 0; await sleep(20))
      assert.ok(performance.now() < untilMs, `still open: ${held().join(', ')}`);
  });
});
