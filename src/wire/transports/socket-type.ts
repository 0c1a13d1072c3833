/** Kind of UDP socket for an address. */
export const socketType = (host: string): 'udp4' | 'udp6' => (host.includes(':') ? 'udp6' : 'udp4');
