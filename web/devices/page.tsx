import { render } from 'preact';
import type { DeviceReport, DoctorReport } from '../../src/messages/console.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { atMostEvery } from '../dom.ts';
import { getJson } from '../record/api.ts';
import type { LazyPage } from '../shell/lazy-pages.ts';
import { CameraCard, InputsCard, RobotCard } from './device-cards.tsx';
import { DoctorCard } from './doctor-card.tsx';

const TELEMETRY_MS = 300;

export interface DevicesState {
  devices: DeviceReport | null;
  problem: string;
  doctor: DoctorReport | null;
  examining: boolean;
  telemetry: Telemetry | null;
}

export function openDevicesPage(root: HTMLElement): LazyPage {
  let state: DevicesState = { devices: null, problem: '', doctor: null, examining: false, telemetry: null };
  const set = (part: Partial<DevicesState>): void => {
    state = { ...state, ...part };
    render(<DevicesPage state={state} onExamine={() => void examine()} />, root);
  };
  const load = async (): Promise<void> => {
    try {
      set({ devices: await getJson<DeviceReport>('api/devices'), problem: '' });
    } catch (error) {
      set({ problem: (error as Error).message });
    }
  };
  const examine = async (): Promise<void> => {
    set({ examining: true });
    try {
      set({ doctor: await getJson<DoctorReport>('api/doctor'), examining: false });
    } catch (error) {
      set({ doctor: { findings: [], tookS: 0, failure: (error as Error).message }, examining: false });
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
  };
}

function DevicesPage({ state, onExamine }: { state: DevicesState; onExamine(): void }) {
  return (
    <>
      <header class="page-head">
        <div>
          <h2>Devices</h2>
          <p class="muted">
            {state.problem || 'What this rig is made of, and whether this machine is up to it'}
          </p>
        </div>
      </header>
      <div class="devices-grid">
        <div class="devices-side">
          <RobotCard state={state} />
          <InputsCard state={state} />
          <CameraCard state={state} />
        </div>
        <DoctorCard state={state} onExamine={onExamine} />
      </div>
    </>
  );
}
