import type { RobotModel } from '../geometry/robot-model.ts';
import { armXml } from './arm-bodies.ts';
import type { ArmFacts } from './arm-facts.ts';
import { gripperActuatorXml, gripperEqualityXml, gripperTendonXml, padPairsXml } from './gripper-body.ts';
import { handPairsXml, handXml } from './hand-bodies.ts';

/** What a scene needs of a robot. Names begin with a prefix, if there are two robots. */
export interface RobotPart {
  /** Joints of its gripper, which come after its own. */
  gripperJoints: 0 | 2;
  bodyXml(model: RobotModel, facts: ArmFacts, prefix: string): string;
  /** Its contacts with a thing. */
  pairsXml(geom: string, prefix: string): string;
  couplingXml(prefix: string): string;
  /** What moves the gripper. */
  actuatorXml(prefix: string): string;
}

const ARM: RobotPart = {
  gripperJoints: 2,
  bodyXml: armXml,
  pairsXml: padPairsXml,
  couplingXml: (prefix) =>
    `<tendon>${gripperTendonXml(prefix)}</tendon><equality>${gripperEqualityXml(prefix)}</equality>`,
  actuatorXml: gripperActuatorXml,
};

const hand = (model: RobotModel): RobotPart => ({
  gripperJoints: 0,
  bodyXml: handXml,
  pairsXml: (geom) => handPairsXml(model, geom),
  couplingXml: () => '',
  actuatorXml: () => '',
});

export const robotPartOf = (model: RobotModel): RobotPart => (model.family === 'hand' ? hand(model) : ARM);
