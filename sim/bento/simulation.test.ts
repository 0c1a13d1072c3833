import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  DEFAULT_LIMITS,
  HAND,
  radOfCounts,
  radSPerUnit,
  SCENES,
} from '../../src/robot/drivers/bento/arm-facts.ts';
import {
  BRACHIOPLEXUS_MAX_BYTES,
  type BrachioplexusPacket,
  decodeBrachioplexus,
  emptyBrachioplexus,
  encodeBrachioplexus,
  PACKET,
} from '../../src/robot/drivers/bento/brachioplexus-codec.ts';
import { createKinematicWorld } from './kinematic-world.ts';
import { BentoSimulation } from './simulation.ts';

const MS = 1e6;
const SHOULDER = 0;
const ELBOW = 1;

/** A controller and the arm, connected at byte level, on a manual clock. */
class Bench {
  readonly arm: BentoSimulation;
  readonly #bytes = new Uint8Array(BRACHIOPLEXUS_MAX_BYTES);
  readonly #reply = new Uint8Array(BRACHIOPLEXUS_MAX_BYTES);
  nowNs = 5e9;

  constructor(deadManMs = 200) {
    this.arm = new BentoSimulation(createKinematicWorld, 'switched off', deadManMs);
  }

  send(change: (packet: BrachioplexusPacket) => void): BrachioplexusPacket | null {
    const packet = emptyBrachioplexus();
    packet.limits.set(DEFAULT_LIMITS);
    change(packet);
    const length = encodeBrachioplexus(packet, this.#bytes);
    return this.#decoded(this.arm.receive(this.#bytes, length, this.nowNs, this.#reply));
  }

  scene(sceneIndex = 1, frameRate = 30, camera: number[] = []): void {
    this.send((packet) => {
      packet.camera.set(camera);
      Object.assign(packet, { type: PACKET.scene, sceneIndex, frameRate });
    });
  }

  control(joint: number, state: number, speed = 50): void {
    this.send((packet) => {
      packet.states[joint] = state;
      packet.speeds[joint] = speed;
    });
  }

  /** Advances time in steps of 5 ms; with `again`, repeats a controller's packet in each. */
  run(ms: number, again?: () => void): void {
    for (let t = 0; t < ms; t += 5) {
      this.nowNs += 5 * MS;
      again?.();
      this.arm.advance(this.nowNs);
    }
  }

  feedback(): BrachioplexusPacket | null {
    return this.#decoded(this.arm.feedback(this.#reply));
  }

  at(joint: number): number {
    return this.feedback()!.positions[joint]!;
  }

  #decoded(length: number): BrachioplexusPacket | null {
    if (length === 0) return null;
    const packet = emptyBrachioplexus();
    assert.equal(decodeBrachioplexus(this.#reply, length, packet), null);
    return packet;
  }
}

describe('the virtual Bento arm', () => {
  it('sends no feedback before a scene is loaded, then all joints at zero', () => {
    const bench = new Bench();
    bench.control(SHOULDER, 1);
    bench.run(100);
    assert.equal(bench.feedback(), null);
    bench.scene();
    assert.deepEqual([...bench.feedback()!.positions], [2048, 2048, 2048, 2048, 2048]);
    bench.scene(0);
    assert.equal(bench.feedback(), null, 'the start-up scene has no arm');
  });

  it('moves every joint up with state 1 and down with state 2, at 0.72 degrees per second and unit', () => {
    for (let joint = 0; joint < 5; joint++)
      for (const [state, sign] of [
        [1, 1],
        [2, -1],
      ] as const) {
        const bench = new Bench();
        bench.scene();
        // Elbow and hand have little room downwards: start mid-range.
        bench.run(600, () => bench.control(joint, 1, 40));
        const from = bench.at(joint);
        bench.run(200, () => bench.control(joint, state, 40));
        const turnedDeg = ((bench.at(joint) - from) * 360) / 4096;
        assert.ok(Math.abs(turnedDeg - sign * 40 * 0.72 * 0.2) < 0.3, `joint ${joint}: ${turnedDeg}`);
        assert.equal(bench.feedback()!.speeds[joint], 40);
      }
  });

  it('scales its speed with the frame rate, as Unity does', () => {
    const turned = (frameRate: number): number => {
      const bench = new Bench();
      bench.scene(1, frameRate);
      bench.run(300, () => bench.control(SHOULDER, 1, 30));
      return radOfCounts(bench.at(SHOULDER));
    };
    assert.ok(Math.abs(turned(60) - 2 * turned(30)) < 0.01);
    assert.ok(Math.abs(turned(30) - 0.3 * 30 * radSPerUnit(30)) < 0.01);
    assert.ok(Math.abs(turned(0) - turned(30)) < 0.01, 'frame rate 0 means the default');
  });

  it('keeps a joint moving on state 3, and stops it on 0, 4 and above', () => {
    for (const state of [0, 4, 5, 255]) {
      const bench = new Bench();
      bench.scene();
      bench.control(SHOULDER, 1);
      bench.run(500, () => bench.control(SHOULDER, 3, 0));
      const at = bench.at(SHOULDER);
      assert.ok(at > 2048 + 150, 'it kept moving');
      assert.equal(bench.feedback()!.speeds[SHOULDER], 50, 'at its previous speed');
      bench.run(300, () => bench.control(SHOULDER, state));
      assert.equal(bench.at(SHOULDER), at);
      assert.equal(bench.feedback()!.speeds[SHOULDER], 0);
    }
  });

  it('keeps all joints within the limits of scene and update', () => {
    const bench = new Bench();
    bench.scene();
    for (let joint = 0; joint < 5; joint++)
      for (const [state, side] of [
        [1, 1],
        [2, 0],
      ] as const) {
        bench.run(8000, () => bench.control(joint, state, 90));
        assert.ok(Math.abs(bench.at(joint) - DEFAULT_LIMITS[2 * joint + side]!) <= 1, `joint ${joint}`);
      }
    bench.send((packet) => {
      packet.type = PACKET.update;
      packet.limits.set([2000, 2100], 2 * HAND);
    });
    bench.run(10);
    assert.ok(Math.abs(bench.at(HAND) - 2000) <= 1, 'a joint outside moves to the nearer end');
    bench.send((packet) => {
      packet.type = PACKET.update;
      packet.limits.set([3000, 1000], 2 * SHOULDER);
    });
    bench.run(500, () => bench.control(SHOULDER, 2, 1023));
    assert.ok(Number.isFinite(bench.at(SHOULDER)), 'inverted limits do no harm');
  });

  it('stops all joints after the dead-man timeout without control packets, and not before', () => {
    const bench = new Bench(200);
    bench.scene();
    bench.control(SHOULDER, 1);
    bench.control(ELBOW, 1);
    bench.control(SHOULDER, 1);
    bench.run(195);
    const before = bench.at(SHOULDER);
    assert.equal(bench.feedback()!.speeds[SHOULDER], 50);
    bench.run(15);
    const at = bench.at(SHOULDER);
    assert.ok(at > before - 1);
    bench.run(1000);
    assert.equal(bench.at(SHOULDER), at);
    assert.equal(bench.arm.deadManStops, 1);
    assert.equal(bench.feedback()!.speeds[SHOULDER], 0);
    bench.run(300, () => bench.control(SHOULDER, 3));
    assert.equal(bench.at(SHOULDER), at, 'state 3 does not restart a joint');
    bench.run(300, () => bench.control(SHOULDER, 1));
    assert.ok(bench.at(SHOULDER) > at, 'a new command does');
  });

  it('does not count garbage or other packets as control', () => {
    const bench = new Bench(200);
    bench.scene();
    bench.control(SHOULDER, 1);
    const reply = new Uint8Array(64);
    bench.run(400, () => {
      bench.arm.receive(new Uint8Array([255, 255, 1, 20]), 4, bench.nowNs, reply);
      bench.send((packet) => {
        packet.type = PACKET.update;
      });
    });
    assert.equal(bench.arm.deadManStops, 1);
    assert.equal(bench.arm.refused.get('bad-size'), 80);
  });

  it('keeps moving without the dead-man switch, as the original does', () => {
    const bench = new Bench(0);
    bench.scene();
    bench.control(SHOULDER, 1, 5);
    bench.run(10_000);
    assert.ok(radOfCounts(bench.at(SHOULDER)) > 0.6);
    assert.equal(bench.arm.deadManStops, 0);
  });

  it('replies to a camera request with the view of the scene, the packet, or an update', () => {
    const bench = new Bench();
    const ask = () => {
      const answer = bench.send((packet) => {
        packet.type = PACKET.cameraRequest;
      });
      return answer === null ? null : [...answer.camera];
    };
    assert.equal(ask(), null, 'there is no camera before a scene');
    SCENES.forEach(({ camera }, index) => {
      if (index === 0) return;
      bench.scene(index);
      assert.deepEqual(ask(), [...camera]);
    });
    bench.scene(2, 30, [-10, 700, 20, 90, 0, 0]);
    assert.deepEqual(ask(), [-10, 700, 20, 90, 0, 0]);
    bench.send((packet) => {
      packet.type = PACKET.update;
      packet.camera.set([1, 2, -3, -10, 370, 0]);
    });
    assert.deepEqual(ask(), [1, 2, -3, 350, 10, 0]);
    bench.send((packet) => {
      packet.type = PACKET.update;
    });
    assert.deepEqual(ask(), [...SCENES[2]!.camera], 'height 0 is the scene’s own view');
  });

  it('counts rejected packets and ignores them', () => {
    const bench = new Bench();
    bench.scene();
    bench.scene(7);
    bench.send((packet) => {
      packet.type = PACKET.feedback;
    });
    bench.send((packet) => {
      packet.type = PACKET.cameraPosition;
    });
    assert.deepEqual(Object.fromEntries(bench.arm.refused), { 'unknown-scene': 1, 'not-for-the-arm': 2 });
    assert.equal(bench.arm.sceneMessage().index, 1);
  });

  it('survives any bytes, and its joints stay within limits', () => {
    const bench = new Bench(0);
    bench.scene();
    const reply = new Uint8Array(BRACHIOPLEXUS_MAX_BYTES);
    const start = fc.constantFrom([], [255, 255], ...[0, 1, 2, 3, 4, 5].map((type) => [255, 255, type]));
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 60 }), fc.boolean(), (first, rest, repaired) => {
        const bytes = Uint8Array.from([...first, ...rest]);
        if (repaired && bytes.length > 3)
          bytes[bytes.length - 1] = 255 - (bytes.slice(2, -1).reduce((sum, byte) => sum + byte, 0) % 256);
        bench.arm.receive(bytes, bytes.length, bench.nowNs, reply);
        bench.run(5);
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(
        fc.array(fc.nat(65_535), { minLength: 20, maxLength: 20 }),
        fc.nat(2),
        ([...words], type) => {
          bench.send((packet) => {
            Object.assign(packet, { type, sceneIndex: words[0]! % 9, frameRate: words[1]! % 256 });
            packet.limits.set(words.slice(0, 10));
            packet.speeds.set(words.slice(10, 15));
            packet.states.set(words.slice(15, 20).map((word) => word % 256));
          });
          bench.run(20);
          const positions = bench.feedback()?.positions ?? [];
          for (const counts of positions) assert.ok(counts >= 0 && counts <= 65_535);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('resets with each scene', () => {
    const bench = new Bench();
    bench.scene();
    bench.run(500, () => bench.control(SHOULDER, 1));
    bench.scene(5);
    bench.run(20);
    assert.equal(bench.at(SHOULDER), 2048);
    assert.equal(bench.feedback()!.speeds[SHOULDER], 0);
  });
});
