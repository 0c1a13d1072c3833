import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { ExportJob, ReplayJob } from '../../src/messages/console.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { element } from '../dom.ts';
import type { Watching } from '../link/control-chip.ts';
import { consoleKind } from './console-kind.ts';
import type { LazyPage, PageContext } from './lazy-page.ts';
import type { PageName } from './router.ts';

type LazyName = Exclude<PageName, 'operate'>;
type Opener = (root: HTMLElement, context: PageContext) => LazyPage;

const LOADERS: Record<LazyName, () => Promise<Opener>> = {
  fleet: async () => (await import('../fleet/page.tsx')).openFleetPage,
  latency: async () => (await import('../latency/page.ts')).openLatencyPage,
  record: async () =>
    consoleKind.fleet === null
      ? (await import('../record/page.tsx')).openRecordPage
      : (await import('../fleet/record-page.tsx')).openFleetRecordPage,
  devices: async () => (await import('../devices/page.tsx')).openDevicesPage,
};

export class LazyPages {
  readonly #context: PageContext;
  readonly #open = new Map<LazyName, Promise<LazyPage>>();
  #shown: LazyPage | null = null;
  #current: PageName = 'operate';
  #model: RobotModel | null = null;
  #job: ExportJob | null = null;
  #replay: ReplayJob | null = null;
  #watching: Watching | null = null;

  constructor(context: PageContext) {
    this.#context = context;
  }

  enter(page: PageName): void {
    this.#current = page;
    this.#shown?.setShown(false);
    this.#shown = null;
    if (page !== 'operate') void this.#load(page);
  }

  show(telemetry: Telemetry, nowMs: number): void {
    this.#shown?.show(telemetry, nowMs);
  }

  setModel(model: RobotModel): void {
    this.#model = model;
    this.#eachOpen((page) => page.setModel?.(model));
  }

  exported(job: ExportJob): void {
    this.#job = job;
    this.#eachOpen((page) => page.exported?.(job));
  }

  replayed(job: ReplayJob): void {
    this.#replay = job;
    this.#eachOpen((page) => page.replayed?.(job));
  }

  setWatching(watching: Watching | null): void {
    this.#watching = watching;
    this.#eachOpen((page) => page.setWatching?.(watching));
  }

  #eachOpen(act: (page: LazyPage) => void): void {
    for (const page of this.#open.values()) page.then(act, () => {});
  }

  async #load(name: LazyName): Promise<void> {
    let loading = this.#open.get(name);
    if (loading === undefined) {
      loading = LOADERS[name]().then((open) => this.#start(name, open));
      this.#open.set(name, loading);
    }
    const page = await loading.catch(() => this.#failed(name));
    if (page === null || this.#current !== name) return;
    this.#shown = page;
    page.setShown(true);
    if (window.__farhand?.lastTelemetry) page.show(window.__farhand.lastTelemetry, performance.now());
  }

  /** The console was rebuilt since this document loaded, or is gone. Opening the page again retries. */
  #failed(name: LazyName): null {
    this.#open.delete(name);
    const message = 'Could not load this page. Reload the browser tab; this does not affect the robot.';
    element(`page-${name}`, HTMLElement).textContent = message;
    return null;
  }

  #start(name: LazyName, open: Opener): LazyPage {
    const page = open(element(`page-${name}`, HTMLElement), this.#context);
    if (this.#model) page.setModel?.(this.#model);
    if (this.#job) page.exported?.(this.#job);
    if (this.#replay) page.replayed?.(this.#replay);
    page.setWatching?.(this.#watching);
    return page;
  }
}
