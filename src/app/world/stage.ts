import { loadJpegCoder } from '../../camera/encoder.ts';
import { ManualClock } from '../../core/time/clock.ts';
import type { PackedTrace } from '../../messages/trace-record.ts';
import { WORLD_STATE, type WorldState } from '../../messages/world-state.ts';
import type { RowFeed } from '../../operator/row-feed.ts';
import type { OpenInput } from '../../operator/sampler.ts';
import type { Rig } from '../../rig/rig.ts';
import { rigModel } from '../../rig/robot-models.ts';
import { config as worldConfig } from '../../robot/drivers/world/config.ts';
import { WorldDriver } from '../../robot/drivers/world/world-driver.ts';
import { LocalLink } from '../../wire/emulator/local-link.ts';
import type { ProfileName } from '../../wire/emulator/profiles.ts';
import { LocalNetwork } from '../../wire/transports/local.ts';
import type { Mujoco } from '../../world/mujoco.ts';
import { FIRST_OPERATOR_PORT, joinLocally, type LocalPair } from '../local-pair.ts';
import { StageCameras } from './stage-cameras.ts';

export interface StageOptions {
  mujoco: Mujoco;
  rig: Rig;
  seed: number;
  link: ProfileName;
  inputs?: ReadonlyMap<string, OpenInput>;
  rows?: RowFeed;
  onClosed?: (record: PackedTrace) => void;
}

/**
 * A simulated world with both roles, their link, playout, supervisor and cameras, on a manual clock: minutes take their
 * computing time, and the same settings give the same result.
 */
export class WorldStage {
  readonly clock: ManualClock;
  readonly cameras: StageCameras;
  readonly link: LocalLink;
  readonly pair: LocalPair;
  readonly driver: WorldDriver;
  readonly #network: LocalNetwork;
  readonly #seen = WORLD_STATE.create();

  static async open(options: StageOptions): Promise<WorldStage> {
    const { rig, mujoco, seed } = options;
    const clock = new ManualClock();
    const model = rigModel(rig);
    const driver = new WorldDriver(
      worldConfig.parse({ ...rig.robot.options, seed, nextAfterS: 0 }),
      model,
      mujoco,
      clock.nowNs(),
    );
    const link = new LocalLink(options.link, seed, clock.nowNs(), FIRST_OPERATOR_PORT);
    const network = new LocalNetwork(
      clock,
      (ns) => clock.advanceTo(ns),
      (_, to, nowNs) => link.delayNs(to, nowNs),
    );
    const { inputs, rows, onClosed } = options;
    const pair = await joinLocally({
      ...{ rig, model, clock, network, driver, sealed: false },
      ...(inputs === undefined ? {} : { inputs }),
      ...(rows === undefined ? {} : { rows }),
      ...(onClosed === undefined ? {} : { onClosed }),
    });
    const cameras = new StageCameras(rig, model, driver, link, await loadJpegCoder());
    return new WorldStage(clock, network, driver, link, pair, cameras);
  }

  private constructor(
    clock: ManualClock,
    network: LocalNetwork,
    driver: WorldDriver,
    link: LocalLink,
    pair: LocalPair,
    cameras: StageCameras,
  ) {
    this.clock = clock;
    this.#network = network;
    this.driver = driver;
    this.link = link;
    this.pair = pair;
    this.cameras = cameras;
  }

  /** What happens on the table; the same object each time. */
  get world(): WorldState {
    this.driver.world.read(this.#seen);
    return this.#seen;
  }

  /** Runs both roles and the cameras. */
  run(untilNs: number): void {
    while (this.clock.nowNs() < untilNs) {
      this.#network.run(Math.min(untilNs, Math.max(this.clock.nowNs() + 1, this.cameras.nextNs)));
      this.cameras.tick(this.clock.nowNs());
    }
  }

  close(): void {
    this.driver.dispose();
  }
}
