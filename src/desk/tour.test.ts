import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Telemetry } from '../messages/telemetry.ts';
import { BAD_NETWORK, TOUR_STEPS, Tour } from './tour.ts';

/** A newcomer's telemetry, changed step by step. */
class Newcomer {
  readonly tour = new Tour();
  readonly seen = {
    link: { playout: 'adaptive' },
    input: { active: 'expert', clutch: true },
    robot: { state: 'engaged' },
    hand: { positionM: [0, 0, 0] },
    world: { held: -1, round: 1, score: 0 },
    record: { state: 'idle', episode: null as string | null },
  };
  /** Latency of the commands since the last message, 10 ms apart. */
  oneWayMs: number[] = [];
  network = 'off';
  #nowMs = 0;

  step(times = 1): void {
    for (let i = 0; i < times; i++) {
      this.#nowMs += 100;
      const closed = this.oneWayMs.map((oneWayMs, k) => ({ atS: this.#nowMs / 1000 + 0.01 * k, oneWayMs }));
      const telemetry = { ...this.seen, closed } as unknown as Telemetry;
      this.tour.update({ telemetry, network: this.network, nowMs: this.#nowMs });
    }
  }

  at(step: string): Newcomer {
    while (this.tour.step !== step) this.tour.skip();
    this.step();
    return this;
  }
}

const drives = (newcomer: Newcomer): void => {
  newcomer.seen.input.active = 'page';
};

describe('the tour', () => {
  it('goes on when a cube was lifted, and when the arm has followed the hand', () => {
    const newcomer = new Newcomer();
    newcomer.seen.world.held = 1;
    newcomer.step(20);
    assert.equal(newcomer.tour.step, 'watch', 'nobody has read it yet');
    newcomer.seen.world.held = -1;
    newcomer.step(30);
    assert.equal(newcomer.tour.step, 'watch');
    newcomer.seen.world.held = 1;
    newcomer.step();
    assert.equal(newcomer.tour.step, 'take-over');
    newcomer.step(20);
    assert.equal(newcomer.tour.step, 'take-over', 'an expert that moves is no taking over');
    drives(newcomer);
    newcomer.step();
    newcomer.seen.hand.positionM = [0, 0, -0.06];
    newcomer.step();
    assert.equal(newcomer.tour.step, 'place');
  });

  it('does not wait for the expert when a person has taken over before', () => {
    const newcomer = new Newcomer();
    drives(newcomer);
    newcomer.step(45);
    assert.equal(newcomer.tour.step, 'take-over');
  });

  it('takes no new round for a placed cube', () => {
    const newcomer = new Newcomer().at('place');
    drives(newcomer);
    newcomer.seen.world = { held: -1, round: 2, score: 0.33 };
    newcomer.step(2);
    assert.equal(newcomer.tour.step, 'place');
    newcomer.seen.world.score = 0.67;
    newcomer.step();
    assert.equal(newcomer.tour.step, 'place', 'the cube in the tray is seen');
    newcomer.step(15);
    assert.equal(newcomer.tour.step, 'shake');
  });

  it('asks for three seconds of driving on the bad network, and measures them', () => {
    const newcomer = new Newcomer().at('shake');
    drives(newcomer);
    newcomer.seen.link.playout = 'none';
    newcomer.oneWayMs = [5, 45];
    newcomer.step(40);
    assert.equal(newcomer.tour.step, 'shake', 'the network is still good');
    newcomer.network = BAD_NETWORK;
    newcomer.step(29);
    assert.equal(newcomer.tour.step, 'shake');
    newcomer.step(2);
    assert.equal(newcomer.tour.step, 'smooth');
    assert.ok(Math.abs((newcomer.tour.variationMs('shake') ?? 0) - 40) < 1);
    newcomer.step(40);
    assert.equal(newcomer.tour.step, 'smooth', 'playout is still off');
  });

  it('waits until the bad network was felt and the smoothing has worked, at most ten seconds each', () => {
    const newcomer = new Newcomer().at('shake');
    drives(newcomer);
    newcomer.network = BAD_NETWORK;
    newcomer.seen.link.playout = 'none';
    newcomer.oneWayMs = [5, 7];
    newcomer.step(40);
    assert.equal(newcomer.tour.step, 'shake', 'calm until now');
    newcomer.oneWayMs = [5, 45];
    newcomer.step();
    assert.equal(newcomer.tour.step, 'smooth');
    newcomer.seen.link.playout = 'adaptive:auto';
    newcomer.step(40);
    assert.equal(newcomer.tour.step, 'smooth', 'as rough as before');
    newcomer.oneWayMs = new Array<number>(10).fill(60);
    newcomer.step(30);
    assert.equal(newcomer.tour.step, 'record');
    assert.equal(newcomer.tour.variationMs('smooth'), 0);
  });

  it('counts no change across an opened clutch', () => {
    const newcomer = new Newcomer().at('shake');
    drives(newcomer);
    newcomer.network = BAD_NETWORK;
    newcomer.seen.link.playout = 'none';
    for (let i = 0; i < 12; i++) {
      newcomer.oneWayMs = [i % 2 === 0 ? 5 : 60];
      newcomer.seen.input.clutch = true;
      newcomer.step(5);
      newcomer.seen.input.clutch = false;
      newcomer.step(2);
    }
    assert.equal(newcomer.tour.step, 'shake');
    assert.ok((newcomer.tour.variationMs('shake') ?? 0) < 1);
  });

  it('ends when a kept recording was played', () => {
    const newcomer = new Newcomer().at('record');
    newcomer.seen.record.state = 'recording';
    newcomer.step();
    newcomer.seen.record.state = 'failed';
    newcomer.step();
    assert.equal(newcomer.tour.step, 'record');
    newcomer.tour.played();
    assert.equal(newcomer.tour.step, 'record', 'played something else');
    newcomer.seen.record = { state: 'recording', episode: 'one' };
    newcomer.step();
    newcomer.seen.record.state = 'reset';
    newcomer.step();
    assert.equal(newcomer.tour.step, 'play');
    newcomer.tour.played();
    assert.equal(newcomer.tour.step, null);
  });

  it('can be skipped through, and says how long it took', () => {
    const newcomer = new Newcomer();
    for (const step of TOUR_STEPS) {
      assert.equal(newcomer.tour.step, step);
      newcomer.step(10);
      newcomer.tour.skip();
    }
    newcomer.step(10);
    assert.equal(newcomer.tour.step, null);
    assert.ok(Math.abs(newcomer.tour.tookS - 6.9) < 0.01, String(newcomer.tour.tookS));
  });
});
