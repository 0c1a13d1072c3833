import assert from 'node:assert/strict';
import { TakeOverTrial } from './take-over-trial.ts';

type Event = (trial: TakeOverTrial) => void;
type Switch = 'clutch' | 'isLeaderFollowed' | 'isHandVisible' | 'isArmFlagHeld' | 'isPersonSending';
const put =
  (state: Partial<Record<Switch, boolean>>): Event =>
  (trial) =>
    Object.assign(trial, state);
const ask =
  (kind: string): Event =>
  (trial) =>
    trial.rig.request({ kind });
const choose =
  (name: string): Event =>
  (trial) =>
    trial.rig.request({ kind: 'input', name });

/** The robot may move again. */
function ready(trial: TakeOverTrial): void {
  for (const kind of ['reset', 'arm']) {
    trial.rig.request({ kind });
    trial.run(300);
  }
}

/** Somebody starts `farhand policy` with every clutch open. */
function starts(trial: TakeOverTrial): void {
  put({ clutch: false, isLeaderFollowed: false, isPersonSending: true })(trial);
  choose('joints')(trial);
  ready(trial);
  trial.policyBegins();
  trial.run(300);
}

/** What people, programs and defects may do, in any order. Those that let a policy drive again are marked. */
const EVENTS: readonly [event: Event, mayLetPolicyDrive?: true][] = [
  [(trial) => trial.policyBegins()],
  [(trial) => trial.policyBegins()],
  [(trial) => trial.policyBegins()],
  [(trial) => trial.policyLetsGo()],
  [(trial) => trial.leap('policy')],
  [(trial) => trial.leap('leader')],
  [put({ clutch: true })],
  [put({ clutch: false })],
  [put({ isLeaderFollowed: true })],
  [put({ isLeaderFollowed: false })],
  [put({ isHandVisible: true })],
  [put({ isHandVisible: false })],
  [put({ isArmFlagHeld: true })],
  [put({ isArmFlagHeld: false })],
  [put({ isPersonSending: true })],
  [put({ isPersonSending: false })],
  [(trial) => trial.leaderHandsBack(), true],
  [ask('hand-back'), true],
  [ask('take-over')],
  [ask('hold')],
  [ask('teleop')],
  [ask('home')],
  [ready],
  [starts, true],
  [starts, true],
  [starts, true],
  [starts, true],
  [starts, true],
  [ask('disarm')],
  [ask('estop')],
  [choose('joints'), true],
  [choose('page')],
  [choose('leader')],
  [choose('rctp')],
];

/** Random events; returns how often a person took over from the policy. */
export async function takeOverStory(seed: number, events: number): Promise<number> {
  const trial = await TakeOverTrial.create(seed);
  let takeOvers = 0;
  // Until a person interrupts it, the policy may drive.
  let mayPolicyDrive = true;
  let told = '';
  for (let n = 0; n < events; n++) {
    const index = Math.floor(EVENTS.length * trial.random());
    const [event, lets = false] = EVENTS[index]!;
    told += ` ${index}`;
    const last = trial.commands.at(-1);
    trial.commands.splice(0, trial.commands.length, ...(last === undefined ? [] : [last]));
    mayPolicyDrive ||= lets;
    event(trial);
    trial.run(10 + 400 * trial.random());
    trial.commands.forEach(({ source, intervention, engagement, rad }, i) => {
      const before = trial.commands[i - 1];
      if (before === undefined) return;
      const story = `seed ${seed}:${told}`;
      assert.ok(!intervention || source === 'person', `${story}: only a person intervenes`);
      const isTaken = before.source === 'policy' && source === 'person';
      if (isTaken && engagement === before.engagement) {
        assert.deepEqual(rad, before.rad, `${story}: taking over moves nothing`);
        takeOvers++;
      }
      if (source === 'person' && intervention) mayPolicyDrive = false;
      assert.ok(source !== 'policy' || mayPolicyDrive, `${story}: nobody handed back`);
    });
  }
  assert.equal(trial.rig.robot.counters.get('limit-breach'), 0, `seed ${seed}:${told}`);
  return takeOvers;
}
