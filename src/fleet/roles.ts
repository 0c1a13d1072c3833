/** `admin` and `service` belong to the account of the store, all others to that of robots and people. */
export const FLEET_ROLES = ['robot', 'operator', 'viewer', 'admin', 'site', 'roster', 'service'] as const;
export type FleetRole = (typeof FLEET_ROLES)[number];

export interface Permissions {
  pub: string[];
  sub: string[];
}
