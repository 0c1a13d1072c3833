import type { Finding } from '../../src/messages/console.ts';
import type { DevicesState } from './page.tsx';

const MARKS: Record<Finding['verdict'], string> = { good: '✓', note: '!', bad: '✗' };
const WORDS: Record<Finding['verdict'], string> = {
  good: 'good',
  note: 'could be better',
  bad: 'needs a change',
};

interface Props {
  state: DevicesState;
  onExamine(): void;
}

/** `farhand doctor`, run by the console when asked. */
export function DoctorCard({ state: { doctor, examining, telemetry }, onExamine }: Props) {
  const engaged = telemetry?.robot?.state === 'engaged';
  return (
    <section class="card doctor" aria-labelledby="doctor-title">
      <header class="card-head">
        <div>
          <h3 id="doctor-title">Doctor</h3>
          <p class="small muted">Checks of this machine, with what mends each</p>
        </div>
        <button
          type="button"
          class="plain strong"
          data-testid="doctor"
          disabled={examining}
          onClick={onExamine}
        >
          {examining ? 'Examining…' : doctor ? 'Examine again' : 'Examine this machine'}
        </button>
      </header>
      {engaged && !doctor && (
        <p class="small note-line">The robot is engaged: the checks load this machine for some seconds.</p>
      )}
      <div role="status" aria-live="polite">
        {doctor?.failure && <p class="small bad">{doctor.failure}</p>}
        {doctor && !doctor.failure && (
          <p class="small muted">
            {summary(doctor.findings)} in {doctor.tookS} s
          </p>
        )}
      </div>
      <ul class="findings" data-testid="findings">
        {doctor?.findings.map((finding) => (
          <FindingRow key={finding.name} finding={finding} />
        ))}
      </ul>
      {!doctor && !examining && <p class="empty">Nothing examined yet.</p>}
    </section>
  );
}

function summary(findings: readonly Finding[]): string {
  const count = (verdict: Finding['verdict']) =>
    findings.filter((finding) => finding.verdict === verdict).length;
  return `${count('good')} good, ${count('note')} could be better, ${count('bad')} to be changed`;
}

function FindingRow({ finding: { name, verdict, found, why, fix } }: { finding: Finding }) {
  return (
    <li class={verdict}>
      <span class="mark" role="img" aria-label={WORDS[verdict]}>
        {MARKS[verdict]}
      </span>
      <div>
        <strong>{name}</strong>
        <p>{found}</p>
        {why && <p class="muted small">{why}</p>}
        {fix && (
          <div class="fix">
            <code>{fix}</code>
            <button
              type="button"
              class="plain small"
              onClick={() => void navigator.clipboard?.writeText(fix)}
            >
              Copy
            </button>
          </div>
        )}
      </div>
    </li>
  );
}
