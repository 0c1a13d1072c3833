import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildPeer, PEERS } from './dds-peer/build.ts';
import { Peer, type PeerReport, type PeerSettings } from './dds-peer/process.ts';

/** The suites run at the same time: they mostly wait. Each kind of peer has a domain to itself. */
const DOMAIN = 60 + 3 * (process.pid % 13);
const SECONDS = 6;
const HZ = 90;
/** A busy machine takes a while to start a process. */
const PATIENT_MS = 30_000;
const RELIABILITIES = ['reliable', 'best-effort'] as const;

let topics = 0;
const settings = (domainId: number, more: Partial<PeerSettings> = {}): PeerSettings => ({
  domainId,
  prefix: `e2e_${process.pid}_${++topics}`,
  reliability: 'reliable',
  seconds: 110,
  ...more,
});

function assertWhole(side: string, report: PeerReport, sent: number, seconds: number): void {
  const { received, gaps, repeats, wrong } = report;
  assert.deepEqual({ gaps, repeats, wrong }, { gaps: 0, repeats: 0, wrong: 0 }, side);
  // A busy machine may start one side late and slow it down: only gaps in between matter.
  assert.ok(received > seconds * HZ * 0.3 && received <= sent, `${side}: ${received} of ${sent}`);
}

/** Both directions at 90 Hz. */
async function converse(start: (of: PeerSettings) => Peer, of: PeerSettings): Promise<void> {
  const [robot, operator] = [start(of), Peer.ours('operator', of)];
  await Promise.all([robot.receives(1, PATIENT_MS), operator.receives(1, PATIENT_MS)]);
  await Promise.all([robot.ended, operator.ended]);
  console.log(
    `${of.reliability}, ${of.joints ?? 17} joints: operator ${JSON.stringify(operator.report)}, robot ${JSON.stringify(robot.report)}`,
  );
  assertWhole('operator', operator.report, robot.report.written, of.seconds - 1);
  assertWhole('robot', robot.report, operator.report.written, of.seconds - 1);
}

async function outlive(start: (of: PeerSettings) => Peer, domainId: number, leaseMs: number): Promise<void> {
  const of = settings(domainId);
  let [robot, operator] = [start(of), Peer.ours('operator', of)];
  await Promise.all([robot.receives(20, PATIENT_MS), operator.receives(20, PATIENT_MS)]);
  robot.kill();
  await robot.ended;
  robot = start(of);
  const robotMs = await Promise.all([robot.receives(20, PATIENT_MS), operator.receives(20, PATIENT_MS)]);
  // The killed participant is dropped when its lease expires; until then both sides continue.
  await operator.isPaired(leaseMs + PATIENT_MS);
  operator.kill();
  await operator.ended;
  operator = Peer.ours('operator', of);
  const operatorMs = await Promise.all([robot.receives(20, PATIENT_MS), operator.receives(20, PATIENT_MS)]);
  console.log(
    `20 samples both ways after a kill: robot ${robotMs.join(' and ')} ms, ours ${operatorMs.join(' and ')} ms`,
  );
  await Promise.all([
    robot.receives(200, PATIENT_MS),
    operator.receives(200, PATIENT_MS),
    operator.isPaired(PATIENT_MS),
  ]);
  const [, { gaps, repeats }] = await Promise.all([robot.end(), operator.end()]);
  assert.deepEqual([gaps, repeats], [0, 0], 'since the last start');
}

describe('topics', { concurrency: true, timeout: 180_000 }, () => {
  describe('between two of our processes', () => {
    it('90 Hz both ways without a gap, reliable and best effort', async () => {
      const runs = RELIABILITIES.map((reliability) =>
        settings(DOMAIN, { reliability, seconds: SECONDS + 1 }),
      );
      await Promise.all(runs.map((run) => converse((of) => Peer.ours('robot', of), run)));
    });

    it('reconnect after either is killed', () => outlive((of) => Peer.ours('robot', of), DOMAIN, 10_000));
  });

  for (const [i, name] of (Object.keys(PEERS) as (keyof typeof PEERS)[]).entries()) {
    const { file, missing } = buildPeer(name);
    const domain = DOMAIN + 1 + i;
    describe(`between ${name} and us`, { skip: missing }, () => {
      const foreign = (of: PeerSettings) => Peer.foreign(file, of);

      it('90 Hz both ways without a gap, reliable and best effort', async () => {
        const runs = RELIABILITIES.map((reliability) =>
          settings(domain, { reliability, seconds: SECONDS + 1 }),
        );
        await Promise.all(runs.map((run) => converse(foreign, run)));
      });

      it('joint states larger than a packet', async () => {
        await converse(foreign, settings(domain, { seconds: 4, joints: 150 }));
      });

      it('deliver everything, reliable, while every tenth datagram is lost', async () => {
        const of = settings(domain, { seconds: 8, loss: 0.1 });
        const [robot, operator] = [foreign(of), Peer.ours('operator', of)];
        await Promise.all([robot.ended, operator.ended]);
        console.log(`operator ${JSON.stringify(operator.report)}, robot ${JSON.stringify(robot.report)}`);
        for (const { received, gaps, repeats, wrong } of [robot.report, operator.report]) {
          assert.deepEqual({ gaps, repeats, wrong }, { gaps: 0, repeats: 0, wrong: 0 });
          assert.ok(received > 4 * HZ, `${received}`);
        }
        assert.ok(operator.report.resent! > 10, 'something was lost');
      });

      it('reconnect after either is killed', () => outlive(foreign, domain, 20_000));
    });
  }
});
