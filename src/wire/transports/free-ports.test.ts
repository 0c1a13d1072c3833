import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { freeUdpPorts, reserveUdpPort } from './free-ports.ts';

describe('a reserved port', () => {
  it('is the requested one for the first caller and another for the second', async () => {
    const [wanted = 0] = await freeUdpPorts(1);
    const first = await reserveUdpPort(wanted);
    const second = await reserveUdpPort(wanted);
    assert.equal(first.port, wanted);
    assert.ok(second.port > 0 && second.port !== wanted, `${second.port}`);
    await first.release();
    await second.release();
    const again = await reserveUdpPort(wanted);
    assert.equal(again.port, wanted);
    await again.release();
  });
});
