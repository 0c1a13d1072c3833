import { createServer, type Server } from 'node:net';
import type { UrController } from './controller.ts';
import { UrProgram } from './program.ts';
import { ScriptError } from './urscript/syntax.ts';

const MAX_SCRIPT_CHARS = 64_000;
/** A state message without parts: length, type. The real one carries the robot's state ten times a second. */
const EMPTY_STATE = Buffer.from([0, 0, 0, 5, 16]);

/**
 * Port 30002: accepts a program that ends with `end` at the start of a line; sends state that our driver
 * ignores.
 */
export function scriptServer(controller: UrController, log: (text: string) => void): Server {
  return createServer((socket) => {
    socket.on('error', () => {});
    const beat = setInterval(() => socket.write(EMPTY_STATE), 100);
    socket.on('close', () => clearInterval(beat));
    let script = '';
    socket.on('data', (chunk) => {
      script += chunk.toString('latin1');
      if (script.length > MAX_SCRIPT_CHARS) socket.destroy();
      if (!/\nend\n$/.test(script)) return;
      start(controller, script, log);
      script = '';
    });
  });
}

function start(controller: UrController, script: string, log: (text: string) => void): void {
  try {
    if (!controller.play(new UrProgram(script, log))) log('program rejected: robot is not running');
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    log(`program rejected: ${error.message}`);
  }
}
