// UNVERIFIED ON HARDWARE
import { z } from 'zod';
import { TeleopError } from '../../../core/errors.ts';
import { openGripper } from '../../buses/open-gripper.ts';
import type { GripperPlugin } from '../../gripper.ts';
import { ServoLink } from './servo-link.ts';

const config = z.strictObject({
  host: z.string().min(1).default('192.168.0.110').describe('address of the microcontroller'),
  port: z.int().min(1).max(65535).default(4790).describe('UDP port it listens on'),
});
type Config = z.infer<typeof config>;

const plugin: GripperPlugin<Config> = {
  about: 'one servo behind a microcontroller with a network interface (examples/servo-gripper)',
  config,
  async open({ host, port }, _arm, clock) {
    const hint = 'Check its power and its address (robot.gripperOptions.host).';
    let link: ServoLink;
    try {
      link = await ServoLink.open(host, port);
    } catch (cause) {
      throw new TeleopError('robot-unreachable', `no gripper at ${host}: ${(cause as Error).message}`, {
        hint,
        cause,
      });
    }
    return openGripper(link, clock, `${host}:${port}`, hint);
  },
};

export default plugin;
