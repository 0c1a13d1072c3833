import type { InputReport } from '../../src/messages/console.ts';
import type { InputStream } from '../../src/messages/telemetry.ts';
import { inputLabel, milliseconds, sentence } from '../panels/labels.ts';
import type { DevicesState } from './state.ts';

export function RobotCard({ state: { devices, telemetry } }: { state: DevicesState }) {
  const robot = devices?.robot;
  const link = telemetry?.link;
  const connected = link?.connected === true;
  return (
    <section class="card" aria-labelledby="robot-title">
      <header class="card-head">
        <h3 id="robot-title">Robot</h3>
        <span class={`verdict ${connected ? 'good' : 'bad'}`}>
          {connected ? 'connected' : 'disconnected'}
        </span>
      </header>
      <dl class="rows">
        <Row name="model" value={robot?.model} />
        <Row name="driver" value={robot && `${robot.driver}: ${robot.about}`} />
        <Row
          name="address"
          value={robot && `${robot.host}, ${link?.transport ?? robot.transport}, ${robot.security}`}
        />
        <Row
          name="state"
          value={
            connected && telemetry?.robot ? `${telemetry.robot.state}: ${telemetry.robot.cause}` : undefined
          }
        />
        <Row name="state age" value={connected ? `${milliseconds(link.stateAgeMs, 0)} ms` : undefined} />
      </dl>
    </section>
  );
}

function Row({ name, value }: { name: string; value: string | undefined }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value ?? '—'}</dd>
    </div>
  );
}

export function InputsCard({ state: { devices, telemetry } }: { state: DevicesState }) {
  const active = telemetry?.input.active;
  return (
    <section class="card" aria-labelledby="inputs-title">
      <header class="card-head">
        <h3 id="inputs-title">Inputs</h3>
        <span class="muted">configured in this rig, or available</span>
      </header>
      <ul class="device-list" data-testid="input-list">
        {devices?.inputs.map((input) => (
          <Input
            key={input.name}
            input={input}
            active={input.name === active}
            signal={telemetry?.input.streams?.find(({ name }) => name === input.name)}
          />
        ))}
      </ul>
    </section>
  );
}

interface InputProps {
  input: InputReport;
  active: boolean;
  signal: InputStream | undefined;
}

function Input({ input, active, signal }: InputProps) {
  const { name, about, offered, listens, missing } = input;
  const tone = !offered ? 'off' : active || (signal?.rateHz ?? 0) > 0 ? 'good' : 'ready';
  return (
    <li class={offered ? '' : 'absent'}>
      <i class={`dot ${tone}`} aria-hidden="true" />
      <div>
        <strong>{inputLabel(name)}</strong>
        {active && <span class="tag">in use</span>}
        <p class="small muted">{sentence(about)}</p>
        {offered && listens.length > 0 && <p class="small mono">{listens.join(', ')}</p>}
        {!offered && <p class="small">{sentence(missing)}</p>}
      </div>
      <span class="signal">{offered ? signalText(input, signal) : 'not configured'}</span>
    </li>
  );
}

function signalText({ listens }: InputReport, signal: InputStream | undefined): string {
  if (listens.length === 0) return 'local';
  if (!signal?.rateHz) return 'no signal';
  const jitter = signal.jitterMs === null ? '' : `, jitter ${milliseconds(signal.jitterMs)} ms`;
  return `${Math.round(signal.rateHz)} Hz from ${signal.from || '?'}${jitter}`;
}

export function CameraCard({ state: { devices } }: { state: DevicesState }) {
  const cameras = devices?.cameras ?? [];
  return (
    <section class="card" aria-labelledby="cameras-title">
      <header class="card-head">
        <h3 id="cameras-title">Cameras</h3>
        <span class="muted">{cameras.length === 0 ? 'none in this rig' : cameras.length}</span>
      </header>
      <ul class="device-list">
        {cameras.map(({ name, source, fpsHz, widthPx, heightPx }) => (
          <li key={name}>
            <i class="dot good" aria-hidden="true" />
            <div>
              <strong>{name}</strong>
              <p class="small muted">{source}</p>
            </div>
            <span class="signal">
              {widthPx} × {heightPx}, {fpsHz} Hz
            </span>
          </li>
        ))}
      </ul>
      {cameras.length === 0 && (
        <p class="small muted">
          Add a camera to the rig, for example a test image: cameras.list.front={'{}'}
        </p>
      )}
    </section>
  );
}
