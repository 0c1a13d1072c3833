import type { Finding } from '../../src/messages/console.ts';
import { worstFirst } from '../../src/messages/findings.ts';
import type { DevicesState } from './state.ts';

const MARKS: Record<Finding['verdict'], string> = { good: '✓', note: '!', bad: '✗' };
const WORDS: Record<Finding['verdict'], string> = {
  good: 'ok',
  note: 'warning',
  bad: 'problem',
};

interface Props {
  state: DevicesState;
  onCheck(): void;
}

/** Runs `farhand doctor` on request. */
export function DoctorCard({ state: { doctor, checking, telemetry, isViewer }, onCheck }: Props) {
  const engaged = telemetry?.robot?.state === 'engaged';
  return (
    <section class="card doctor" aria-labelledby="doctor-title">
      <header class="card-head">
        <div>
          <h3 id="doctor-title">Doctor</h3>
          <p class="small muted">Checks this machine and suggests a fix for each problem</p>
        </div>
        <button
          type="button"
          class="plain strong"
          data-testid="doctor"
          disabled={checking || isViewer}
          onClick={onCheck}
        >
          {checking ? 'Checking…' : doctor ? 'Check again' : 'Check this machine'}
        </button>
      </header>
      {engaged && !doctor && (
        <p class="small note-line">The robot is engaged. The checks load this machine for a few seconds.</p>
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
        {worstFirst(doctor?.findings ?? []).map((finding) => (
          <FindingRow key={finding.name} finding={finding} />
        ))}
      </ul>
      {!doctor && !checking && (
        <p class="empty">{isViewer ? 'Only operators may check this machine.' : 'No checks run yet.'}</p>
      )}
    </section>
  );
}

function summary(findings: readonly Finding[]): string {
  const count = (verdict: Finding['verdict']) =>
    findings.filter((finding) => finding.verdict === verdict).length;
  return `${count('bad')} problems, ${count('note')} warnings, ${count('good')} ok`;
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
