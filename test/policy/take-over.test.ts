import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { takeOverStory } from './take-over-story.ts';
import { handOvers, TakeOverTrial } from './take-over-trial.ts';

describe('taking over from a policy', () => {
  it('happens within one tick, without a step; opening the clutch holds; handing back lets the policy drive', async () => {
    assert.deepEqual(await handOvers(6, 5), { largestStepRad: 0, takeOvers: 6 });
  });

  it('needs a clutch that was seen open: one held closed from before does not take over', async () => {
    const trial = await TakeOverTrial.create(3, true);
    trial.policyEngages();
    trial.run(300);
    assert.equal(trial.commands.at(-1)!.source, 'policy');
  });

  it('does not happen by a person whose hand was lost', async () => {
    const trial = await TakeOverTrial.create(4);
    trial.policyEngages();
    trial.isPersonSending = false;
    trial.run(400);
    trial.isPersonSending = true;
    trial.clutch = true;
    trial.run(200);
    assert.equal(trial.commands.at(-1)!.source, 'policy');
  });

  it('without a clutch needs a request while the hand is visible: one made before does not count', async () => {
    const trial = await TakeOverTrial.create(8);
    trial.policyEngages();
    trial.isHandVisible = false;
    trial.run(100);
    trial.takeOver();
    trial.run(50);
    trial.isHandVisible = true;
    trial.run(600);
    assert.equal(trial.commands.at(-1)!.source, 'policy');
    trial.takeOver();
    trial.run(50);
    assert.equal(trial.commands.at(-1)!.source, 'person');
  });

  it('from a leader arm, the robot moves slowly from where the policy was to the leader’s pose, then follows it', async () => {
    const trial = await TakeOverTrial.create(9);
    trial.policyEngages();
    trial.run(300);
    const before = trial.commands.length;
    trial.isLeaderFollowed = true;
    trial.run(4000);
    const own = trial.commands.slice(before).filter(({ source }) => source === 'person');
    assert.ok(own.length > 380 && own.every(({ intervention }) => intervention));
    const { jointsRad } = trial.rig.operator.loop.sampler.hand.sample;
    const { rad } = own.at(-1)!;
    assert.ok(
      rad.every((each, i) => Math.abs(each - jointsRad[i]!) < 0.02),
      `${rad} is not ${jointsRad}`,
    );
    trial.leaderHandsBack();
    trial.policyEngages();
    trial.run(100);
    assert.equal(trial.commands.at(-1)!.source, 'policy');
  });

  it('whatever people, programs and defects do in any order: no step, no limit exceeded, and no policy that nobody handed back to', async () => {
    let takeOvers = 0;
    for (let seed = 1; seed <= 6; seed++) takeOvers += await takeOverStory(seed, 60);
    assert.ok(takeOvers > 0);
  });

  it('keeps the gripper until the person has reached its value', async () => {
    const trial = await TakeOverTrial.create(6);
    trial.policyEngages();
    trial.run(200);
    trial.gripper = 0;
    trial.clutch = true;
    trial.run(200);
    const gripper = () => trial.rig.robot.driver.writes.at(-1)!.gripper;
    assert.equal(gripper(), 0.7);
    trial.gripper = 0.9;
    trial.run(200);
    assert.equal(gripper(), 0.9);
    trial.gripper = 0;
    trial.run(200);
    assert.equal(gripper(), 0);
  });

  it('reports how far the person is from what the policy proposes', async () => {
    const trial = await TakeOverTrial.create(7);
    trial.policyEngages();
    trial.run(200);
    trial.clutch = true;
    trial.run(300);
    const { disagreementRad, source } = trial.rig.operator.loop.lastCommand;
    assert.equal(source, 'person');
    assert.ok(disagreementRad > 0 && disagreementRad < 1, String(disagreementRad));
  });
});
