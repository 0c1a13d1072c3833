import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import type { LivePlots } from './live-plots.ts';

/** Loads the live plots when somebody shows them. */
export class LivePlotsHost {
  #model: RobotModel | null = null;
  #shown = false;
  #plots: LivePlots | null = null;
  #drawn = '';

  setShown(shown: boolean): void {
    this.#shown = shown;
    void this.#load();
  }

  setModel(model: RobotModel): void {
    this.#model = model;
    void this.#load();
  }

  show(telemetry: Telemetry, nowMs: number): void {
    if (this.#shown) this.#plots?.show(telemetry, nowMs);
  }

  async #load(): Promise<void> {
    const model = this.#model;
    if (!this.#shown || model === null || model.name === this.#drawn) return;
    this.#drawn = model.name;
    const { LivePlots } = await import('./live-plots.ts');
    this.#plots = new LivePlots(model);
  }
}
