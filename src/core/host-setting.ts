import { z } from 'zod';

/** A setting that holds an address, IPv4 or IPv6, or a host name. */
export const hostSetting = z
  .string()
  .regex(/^[\w.:%-]+$/, 'write an address, such as 192.168.1.20 or fd00::20, or a host name');

/** A setting that holds an address, not a name. */
export const addressSetting = z.union([z.ipv4(), z.ipv6()], { error: 'write an IPv4 or IPv6 address' });
