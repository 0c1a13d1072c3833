import { TeleopError } from '../../../core/errors.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { RobotModel } from '../../../geometry/robot-model.ts';
import type { CanBackend } from '../../buses/can.ts';
import { canBackend } from '../../buses/open-can.ts';
import type { PiperConfig } from './config.ts';
import { firmwareQueryFrame, followerFrame, PIPER_BITRATE } from './frames.ts';
import { checkVariant, variantOfModel } from './geometry.ts';
import { PiperDriver } from './piper-driver.ts';

const FEEDBACK_MS = 800;
const REPLY_MS = 400;
const TRIES = 3;
/** Assumed versions when the rig sets the variant. */
const ASSUMED = { new: '1.6-3', old: '1.6-2' } as const;

/** Connects, waits for feedback, and checks that the model's zero matches the arm's. Moves nothing. */
export async function openPiper(
  config: PiperConfig,
  model: RobotModel,
  clock: Clock,
  backend: CanBackend = canBackend(config.bus, PIPER_BITRATE),
): Promise<PiperDriver> {
  variantOfModel(model);
  const driver = await PiperDriver.connect(config, model, clock, backend);
  try {
    await awaitFeedback(driver);
    const firmware = config.firmware === 'query' ? await readFirmware(driver) : ASSUMED[config.firmware];
    checkVariant(firmware, model);
    return driver;
  } catch (error) {
    driver.dispose();
    throw error;
  }
}

/** A leader arm sends no feedback; it is switched to follower. */
async function awaitFeedback({ bus, feedback }: PiperDriver): Promise<void> {
  const answered = () => feedback.jointsNs > Number.NEGATIVE_INFINITY;
  if (await bus.until(answered, FEEDBACK_MS)) return;
  bus.send([followerFrame()]);
  if (await bus.until(answered, FEEDBACK_MS)) return;
  const { received, errors, lastError } = bus.stats;
  const seen = received === 0 ? 'no frames' : `${received} frames, none of them joint angles`;
  throw new TeleopError(
    'robot-silent',
    `no feedback from the arm on ${bus.name}: ${seen}${errors > 0 ? `; ${errors} errors, last: ${lastError}` : ''}`,
    {
      hint: 'Check power and CAN wires, and look with `farhand can dump`. A leader arm may need a power cycle.',
    },
  );
}

async function readFirmware({ bus, feedback }: PiperDriver): Promise<string> {
  for (let i = 0; i < TRIES; i++) {
    feedback.forgetFirmware();
    bus.send([firmwareQueryFrame()]);
    if (await bus.until(() => feedback.firmware !== null, REPLY_MS)) return feedback.firmware!;
  }
  throw new TeleopError('robot-silent', 'the arm does not report its firmware version', {
    hint: 'If you know it, set `robot.options.firmware` to new (1.6-3 or newer) or old in the rig.',
  });
}
