import { Leader } from '../app/leader/leader.ts';
import { loadModel } from '../app/robot-models.ts';
import { TeleopError } from '../core/errors.ts';
import { expectWords, type Given, numberOption, type Verb } from './arguments.ts';
import { onEndRequest } from './process.ts';

const OPEN_TICKS = 2280;
const CLOSED_TICKS = 1670;

export const leaderVerb: Verb = {
  name: 'leader',
  usage: '--port PATH [--to HOST:PORT] [--model NAME] [--hz HZ] [--baud BAUD] [--spring MA]',
  about:
    'A leader arm of Dynamixel motors as an input: its pose goes out as RCTP, to an operator with input rctp.',
  details: `  farhand leader --port /dev/ttyUSB0
  farhand leader --port /dev/ttyUSB1 --to 127.0.0.1:8889

Joints are motors 1 to N, the gripper is motor N + 1. All joints are free to be moved; the gripper is held open by a small
current. Whatever stops answering is a hand that is lost: the robot holds. See docs/drivers/dk1.md.`,
  options: {
    port: { type: 'string', value: 'PATH', about: 'serial device of the leader' },
    to: {
      type: 'string',
      value: 'HOST:PORT',
      about: 'where to send (default: 127.0.0.1:8888, the right hand)',
    },
    model: { type: 'string', value: 'NAME', about: 'model of the follower (default: dk1)' },
    hz: { type: 'string', value: 'HZ', about: 'poses per second (default: 100)' },
    baud: { type: 'string', value: 'BAUD', about: 'of the bus (default: 1000000)' },
    spring: { type: 'string', value: 'MA', about: 'current that opens the gripper (default: 100; 0: none)' },
  },
  async run(given: Given) {
    expectWords(leaderVerb, given, 0, 0);
    const port = given.values['port'];
    if (typeof port !== 'string')
      throw new TeleopError('bad-option', 'leader needs --port PATH', {
        hint: 'Give the serial device, for example --port /dev/ttyUSB0.',
      });
    const ended = new Promise<void>((resolve) => onEndRequest(resolve));
    const to = target(String(given.values['to'] ?? '127.0.0.1:8888'));
    const leader = await Leader.open({
      port,
      baudRate: numberOption(given, 'baud', 9600, 4_500_000) ?? 1_000_000,
      model: loadModel(String(given.values['model'] ?? 'dk1')),
      hz: numberOption(given, 'hz', 10, 500) ?? 100,
      to,
      gripper: { openTicks: OPEN_TICKS, closedTicks: CLOSED_TICKS },
      springMa: Math.round(numberOption(given, 'spring', 0, 300) ?? 100),
    });
    console.log(`leader on ${port} → RCTP ${to.host}:${to.port}`);
    await ended;
    console.log(JSON.stringify(leader.counts));
    await leader.close();
    return 0;
  },
};

function target(text: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^([\w.-]+):(\d{1,5})$/.exec(text) ?? [];
  if (host !== '' && Number(port) > 0 && Number(port) < 65_536) return { host, port: Number(port) };
  throw new TeleopError('bad-option', `--to ${text} is not a host and a port`, {
    hint: 'Give it like --to 127.0.0.1:8888.',
  });
}
