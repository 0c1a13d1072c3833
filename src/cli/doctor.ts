import type { Finding } from '../app/doctor/check.ts';
import { examine } from '../app/doctor/doctor.ts';
import { expectWords, type Given, JSON_OPTION, type Verb } from './arguments.ts';

const MARKS = { good: '✓', note: '!', bad: '✗' } as const;

export const doctorVerb: Verb = {
  name: 'doctor',
  usage: '',
  about: 'Examines this machine: what was found, why it matters, and the command that mends it.',
  options: { json: JSON_OPTION },
  async run(given: Given) {
    expectWords(doctorVerb, given, 0, 0);
    const json = given.values['json'] === true;
    const findings = await examine((finding) => {
      if (!json) console.log(text(finding));
    });
    if (json) console.log(JSON.stringify(findings));
    return findings.some((finding) => finding.verdict === 'bad') ? 1 : 0;
  },
};

function text({ name, verdict, found, why, fix }: Finding): string {
  const lines = [`${MARKS[verdict]} ${name}: ${found}`];
  if (why !== '') lines.push(`    why: ${why}`);
  if (fix !== '') lines.push(`    fix: ${fix}`);
  return lines.join('\n');
}
