import { createServer, type Server } from 'node:net';
import { MODE, SAFETY, type UrController } from './controller.ts';

const ROBOT_MODES: Record<number, string> = {
  [MODE.booting]: 'BOOTING',
  [MODE.powerOff]: 'POWER_OFF',
  [MODE.powerOn]: 'POWER_ON',
  [MODE.idle]: 'IDLE',
  [MODE.running]: 'RUNNING',
};
const SAFETY_MODES: Record<number, string> = {
  [SAFETY.normal]: 'NORMAL',
  [SAFETY.protectiveStop]: 'PROTECTIVE_STOP',
  [SAFETY.safeguardStop]: 'SAFEGUARD_STOP',
  [SAFETY.systemEstop]: 'SYSTEM_EMERGENCY_STOP',
  [SAFETY.robotEstop]: 'ROBOT_EMERGENCY_STOP',
};

/** Port 29999: a line in, a line out. */
export function dashboardServer(controller: UrController): Server {
  return createServer((socket) => {
    socket.on('error', () => {});
    socket.write('Connected: Universal Robots Dashboard Server\n');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        const request = text.slice(0, end).trim();
        text = text.slice(end + 1);
        socket.write(`${answer(controller, request)}\n`);
        if (request === 'quit') socket.end();
      }
      if (text.length > 4096) socket.destroy();
    });
  });
}

function answer(controller: UrController, request: string): string {
  switch (request.toLowerCase()) {
    case 'power on':
      controller.powerOn();
      return 'Powering on';
    case 'power off':
      controller.powerOff();
      return 'Powering off';
    case 'brake release':
      controller.releaseBrake();
      return 'Brake releasing';
    case 'unlock protective stop':
      return controller.unlockProtectiveStop() === 'too-soon'
        ? 'Cannot unlock protective stop until 5s after occurrence. Always inspect cause of protective stop before unlocking'
        : 'Protective stop releasing';
    case 'stop':
      controller.endProgram();
      return 'Stopped';
    case 'quit':
      return 'Disconnected';
    default:
      return query(controller, request);
  }
}

function query(controller: UrController, request: string): string {
  const eSeries = controller.series === 'e';
  const known: Record<string, string> = {
    'close popup': 'closing popup',
    'close safety popup': 'closing safety popup',
    robotmode: `Robotmode: ${ROBOT_MODES[controller.robotMode]}`,
    safetymode: `Safetymode: ${SAFETY_MODES[controller.safetyMode]}`,
    running: `Program running: ${controller.playing}`,
    programstate: `${controller.playing ? 'PLAYING' : 'STOPPED'} <unnamed>`,
    polyscopeversion: eSeries ? 'URSoftware 5.12.2.1101534' : 'URSoftware 3.15.8.106339',
    'get robot model': 'UR3',
    ...(eSeries ? { safetystatus: `Safetystatus: ${SAFETY_MODES[controller.safetyMode]}` } : {}),
    ...(eSeries ? { 'is in remote control': String(controller.remoteControl) } : {}),
  };
  return known[request.toLowerCase()] ?? `could not understand: '${request}'`;
}
