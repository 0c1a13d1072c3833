import type { DemoLink, LinkRequest } from '../../src/messages/console.ts';
import type { PlayoutMode } from '../../src/messages/playout-request.ts';
import type { DeskRequest, Telemetry } from '../../src/messages/telemetry.ts';
import { create, element, setAttribute } from '../dom.ts';

const NAMES: Record<string, string> = {
  off: 'Local (no delay)',
  ethernet: 'Ethernet',
  wifi: 'Wi-Fi, tuned',
  'wifi-untuned': 'Wi-Fi, untuned',
  '5g': 'Public 5G',
  wan: 'Internet, 40 ms',
  loss2: 'Wi-Fi, 2 % loss',
  bloat: 'Bufferbloat',
  handover: 'Wi-Fi handover',
};

/** Selects the emulated network of a demo and the robot's playout mode. Each is shown only where it can be changed. */
export class LinkControls {
  readonly #profilesRow = element('profiles-row', HTMLElement);
  readonly #profiles = element('profiles', HTMLSelectElement);
  readonly #modesRow = element('playout-modes-row', HTMLElement);
  readonly #modes = element('playout-modes', HTMLFieldSetElement);
  #shape = '';

  constructor(send: (request: DeskRequest | LinkRequest) => void) {
    let byArrow = false;
    this.#profiles.addEventListener('keydown', ({ key }) => {
      byArrow = key.startsWith('Arrow');
    });
    this.#profiles.addEventListener('pointerdown', () => {
      byArrow = false;
    });
    this.#profiles.addEventListener('change', () => {
      send({ kind: 'link', profile: this.#profiles.value });
      // Driving keys must not change the network. With arrow keys a person may still be choosing.
      if (!byArrow) this.#profiles.blur();
    });
    for (const button of this.#modes.querySelectorAll('button'))
      button.addEventListener('click', () =>
        send({ kind: 'playout-mode', mode: button.dataset['mode'] as PlayoutMode }),
      );
  }

  setLink({ profile, profiles }: DemoLink): void {
    const shape = profiles.map(({ name }) => name).join(' ');
    if (shape !== this.#shape) {
      this.#shape = shape;
      this.#profiles.replaceChildren(
        ...profiles.map(({ name, about }) => {
          const option = create('option', '', NAMES[name] ?? name) as HTMLOptionElement;
          option.value = name;
          option.title = about;
          return option;
        }),
      );
    }
    this.#profilesRow.hidden = false;
    this.#profiles.value = profile;
    this.#profiles.title = profiles.find(({ name }) => name === profile)?.about ?? '';
  }

  update({ link }: Telemetry): void {
    const { modes = [], playout } = link;
    this.#modesRow.hidden = modes.length === 0;
    const [kind = ''] = playout.split(/[:,]/);
    for (const button of this.#modes.querySelectorAll('button'))
      setAttribute(button, 'aria-pressed', String(button.dataset['mode'] === kind));
  }
}
