import { TeleopError } from '../../core/errors.ts';

/** A camera channel socket failed to open. `offset`: distance of its port from `cameras.port`. */
export function channelError(
  kind: 'TCP' | 'UDP',
  host: string,
  port: number,
  offset: number,
  code: string,
): TeleopError {
  const where = `${kind} ${host}:${port} for the cameras`;
  if (code === 'EADDRINUSE')
    return new TeleopError('port-in-use', `${where} is in use`, {
      hint: `Stop the program that holds it (ss -${kind === 'TCP' ? 't' : 'u'}lpn "sport = :${port}" names it) or choose another: cameras.port=${port - offset + 10}`,
    });
  return new TeleopError('socket-failed', `${where} cannot be opened: ${code}`, {
    hint: 'Check that cameras.listenHost is an address of this machine (ip address) and cameras.port is above 1023.',
  });
}
