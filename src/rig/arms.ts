import path from 'node:path';
import { type ConfigTree, resolveConfig } from '../core/config.ts';
import { TeleopError } from '../core/errors.ts';
import { type Placement, placedRelative } from '../geometry/placement.ts';
import { type ArmsConfig, SIDES, type Side } from './arms-config.ts';
import { type Rig, rigSchema } from './rig.ts';

/** The left arm's ports are this far above the right's, as in the rigs of single left arms. */
const PORT_STEP = 20;

/** One arm of a rig: a complete rig of its own. */
export interface ArmRig {
  /** Null: the rig has one arm. */
  side: Side | null;
  rig: Rig;
}

/** The arms of a rig, left before right; a rig without `arms` is its own only arm. */
export function armRigs(rig: Rig): ArmRig[] {
  const { arms } = rig;
  if (arms === null) return [{ side: null, rig }];
  refuseUnsupported(rig);
  return SIDES.map((side) => ({ side, rig: armRig(rig, arms, side) }));
}

/** One arm of a rig of two, for a robot process of its own. */
export function oneArm(rig: Rig, side: string): Rig {
  const found = armRigs(rig).find((arm) => arm.side === side);
  if (found === undefined)
    throw new TeleopError('bad-option', `the rig ${rig.name} has no arm "${side}"`, {
      hint: rig.arms === null ? 'Omit --arm: this rig has one arm.' : 'Use --arm left or --arm right.',
    });
  if (!rig.arms!.apart && !isOneMachine(rig)) throw twoMachines();
  return found.rig;
}

function armRig(rig: Rig, arms: ArmsConfig, side: Side): Rig {
  const { baseXyzM: _, baseRpyRad: __, ...own } = arms[side];
  const common = {
    ...rig,
    name: `${rig.name}-${side}`,
    arms: null,
    handedness: side,
    link: side === 'left' ? shiftedPorts(rig.link) : rig.link,
    robot: { ...rig.robot, pair: pairOf(rig, arms, side) },
    trace: { ...rig.trace, dir: rig.trace.dir === '' ? '' : path.join(rig.trace.dir, side) },
  };
  const layers = [
    { source: `rig ${rig.name}`, values: common as unknown as ConfigTree },
    { source: `arms.${side}`, values: own as unknown as ConfigTree },
  ];
  return resolveConfig(rigSchema, layers).config;
}

function shiftedPorts(link: Rig['link']): Rig['link'] {
  const { commandPort, statePort, syncPort } = link;
  return {
    ...link,
    commandPort: commandPort + PORT_STEP,
    statePort: statePort + PORT_STEP,
    syncPort: syncPort + PORT_STEP,
  };
}

/** Where the arm stands in the common frame. */
export const basePlacement = ({ baseXyzM, baseRpyRad }: ArmsConfig[Side]): Placement => ({
  xyzM: baseXyzM,
  rpyRad: baseRpyRad,
});

function pairOf(rig: Rig, arms: ArmsConfig, side: Side): Rig['robot']['pair'] {
  if (arms.apart) return null;
  const { sharedBase, marginM, silenceMs, pairPort } = arms;
  const other = side === 'left' ? 'right' : 'left';
  const { xyzM, rpyRad } = placedRelative(basePlacement(arms[side]), basePlacement(arms[other]));
  const ports = [pairPort, pairPort + 1] as const;
  const [port, otherPort] = side === 'right' ? ports : [ports[1], ports[0]];
  const model = arms[other].model ?? rig.model;
  return { model, port, otherPort, baseXyzM: xyzM, baseRpyRad: rpyRad, sharedBase, marginM, silenceMs };
}

/** Whether both arms have the same host, so that one robot process serves both. */
function isOneMachine({ arms, link }: Rig): boolean {
  const host = (side: Side) => arms?.[side].link['robotHost'] ?? link.robotHost;
  return host('left') === host('right');
}

const twoMachines = (): TeleopError =>
  new TeleopError(
    'bad-config',
    'the arms are on two machines, which cannot check for collisions between them',
    {
      hint: 'If the arms cannot reach each other, state that: arms.apart=true. Otherwise connect both to one machine.',
    },
  );

function refuseUnsupported(rig: Rig): void {
  const { link, robot, arms } = rig;
  if (!arms!.apart && !isOneMachine(rig)) throw twoMachines();
  if (link.transport !== 'udp')
    throw new TeleopError('bad-config', `two arms need link.transport=udp, not ${link.transport}`, {
      hint: 'Use link.transport=udp, or a rig of one arm.',
    });
  if (robot.topics !== null || SIDES.some((side) => arms![side].robot['topics'] != null))
    throw new TeleopError('bad-config', 'robot.topics takes the commands of one arm', {
      hint: 'Use a rig of one arm for each, with robot.pair (docs/bimanual.md).',
    });
}
