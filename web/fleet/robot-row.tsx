import { sentence } from '../panels/labels.ts';
import { consoleKind } from '../shell/console-kind.ts';
import { age, linkQuality, type Shown, stateLabel } from './robot-status.ts';
import type { FleetStore } from './store.ts';

interface Props {
  store: FleetStore;
  shown: Shown;
  topPx: number;
  at: number;
  of: number;
}

export function RobotRow({ store, shown, topPx, at, of }: Props) {
  const { robot, model, version, tone } = shown;
  const { quality, text, rates } = linkQuality(shown);
  const note = store.state.notes.get(robot) ?? '';
  return (
    <li
      aria-posinset={at + 1}
      aria-setsize={of}
      class={robot === store.state.selected ? 'fleet-row selected' : 'fleet-row'}
      data-tone={tone}
      data-testid={`robot-${robot}`}
      style={{ transform: `translateY(${topPx}px)` }}
    >
      <div class="f-name">
        <b>{robot}</b>
        <small>
          {model} · {version}
        </small>
      </div>
      <div class="f-state" data-testid={`state-${robot}`}>
        <i aria-hidden="true" />
        <b>{stateText(shown)}</b>
        <small title={shown.cause}>{shown.state === 'disconnected' ? '' : sentence(shown.cause)}</small>
      </div>
      <div class="f-lease" data-testid={`lease-${robot}`}>
        <b class={shown.lease === null ? 'muted' : ''}>{holderText(store, shown)}</b>
        <small class={note ? 'note' : ''} title={note} aria-live="polite">
          {note || leaseText(shown)}
        </small>
      </div>
      <div class="f-link">
        <b class={quality}>{text}</b>
        <small>{rates}</small>
      </div>
      <Actions store={store} shown={shown} />
    </li>
  );
}

const stateText = ({ goneMs, state }: Shown): string =>
  goneMs === null ? stateLabel(state) : `${state === 'ended' ? 'shut down' : 'offline'} ${age(goneMs)}`;

function holderText(store: FleetStore, { lease }: Shown): string {
  if (lease === null) return 'free';
  const { info } = store.fleet;
  if (lease.page !== null) return lease.page === info?.page ? 'you' : `${lease.user}, other page`;
  return lease.user === info?.user ? `${lease.user}, other device` : lease.user;
}

function leaseText({ lease, heldMs }: Shown): string {
  if (lease === null || heldMs === null) return '';
  return `${age(heldMs)}${lease.token === null ? '' : `, token ${lease.token}`}`;
}

function Actions({ store, shown }: { store: FleetStore; shown: Shown }) {
  const { robot, lease, goneMs } = shown;
  const mayOperate = store.fleet.info?.mayOperate === true && store.fleet.status === 'open';
  const isMine = lease !== null && lease.page === store.fleet.info?.page;
  const isOthers = lease !== null && !isMine;
  const isOpenHere = consoleKind.robot === robot;
  const mayTake = mayOperate && goneMs === null;
  return (
    <div class="f-acts">
      {isOthers ? (
        <button
          type="button"
          class="plain"
          data-testid={`ask-${robot}`}
          disabled={!mayOperate}
          onClick={() => void store.request({ kind: 'ask', robot }, 'requesting…')}
        >
          Request
        </button>
      ) : mayTake ? (
        <a
          class="plain strong"
          data-testid={`open-${robot}`}
          href={isOpenHere ? '#/operate' : `./?robot=${robot}`}
        >
          {isOpenHere ? 'Operate' : 'Open'}
        </a>
      ) : (
        <button type="button" class="plain" disabled>
          Open
        </button>
      )}
      {isOthers ? (
        <button
          type="button"
          class="plain"
          data-testid={`take-away-${robot}`}
          disabled={!mayOperate}
          onClick={() => store.set({ takingOver: { robot, from: lease.user } })}
        >
          Take over
        </button>
      ) : (
        <button
          type="button"
          class="plain"
          data-testid={`${isMine ? 'release' : 'take'}-${robot}`}
          disabled={!(isMine ? mayOperate : mayTake)}
          onClick={() =>
            void store.request(
              { kind: isMine ? 'release' : 'take', robot },
              isMine ? 'releasing…' : 'taking…',
            )
          }
        >
          {isMine ? 'Release' : 'Take'}
        </button>
      )}
      <StopButton store={store} shown={shown} />
    </div>
  );
}

/** Acts on press, not on release. Shows `STOPPED` only after the robot confirms it. */
function StopButton({ store, shown: { robot, state, goneMs } }: { store: FleetStore; shown: Shown }) {
  const stop = store.state.stops.get(robot);
  const isStopped = goneMs === null && state === 'stopped';
  const phase =
    stop?.phase === 'stopping' || stop?.phase === 'failed' ? stop.phase : isStopped ? 'stopped' : 'ready';
  const labels = { ready: 'E-STOP', stopping: 'stopping…', failed: 'not stopped', stopped: 'STOPPED' };
  const press = () => void store.stop(robot);
  return (
    <button
      type="button"
      class="row-stop"
      data-phase={phase}
      data-testid={`estop-${robot}`}
      aria-label={`Emergency stop of ${robot}: ${labels[phase]}`}
      title={stop?.text ?? `Stop ${robot} over the broker`}
      onPointerDown={press}
      onClick={press}
    >
      <b>{labels[phase]}</b>
      {stop?.phase === 'stopped' && isStopped && <small>{stop.text.replace('stopped in', 'in')}</small>}
    </button>
  );
}
