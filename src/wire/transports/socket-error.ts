import { TeleopError } from '../../core/errors.ts';
import { hostPort } from '../../core/ip-address.ts';
import { peerOf, type SocketSpec } from '../reactor.ts';

/** A failed bind, with its remedy. */
export function socketError(spec: SocketSpec, code: string): TeleopError {
  const where = `${spec.tcp ? 'TCP' : 'UDP'} ${hostPort(spec.host, spec.port)} for the ${spec.name} socket`;
  const key = spec.portKey ?? `link.${spec.name}Port`;
  if (code === 'EADDRINUSE')
    return new TeleopError('port-in-use', `${where} is in use`, {
      hint: `Stop the program that holds it (ss -${spec.tcp ? 't' : 'u'}lpn "sport = :${spec.port}" names it) or choose another: ${key}=${spec.port + 10}`,
    });
  if (code === 'EACCES')
    return new TeleopError('socket-failed', `${where} needs a privilege that this user lacks`, {
      hint: `Choose a port above 1023: ${key}=${spec.port + 10000}`,
    });
  return new TeleopError('socket-failed', `${where} cannot be opened: ${code}`, {
    hint: 'Check that the address belongs to this machine: `ip address` lists them.',
  });
}

/** A name or an empty host must not listen on all addresses. */
export function checkHost(spec: SocketSpec): void {
  if (spec.host === '0.0.0.0' || peerOf(spec.host, 0) !== 0) return;
  throw new TeleopError('socket-failed', `"${spec.host}" for the ${spec.name} socket is not an address`, {
    hint: 'Write one of this machine, as in 192.168.1.5 or fd00::5; `ip address` lists them.',
  });
}
