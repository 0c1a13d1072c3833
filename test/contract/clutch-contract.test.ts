import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { loadPlugin, pluginNames } from '../../src/app/registry.ts';
import type { InputPlugin } from '../../src/input/device.ts';
import { SEED } from '../seed.ts';
import { ClutchWorld } from './clutch-world.ts';
import { sendersOf } from './input-senders.ts';

/**
 * From far below to far above every device's limit, and across the second after which a sender counts as
 * another.
 */
const SILENCES_MS = [50, 130, 160, 210, 260, 300, 600, 900, 1010, 5000];

/** Everything a person, a network and a robot can do to an input, each with its duration. */
const event = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('grip', 'close', 'open') },
  { weight: 2, arbitrary: fc.constantFrom('lose', 'lose-clutch', 'find') },
  { weight: 4, arbitrary: fc.constant('silence') },
  { weight: 3, arbitrary: fc.constantFrom('cut to-operator', 'cut to-robot', 'cut both') },
  { weight: 2, arbitrary: fc.constantFrom('hold', 'teleop', 'home') },
  { weight: 2, arbitrary: fc.constantFrom('disarm', 'arm', 'estop', 'reset') },
  { weight: 2, arbitrary: fc.constantFrom('other sender', 'first sender', 'scripted', 'page', 'back') },
);
const lasts = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 60 }) },
  { weight: 5, arbitrary: fc.integer({ min: 50, max: 1200 }) },
  { weight: 1, arbitrary: fc.constant(5000) },
);
const story = fc.array(fc.tuple(event, lasts), { minLength: 5, maxLength: 20 });

function happen(world: ClutchWorld, what: string, ms: number): void {
  const { grip } = world;
  const loses = SENDERS_OF.get(world) ?? [];
  if (what === 'silence') return world.silence(ms);
  if (what.startsWith('cut ')) return world.cut(what.slice(4) as 'both', ms);
  if (what === 'grip') {
    grip.closed = false;
    world.run(100);
    grip.closed = true;
  } else if (what === 'close' || what === 'open') grip.closed = what === 'close';
  else if (what === 'lose' && loses.includes('seen')) grip.seen = false;
  else if (what === 'lose-clutch' && loses.includes('clutchSeen')) grip.clutchSeen = false;
  else if (what === 'find') grip.seen = grip.clutchSeen = true;
  else if (what === 'other sender') grip.sender++;
  else if (what === 'first sender') grip.sender = 1;
  else if (what === 'scripted' || what === 'page') world.select(what);
  else if (what === 'back') world.back();
  else if (!what.startsWith('lose')) world.ask(what);
  world.run(ms);
}
const SENDERS_OF = new WeakMap<ClutchWorld, readonly string[]>();

/** With the robot ready: opens the clutch, closes it, and checks that the robot follows. */
function follow(world: ClutchWorld): void {
  world.grip.closed = false;
  world.run(400);
  world.grip.closed = true;
  world.run(500);
  assert.ok(world.isEngaged, world.rig.state);
}

function describePerson(create: () => Promise<ClutchWorld>, staleMs: number): void {
  it('follows when the clutch is seen open and then closed', async () => follow(await create()));

  it('does not follow a clutch that was never seen open', async () => {
    const world = await create();
    world.grip.closed = true;
    world.run(3000);
    assert.equal(world.beginnings, 0);
  });

  it('does not follow a clutch that was closed before the robot was armed', async () => {
    const world = await create();
    world.run(400);
    world.ask('disarm');
    world.run(300);
    world.grip.closed = true;
    world.run(300);
    world.ask('arm');
    world.run(1000);
    assert.equal(world.beginnings, 0);
    follow(world);
  });

  for (const silenceMs of SILENCES_MS)
    it(`holds after ${silenceMs} ms of silence, until the clutch is seen open`, async () => {
      const world = await create();
      follow(world);
      for (const phaseMs of [0, 13]) {
        world.run(phaseMs);
        world.silence(silenceMs);
        world.run(700);
        const isShort = silenceMs + 40 < staleMs;
        if (isShort) assert.ok(world.isEngaged, 'no effect');
        else if (silenceMs > staleMs) assert.ok(!world.isEngaged, `${silenceMs} ms, phase ${phaseMs}`);
        if (!world.isEngaged) follow(world);
      }
    });

  for (const silenceMs of [0, 600])
    it(`does not follow one sender because another opened its clutch, ${silenceMs} ms after the last message`, async () => {
      const world = await create();
      follow(world);
      world.silence(silenceMs);
      Object.assign(world.grip, { sender: 2, closed: false });
      world.run(20);
      Object.assign(world.grip, { sender: 1, closed: true });
      world.run(500);
      assert.equal(world.beginnings, 1);
    });

  it('does not follow a clutch that was closed while device, link or hand were lost', async () => {
    const world = await create();
    const away: (() => void)[] = [
      () => world.silence(600),
      () => world.cut('both', 600),
      () => world.cut('to-operator', 600),
      () => world.select('scripted'),
    ];
    for (const goAway of away) {
      world.grip.closed = false;
      world.run(400);
      world.silent = true;
      world.run(300);
      world.grip.closed = true;
      world.silent = false;
      goAway();
      world.back();
      world.run(1000);
      assert.ok(!world.isEngaged, String(goAway));
    }
  });
}

for (const [name, title, sender] of pluginNames('input').flatMap((name) =>
  sendersOf(name).map(([title, sender]) => [name, title, sender] as const),
)) {
  describe(`the clutch of input ${title}`, async () => {
    const plugin: InputPlugin<unknown> = await loadPlugin('input', name);
    const create = async () => {
      const world = await ClutchWorld.create(name, sender);
      SENDERS_OF.set(world, sender?.loses ?? []);
      return world;
    };

    it('has a sender in this suite, unless it is automatic', () =>
      assert.ok(plugin.automatic || sender !== null));

    if (sender !== null && plugin.clutchless !== true) describePerson(create, sender.staleMs);

    if (plugin.automatic)
      it('holds if that is requested while the robot is being powered', async () => {
        const world = await create();
        world.run(300);
        world.ask('disarm');
        world.run(300);
        world.ask('arm');
        world.run(1);
        world.ask('hold');
        const { beginnings } = world;
        world.run(2000);
        assert.equal(world.beginnings, beginnings);
        world.ask('teleop');
        world.run(500);
        assert.ok(world.isEngaged, 'until asked to resume');
      });

    it('never begins an engagement on its own', async () => {
      let beginnings = 0;
      await fc.assert(
        fc.asyncProperty(story, async (events) => {
          const world = await create();
          world.run(300);
          // Most faults need an engagement to interrupt.
          happen(world, 'grip', 400);
          for (const [what, ms] of events) happen(world, what, ms);
          beginnings += world.beginnings;
        }),
        { numRuns: 10, seed: SEED },
      );
      assert.ok(beginnings > 5, `only ${beginnings} engagements`);
    });
  });
}
