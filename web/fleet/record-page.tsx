import { render } from 'preact';
import type { FleetRecordings } from '../../src/messages/fleet-console.ts';
import type { RecordRequest } from '../../src/messages/recording.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { atMostEvery } from '../dom.ts';
import { getJson } from '../record/api.ts';
import { RecorderCard } from '../record/recorder-card.tsx';
import { RecordStore } from '../record/store.ts';
import { consoleKind } from '../shell/console-kind.ts';
import type { LazyPage, PageContext } from '../shell/lazy-page.ts';
import { RecordingsTable } from './recordings.tsx';
import { FleetStore } from './store.ts';

const TELEMETRY_MS = 200;
/** The robot announces a saved recording within a second or two. */
const ANNOUNCED_MS = 3000;

/** Record, for a robot of a fleet: the recorder runs at the robot, the list is the fleet's. */
export function openFleetRecordPage(root: HTMLElement, { fleet, send }: PageContext): LazyPage {
  const { robot } = consoleKind;
  if (fleet === null || robot === null) throw new Error('this page has no robot of a fleet');
  const recorder = new RecordStore(() => draw());
  const list = new FleetStore(fleet, () => draw());
  const draw = (): void =>
    render(
      <FleetRecordPage robot={robot} recorder={recorder} list={list} send={send} refresh={refresh} />,
      root,
    );
  const refresh = async (): Promise<void> => {
    try {
      const path = `api/fleet/recordings?robot=${encodeURIComponent(robot)}`;
      list.set({ recordings: await getJson<FleetRecordings>(path), recordingsProblem: '' });
    } catch (error) {
      list.set({ recordingsProblem: (error as Error).message });
    }
  };
  let latest: Telemetry | null = null;
  const take = atMostEvery(TELEMETRY_MS, () => {
    const { record = null, robot: state } = latest!;
    const before = recorder.state.recorder;
    recorder.set({ recorder: record, robotState: state?.state ?? 'disconnected' });
    if (before?.state === 'recording' && record?.state !== 'recording')
      setTimeout(() => void refresh(), ANNOUNCED_MS);
  });
  draw();
  return {
    setShown: (shown) => shown && void refresh(),
    show(telemetry, nowMs) {
      latest = telemetry;
      take(nowMs);
    },
  };
}

interface Props {
  robot: string;
  recorder: RecordStore;
  list: FleetStore;
  send(request: RecordRequest): void;
  refresh(): Promise<void>;
}

function FleetRecordPage({ robot, recorder, list, send, refresh }: Props) {
  return (
    <>
      <header class="page-head">
        <div>
          <h2>Record</h2>
          <p class="muted">Recordings are saved at {robot} and announced to the fleet.</p>
        </div>
        <div class="page-tools">
          <button type="button" class="plain" onClick={() => void refresh()}>
            Refresh
          </button>
        </div>
      </header>
      <RecorderCard state={recorder.state} send={send} />
      <RecordingsTable store={list} />
    </>
  );
}
