import { TeleopError } from '../../src/core/errors.ts';
import type { CanBackend, CanEvents, CanLink } from '../../src/robot/buses/can.ts';
import { type CanFrame, emptyFrame } from '../../src/robot/buses/can-frame.ts';

/**
 * A bus in memory: what one user sends, all others receive, in a frame that is overwritten afterwards.
 */
export class LoopbackCan {
  readonly #members = new Map<CanLink, CanEvents>();
  readonly #scratch = emptyFrame();
  /** Whether it can be opened. */
  present = true;

  backend(name = 'loopback'): CanBackend {
    return { name, open: async (events) => this.#join(events) };
  }

  /** Disconnects every user. */
  unplug(): void {
    this.present = false;
    const members = [...this.#members.values()];
    this.#members.clear();
    for (const member of members) member.onLost('the loopback was unplugged');
  }

  /** Reports an error to every user, like an error frame. */
  disturb(what: string): void {
    for (const member of this.#members.values()) member.onError(what);
  }

  #join(events: CanEvents): CanLink {
    if (!this.present)
      throw new TeleopError('bus-failed', 'the loopback is unplugged', { hint: 'Plug it in.' });
    const link: CanLink = {
      send: (frames, count) => {
        if (!this.#members.has(link)) return 0;
        for (let i = 0; i < count; i++) this.#spread(frames[i]!, link);
        return count;
      },
      discard: () => {},
      close: () => this.#members.delete(link),
    };
    this.#members.set(link, events);
    return link;
  }

  #spread(frame: CanFrame, from: CanLink): void {
    for (const [link, events] of this.#members) {
      if (link === from) continue;
      copyFrame(frame, this.#scratch);
      events.onFrame(this.#scratch);
      this.#scratch.data.fill(0xa5);
    }
  }
}

function copyFrame(from: CanFrame, to: CanFrame): void {
  to.id = from.id;
  to.extended = from.extended;
  to.remote = from.remote;
  to.fd = from.fd;
  to.bitRateSwitch = from.bitRateSwitch;
  to.length = from.length;
  to.data.set(from.data);
}
