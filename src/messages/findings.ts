import type { Finding } from './console.ts';

const SEVERITY: readonly Finding['verdict'][] = ['bad', 'note', 'good'];

/** What the doctor found, problems before warnings before what is in order. */
export const worstFirst = <T extends Pick<Finding, 'verdict'>>(findings: readonly T[]): T[] =>
  [...findings].sort((a, b) => SEVERITY.indexOf(a.verdict) - SEVERITY.indexOf(b.verdict));
