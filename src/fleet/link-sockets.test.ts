import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MAX_DATAGRAM_BYTES } from '../wire/reactor.ts';
import { LinkSockets } from './link-sockets.ts';

it('accepts only a link’s datagrams from a tunnel, and nothing once closed', async () => {
  const robot = await LinkSockets.open();
  const sockets = await LinkSockets.open(robot.ports);
  const arrived = new Promise<Uint8Array>((resolve) => robot.onOut((bytes) => resolve(bytes.slice())));
  const bad = [[], [0], [3, 1], [255, 1], { length: 2 + MAX_DATAGRAM_BYTES }].map((each) =>
    Uint8Array.from(each as number[]),
  );
  for (const each of bad) assert.equal(sockets.in(each), false, `${each.length} bytes`);
  assert.equal(sockets.in(Uint8Array.of(1, 7)), true);
  assert.deepEqual([...(await arrived)], [1, 7]);
  // A peer connection's last datagrams may arrive after its role has ended.
  sockets.close();
  assert.equal(sockets.in(Uint8Array.of(1, 7)), false);
  sockets.close();
  robot.close();
});
