import { randomBytes } from 'node:crypto';
import { Counters } from '../../src/core/counters.ts';
import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import { MAX_DATAGRAM_BYTES, peerOf } from '../../src/wire/reactor.ts';
import { KNOCK } from '../../src/wire/secure/handshake.ts';
import { HandshakeOffer } from '../../src/wire/secure/handshake-operator.ts';
import { RobotTunnel } from '../../src/wire/secure/robot-tunnel.ts';
import { Sealer } from '../../src/wire/secure/sealed-box.ts';

const DATAGRAMS = 20_000;
const WARM_UP = 5_000;
const OPERATOR = peerOf('127.0.0.1', 5751);
const STRANGER = peerOf('127.0.0.9', 9999);

/** A robot's tunnel with a session, and datagrams that an attacker may send to it. */
function underAttack(): { tunnel: RobotTunnel; kinds: Record<string, Uint8Array> } {
  const psk = randomBytes(32);
  let answer = new Uint8Array();
  const outbox = {
    send(_socket: number, bytes: Uint8Array, length: number) {
      answer = bytes.slice(0, length);
      return 1;
    },
  };
  const tunnel = new RobotTunnel(outbox, [psk], () => 7, new Counters());
  tunnel.attach({ onDatagram() {}, onDeadline() {}, onOversize() {}, nextDeadlineNs: () => 0 });
  const give = (bytes: Uint8Array) => tunnel.onDatagram(1, bytes, bytes.length, OPERATOR, 0, Number.NaN);
  const offer = new HandshakeOffer(psk);
  const knock = offer.knock();
  give(knock);
  if (offer.onCookie(answer, answer.length) !== null) throw new Error('the cookie was rejected');
  const init = offer.init!;
  give(init);
  const keys = offer.accept(answer, answer.length);
  if (keys === null) throw new Error('the robot did not accept the handshake');
  const sealer = new Sealer(keys.operatorToRobot, keys.index);
  const packet = (length: number) => {
    const out = new Uint8Array(MAX_DATAGRAM_BYTES);
    return out.slice(0, sealer.seal(1, randomBytes(length), length, out));
  };
  const replayed = packet(240);
  give(replayed);
  const forged = (bytes: Uint8Array, at = bytes.length - 1) => {
    const altered = Uint8Array.from(bytes);
    altered[at]! ^= 1;
    return altered;
  };
  return {
    tunnel,
    kinds: {
      'not ours': new Uint8Array(240),
      'replayed packet': replayed,
      'forged packet, 240 bytes': forged(packet(240)),
      'forged packet, 1440 bytes': forged(packet(1440)),
      'forged knock': forged(knock),
      'replayed knock, answered': knock,
      'forged init': forged(init),
      'replayed init': init,
      'oversized knock': new Uint8Array([...knock, ...new Uint8Array(KNOCK.bytes)]),
    },
  };
}

/** Cost of a foreign datagram for the robot's control thread, in microseconds. */
export function rejectCost(): Record<string, Percentiles> {
  const { tunnel, kinds } = underAttack();
  const costs: Record<string, Percentiles> = {};
  for (const [name, bytes] of Object.entries(kinds)) {
    const us = new Float64Array(DATAGRAMS);
    for (let i = -WARM_UP; i < DATAGRAMS; i++) {
      const t0 = performance.now();
      tunnel.onDatagram(1, bytes, bytes.length, STRANGER, 0, Number.NaN);
      const t1 = performance.now();
      if (i >= 0) us[i] = (t1 - t0) * 1000;
    }
    costs[name] = percentiles(us)!;
  }
  return costs;
}
