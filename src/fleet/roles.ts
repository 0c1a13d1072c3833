export const FLEET_ROLES = ['robot', 'operator', 'viewer', 'admin', 'site'] as const;
export type FleetRole = (typeof FLEET_ROLES)[number];

export interface Permissions {
  pub: string[];
  sub: string[];
}
