import { createSocket, type Socket } from 'node:dgram';
import type { Given, OptionSpec } from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { Fingers } from '../fingers.ts';
import { onCommands, portOption } from '../tcp.ts';

export const about = 'a gripper with one servo behind a microcontroller: text datagrams over UDP';
export const details =
  'Commands on standard input: hold (something is between the fingers), free, silence, speak, noise (nonsense before each reply).';

export const examples = ['farhand sim servo-gripper'];

export const options: Record<string, OptionSpec> = {
  host: { type: 'string', value: 'ADDRESS', about: 'address to listen on (default: 127.0.0.1)' },
  port: { type: 'string', value: 'PORT', about: 'UDP port (default: 4790); 0 picks a free one' },
};

export async function run(given: Given, stop: AbortSignal): Promise<number> {
  const host = typeof given.values['host'] === 'string' ? given.values['host'] : '127.0.0.1';
  const fingers = new Fingers();
  const flags = { silent: false, noise: false };
  const socket = createSocket('udp4');
  socket.on('message', (bytes, from) => {
    const reply = flags.silent ? null : answer(fingers, bytes.toString('latin1'));
    if (flags.noise) socket.send('P nonsense', from.port, from.address);
    if (reply !== null) socket.send(reply, from.port, from.address);
  });
  const port = await bound(socket, host, portOption(given.values['port'], 4790));
  const endSteps = fingers.run();
  const act: Record<string, () => void> = {
    hold: () => {
      fingers.heldAt = 0.5;
    },
    free: () => {
      fingers.heldAt = 1;
    },
    silence: () => {
      flags.silent = true;
    },
    speak: () => {
      flags.silent = false;
    },
    noise: () => {
      flags.noise = true;
    },
  };
  onCommands((word) => act[word]?.(), stop);
  console.log(`sim servo-gripper: ready on ${host}: port ${port}`);
  await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));
  endSteps();
  socket.close();
  return 0;
}

/** As the sketch in examples/servo-gripper does it. */
function answer(fingers: Fingers, text: string): string | null {
  const [word, number, request] = text.trim().split(' ');
  if (word !== 'G' || number === undefined || request === undefined) return null;
  const target = Number(request);
  if (request === 'H') fingers.target = fingers.position;
  else if (Number.isInteger(target) && target >= 0 && target <= 1000) fingers.target = target / 1000;
  else if (request !== '?') return null;
  return `P ${number} ${Math.round(1000 * fingers.position)}`;
}

function bound(socket: Socket, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    socket.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new TeleopError('port-in-use', `cannot listen on ${host}:${port}: ${cause.code ?? cause.message}`, {
          hint: 'Choose another port; 0 picks a free one.',
          cause,
        }),
      ),
    );
    socket.bind(port, host, () => resolve(socket.address().port));
  });
}
