import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { EpisodeInfo } from '../messages/recording.ts';
import { checkModel } from './play.ts';

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
