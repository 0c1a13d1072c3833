import type { NearbyRobot } from '../../src/messages/console.ts';
import type { DevicesState } from './state.ts';

/** Robots that announce themselves on the local network, each with the command that starts an operator for it. */
export function NearbyCard({ state, onSearch }: { state: DevicesState; onSearch(): void }) {
  const { robots, searching, devices, isViewer } = state;
  return (
    <section class="card" aria-labelledby="nearby-title">
      <header class="card-head">
        <div>
          <h3 id="nearby-title">Robots on this network</h3>
          <p class="small muted">
            Robots started with --announce. A listed robot accepts your commands only after pairing.
          </p>
        </div>
        <button
          type="button"
          class="plain"
          data-testid="find-robots"
          disabled={searching || isViewer}
          onClick={onSearch}
        >
          {searching ? 'Searching…' : robots ? 'Search again' : 'Search'}
        </button>
      </header>
      <p class="small muted" role="status">
        {isViewer && 'Only operators may look for robots.'}
        {robots &&
          !searching &&
          (robots.length === 0 ? 'No robot announces itself here.' : `${robots.length} found`)}
      </p>
      <ul class="device-list" data-testid="nearby-robots">
        {robots?.map((robot) => (
          <Nearby
            key={`${robot.name} ${robot.host}`}
            robot={robot}
            isOurs={robot.addresses.includes(devices?.robot.host ?? '')}
          />
        ))}
      </ul>
    </section>
  );
}

function Nearby({
  robot: { name, host, addresses, command },
  isOurs,
}: {
  robot: NearbyRobot;
  isOurs: boolean;
}) {
  return (
    <li>
      <i class={`dot ${isOurs ? 'good' : 'ready'}`} aria-hidden="true" />
      <div>
        <strong>{name}</strong>
        {isOurs && <span class="tag">this console’s robot</span>}
        <p class="small mono">{command}</p>
      </div>
      <span class="signal">
        {host}
        <br />
        {addresses.join(', ')}
      </span>
    </li>
  );
}
