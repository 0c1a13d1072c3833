/** Whether a host is this machine, by its usual names. */
export const isLoopback = (host: string): boolean => host === 'localhost' || /^127(\.\d+){3}$/.test(host);
