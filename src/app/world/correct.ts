import { rigModel } from '../../rig/robot-models.ts';
import { type Demonstration, StageTape } from './demonstrate.ts';
import { Lead, type PolicySeedOptions, play } from './policy-seed.ts';
import { ScriptedPerson } from './scripted-person.ts';
import { WorldStage } from './stage.ts';

export interface CorrectedAttempt extends Demonstration {
  /** How often the person took over. */
  corrections: number;
  score: number;
}

/** Lets a policy do a seed while a scripted person takes over where it is stuck, at most `most` times, and records it. */
export async function correct(
  options: PolicySeedOptions,
  most: number,
  dir: string,
): Promise<CorrectedAttempt> {
  const { rig } = options;
  const lead = new Lead();
  const tape = new StageTape(rig);
  const stage = await WorldStage.open({
    ...options,
    rows: tape.feed,
    onClosed(record) {
      lead.learn(record);
      tape.feed.onClosed(record);
    },
  });
  try {
    tape.begin(stage, dir);
    const person = new ScriptedPerson(stage, rigModel(rig), most);
    const { seed, success, score, timeS } = await play(stage, lead, options, {
      get drives() {
        return person.drives;
      },
      tick(sentRad, sentGripper) {
        person.tick(sentRad, sentGripper);
        tape.drain();
      },
    });
    return { seed, success, score, timeS, ...tape.end(success), corrections: person.corrections };
  } finally {
    stage.close();
  }
}
