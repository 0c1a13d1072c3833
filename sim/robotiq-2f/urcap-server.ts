import { createServer, type Server } from 'node:net';
import type { RobotiqGripper } from './gripper.ts';

const MAX_LINE = 256;

/** The URCap's text socket. A reply has no end mark; `split` sends it in two pieces. */
export function urcapServer(gripper: RobotiqGripper, options: { split: boolean; silent: boolean }): Server {
  return createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    let held = '';
    socket.on('data', (chunk) => {
      held += chunk.toString('latin1');
      if (held.length > MAX_LINE) return void socket.destroy();
      const lines = held.split('\n');
      held = lines.pop()!;
      for (const line of lines) {
        const reply = answer(gripper, line.trim());
        if (options.silent) continue;
        if (!options.split || reply.length < 2) socket.write(reply);
        else {
          socket.write(reply.slice(0, -1));
          setImmediate(() => socket.write(reply.slice(-1)));
        }
      }
    });
  });
}

function answer(gripper: RobotiqGripper, line: string): string {
  const [verb, ...words] = line.split(/\s+/);
  if (verb === 'GET') {
    const name = words[0] ?? '';
    const value = variable(gripper, name);
    return value === null ? '?' : `${name} ${value}`;
  }
  if (verb !== 'SET' || words.length === 0 || words.length % 2 !== 0) return '?';
  for (let i = 0; i < words.length; i += 2) {
    const name = words[i] as keyof RobotiqGripper['set'];
    const value = Number(words[i + 1]);
    if (!(name in gripper.set) || !Number.isInteger(value) || value < 0 || value > 255) return 'nack';
    gripper.set[name] = value;
  }
  gripper.apply();
  return 'ack';
}

function variable(gripper: RobotiqGripper, name: string): number | null {
  if (name === 'POS') return gripper.count;
  if (name === 'PRE') return gripper.set.POS;
  if (name === 'STA') return gripper.state;
  if (name === 'OBJ') return gripper.object;
  if (name === 'FLT') return gripper.fault;
  return name in gripper.set ? gripper.set[name as keyof RobotiqGripper['set']] : null;
}
