import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { testGripper } from 'farhand/testing';
import plugin from './index.js';

const SPEED_PER_S = 2;

/** A device that answers like the gripper; `tell` makes it misbehave. */
async function start() {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  let [position, target, isSilent, isNoisy, isOpen] = [0, 0, false, false, true];
  let obstacle = 1;
  const timer = setInterval(() => {
    const step = SPEED_PER_S * 0.01;
    position = Math.min(obstacle, position + Math.max(-step, Math.min(step, target - position)));
  }, 10);
  socket.on('message', (bytes, from) => {
    const wanted = /^to (\d\.\d+)$/.exec(bytes.toString())?.[1];
    if (wanted !== undefined) target = Number(wanted);
    if (isSilent) return;
    socket.send(`at ${position.toFixed(4)}`, from.port, from.address);
    if (isNoisy) socket.send('at nowhere', from.port, from.address);
  });
  const close = () => {
    clearInterval(timer);
    if (isOpen) socket.close();
    isOpen = false;
  };
  return {
    options: { host: '127.0.0.1', port: socket.address().port },
    armHost: '',
    /** @param {string} trick */
    tell: (trick) => {
      if (trick === 'hold') obstacle = 0.5;
      if (trick === 'noise') isNoisy = true;
      if (trick === 'silence') isSilent = true;
      if (trick === 'speak') isSilent = false;
    },
    kill: close,
    stop: async () => close(),
  };
}

testGripper('NAME', plugin, { tricks: ['hold', 'split', 'noise', 'silence', 'speak'], start });
