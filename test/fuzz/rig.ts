import { joinLocally, type LocalPair } from '../../src/app/local-pair.ts';
import { ManualClock } from '../../src/core/time/clock.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { isSealed } from '../../src/wire/secure/sealed-box.ts';
import { LocalNetwork } from '../../src/wire/transports/local.ts';

export interface FuzzRig extends LocalPair {
  clock: ManualClock;
  network: LocalNetwork;
  /** Every datagram either side sent, as it went over the wire. */
  sent: Uint8Array[];
}

/** Both roles engaged over a simulated network, ready to be attacked. */
export async function engagedRig(sealed: boolean): Promise<FuzzRig> {
  const { config } = loadRig('demo', []);
  const model = loadModel(config.model);
  const clock = new ManualClock();
  const network = new LocalNetwork(clock, (deadlineNs) => clock.advanceTo(deadlineNs));
  const sent: Uint8Array[] = [];
  const pair = await joinLocally({
    rig: config,
    model,
    clock,
    network,
    sealed,
    onSend: (bytes) => sent.push(bytes),
  });
  network.run(clock.nowNs() + 1.5e9);
  // Datagrams in flight arrive: everything sent is old now.
  for (let i = 0; i < 3; i++) network.run(clock.nowNs());
  const rig = { ...pair, clock, network, sent };
  if (sealed) deliverAgain(rig);
  return rig;
}

/**
 * One sent before there were keys could still be opened once; after this, nothing sent so far is new to
 * either side.
 */
function deliverAgain({
  operatorHandler,
  robotHandler,
  operatorPeers,
  robotPeers,
  clock,
  sent,
}: FuzzRig): void {
  const sides = [
    [operatorHandler, robotPeers],
    [robotHandler, operatorPeers],
  ] as const;
  for (const bytes of sent.filter((each) => isSealed(each, each.length)))
    for (const [handler, peers] of sides)
      for (const [socket, from] of peers.slice(0, 3).entries())
        handler.onDatagram(socket, bytes, bytes.length, from, clock.nowNs(), Number.NaN);
}
