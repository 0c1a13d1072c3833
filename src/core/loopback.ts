/** Whether a host is this machine, by its usual names. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host);

/** Where to bind a socket that talks to this address: it is not reachable from elsewhere if the peer is this machine. */
export function nearHost(peer: string): string {
  if (peer.includes(':')) return isLoopback(peer) ? '::1' : '::';
  return isLoopback(peer) ? '127.0.0.1' : '0.0.0.0';
}
