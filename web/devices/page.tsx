import { render } from 'preact';
import type { DeviceReport, DoctorReport, NearbyRobot } from '../../src/messages/console.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { atMostEvery } from '../dom.ts';
import { getJson } from '../record/api.ts';
import type { LazyPage } from '../shell/lazy-page.ts';
import { CameraCard, InputsCard, RobotCard } from './device-cards.tsx';
import { DoctorCard } from './doctor-card.tsx';
import { NearbyCard } from './nearby-card.tsx';
import type { DevicesState } from './state.ts';

const TELEMETRY_MS = 300;

export function openDevicesPage(root: HTMLElement): LazyPage {
  let state: DevicesState = {
    devices: null,
    robots: null,
    searching: false,
    problem: '',
    doctor: null,
    checking: false,
    telemetry: null,
    isViewer: false,
  };
  const set = (part: Partial<DevicesState>): void => {
    state = { ...state, ...part };
    render(
      <DevicesPage state={state} onCheck={() => void runDoctor()} onSearch={() => void search()} />,
      root,
    );
  };
  const load = async (): Promise<void> => {
    try {
      set({ devices: await getJson<DeviceReport>('api/devices'), problem: '' });
    } catch (error) {
      set({ problem: (error as Error).message });
    }
  };
  const search = async (): Promise<void> => {
    set({ searching: true });
    try {
      set({ robots: await getJson<NearbyRobot[]>('api/robots'), searching: false });
    } catch (error) {
      set({ problem: (error as Error).message, searching: false });
    }
  };
  const runDoctor = async (): Promise<void> => {
    set({ checking: true });
    try {
      set({ doctor: await getJson<DoctorReport>('api/doctor'), checking: false });
    } catch (error) {
      set({ doctor: { findings: [], tookS: 0, failure: (error as Error).message }, checking: false });
    }
  };
  let latest: Telemetry | null = null;
  const take = atMostEvery(TELEMETRY_MS, () => set({ telemetry: latest }));
  set({});
  return {
    setShown: (shown) => shown && void load(),
    show(telemetry, nowMs) {
      latest = telemetry;
      take(nowMs);
    },
    setWatching: (watching) => set({ isViewer: watching?.isViewer ?? false }),
  };
}

function DevicesPage({
  state,
  onCheck,
  onSearch,
}: {
  state: DevicesState;
  onCheck(): void;
  onSearch(): void;
}) {
  return (
    <>
      <header class="page-head">
        <div>
          <h2>Devices</h2>
          <p class="muted">{state.problem || 'The parts of this rig, and a check of this machine'}</p>
        </div>
      </header>
      <div class="devices-grid">
        <div class="devices-side">
          <RobotCard state={state} />
          <NearbyCard state={state} onSearch={onSearch} />
          <InputsCard state={state} />
          <CameraCard state={state} />
        </div>
        <DoctorCard state={state} onCheck={onCheck} />
      </div>
    </>
  );
}
