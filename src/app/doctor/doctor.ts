import type { Finding } from './check.ts';
import { kernelStamps, pairedKeys, realtime, socketBuffers, wakeUps, zeromq } from './link-checks.ts';

/** Looks at this machine, one check after the other: they measure, and must not disturb each other. */
export async function examine(onFinding: (finding: Finding) => void): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of [kernelStamps, wakeUps, socketBuffers, zeromq, pairedKeys, realtime]) {
    const finding = await check();
    findings.push(finding);
    onFinding(finding);
  }
  return findings;
}
