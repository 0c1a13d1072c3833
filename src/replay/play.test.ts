import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { EpisodeInfo, EpisodeRow } from '../messages/recording.ts';
import { checkModel, checkRows } from './play.ts';

const model = { name: 'ur3', joints: [{ name: 'a' }, { name: 'b' }] } as RobotModel;
const episode = (joints: string[], robot = 'ur3') => ({ joints, robot }) as EpisodeInfo;

describe('the model of an episode', () => {
  it('must have the joints of the rig', () => {
    checkModel(episode(['a', 'b']), model);
    assert.throws(() => checkModel(episode(['b', 'a']), model), /recorded with ur3/);
  });

  it('is reported with its joints, and cannot control a terminal', () => {
    assert.throws(() => checkModel(episode(['a']), model), /ur3 \(1 joints\), the rig has ur3 \(2\)/);
    assert.throws(() => checkModel(episode([], 'x\u001b[2J'), model), /with x�\[2J/);
  });
});

describe('the rows of an episode', () => {
  const joint = (name: string) => ({ name, minRad: -1, maxRad: 1 });
  const robot = { name: 'ur3', joints: [joint('a'), joint('b')] } as RobotModel;
  const row = (timeNs: number, commandRad: unknown[] = [0, 0.5], commandGripper: unknown = 0) =>
    ({ timeNs, commandRad, commandGripper }) as EpisodeRow;
  const rejects = (reason: RegExp, ...rows: EpisodeRow[]) =>
    assert.throws(() => checkRows([row(0), row(1), ...rows], robot), reason);

  it('are commands of this robot at increasing times', () => {
    checkRows([row(0), row(1), row(3, [-1.05, 1.05])], robot);
    assert.throws(() => checkRows([], robot), /no rows/);
  });

  it('without a number are not played', () => {
    // As a recording holds it: JSON has no NaN, and null would count as 0 rad.
    rejects(/row 2 has no command within the range of b: null/, row(2, [0, null]));
    rejects(/row 2 .* NaN/, row(2, [Number.NaN, 0]));
    rejects(/row 2 .* range of a: 1e\+308/, row(2, [1e308, 0]));
    rejects(/row 2 is not a command/, row(2, [0, 0], null));
    rejects(/row 2 is not a command/, row(2, [0]));
  });

  it('whose time stands still or goes back are not played', () => {
    rejects(/row 2 is not later/, row(1));
    rejects(/row 2 is not later/, row(0.5));
    rejects(/row 2 is not later/, row(Number.NaN));
  });
});
