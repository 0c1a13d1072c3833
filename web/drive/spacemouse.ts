import { moveTarget, type PageHand, stepS } from '../../src/desk/page-hand.ts';
import { capDeflection, moveByCap } from '../../src/geometry/cap-motion.ts';
import { element } from '../dom.ts';

/** The part of WebHID that is used; TypeScript's library has none. */
interface HidDevice extends EventTarget {
  readonly opened: boolean;
  readonly productName: string;
  open(): Promise<void>;
}
interface HidReport extends Event {
  readonly reportId: number;
  readonly data: DataView;
}
interface Hid extends EventTarget {
  requestDevice(request: { filters: object[] }): Promise<HidDevice[]>;
  getDevices(): Promise<HidDevice[]>;
}

/** 3Dconnexion, and the part of Logitech's devices with its name; usage 8 of page 1 is a multi-axis controller. */
const FILTERS = [0x256f, 0x046d].map((vendorId) => ({ vendorId, usagePage: 1, usage: 8 }));
const FULL_COUNTS = 350;
const DEAD_ZONE = 0.08;
const SPEED_M_S = 0.25;
const TURN_RAD_S = 0.8;
/** A deflected cap reports all the time: after this silence it does not count. */
const SILENT_MS = 200;
const REPORT = { translation: 1, rotation: 2, buttons: 3 } as const;

/** A six-axis mouse that the page reads itself. Moves the hand; the clutch is the page's own. */
export class SpaceMouse {
  readonly #button = element('spacemouse', HTMLButtonElement);
  readonly #counts = new Int16Array(6);
  readonly #deflection = new Float64Array(6);
  readonly #onLeft: () => void;
  #heardMs = Number.NEGATIVE_INFINITY;
  #wasLeft = false;

  constructor(onLeft: () => void) {
    this.#onLeft = onLeft;
    const { hid } = navigator as Navigator & { hid?: Hid };
    if (hid === undefined) return;
    this.#button.hidden = false;
    this.#button.addEventListener('click', () => void this.#ask(hid));
    hid.addEventListener('disconnect', () => this.#gone());
    // Devices that were permitted in an earlier visit need no question.
    void hid.getDevices().then((devices) => devices[0] && this.#use(devices[0]));
  }

  async #ask(hid: Hid): Promise<void> {
    const [device] = await hid.requestDevice({ filters: FILTERS }).catch(() => []);
    if (device !== undefined) await this.#use(device);
  }

  async #use(device: HidDevice): Promise<void> {
    try {
      if (!device.opened) await device.open();
    } catch {
      this.#button.textContent = 'SpaceMouse is used by another program';
      return;
    }
    device.addEventListener('inputreport', (event) => this.#take(event as HidReport));
    this.#button.textContent = device.productName || 'SpaceMouse';
    this.#button.classList.add('connected');
  }

  #gone(): void {
    this.#counts.fill(0);
    this.#button.textContent = 'Connect a SpaceMouse';
    this.#button.classList.remove('connected');
  }

  #take({ reportId, data }: HidReport): void {
    this.#heardMs = performance.now();
    if (reportId === REPORT.buttons) return this.#buttons(data.byteLength > 0 ? data.getUint8(0) : 0);
    if (reportId !== REPORT.translation && reportId !== REPORT.rotation) return;
    const first = reportId === REPORT.rotation ? 3 : 0;
    // Newer devices report all six axes at once.
    const count = Math.min(6 - first, Math.floor(data.byteLength / 2));
    for (let i = 0; i < count; i++) this.#counts[first + i] = data.getInt16(2 * i, true);
  }

  #buttons(mask: number): void {
    const left = (mask & 1) !== 0;
    if (left && !this.#wasLeft) this.#onLeft();
    this.#wasLeft = left;
  }

  /** Moves the hand one step. */
  step(hand: PageHand, elapsedS: number): void {
    if (performance.now() - this.#heardMs > SILENT_MS) return;
    if (!capDeflection(this.#counts, FULL_COUNTS, DEAD_ZONE, this.#deflection)) return;
    const dtS = stepS(elapsedS);
    moveTarget(hand, [...this.#deflection.subarray(0, 3)], SPEED_M_S * dtS);
    moveByCap(this.#deflection, 0, TURN_RAD_S * dtS, [0, 0, 0], hand.quatXyzw);
  }
}
