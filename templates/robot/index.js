// @ts-check
/** @import { Driver, JointReading, RobotModel, TickStatus } from 'farhand' */
import { defineRobot, z } from 'farhand';

const config = z.strictObject({
  speedRadS: z.number().min(0.1).max(3).default(1).describe('how fast the joints follow their targets'),
});

/**
 * The joints of NAME. Replace what this class computes by what your robot's controller reports and accepts. These calls
 * come once per control cycle: they never wait, throw or allocate.
 *
 * @implements {Driver}
 */
class Arm {
  fault = '';
  /** @type {number} */ #speedRadS;
  /** @type {Float64Array} */ #positionsRad;
  /** @type {Float64Array} */ #targetRad;
  #gripper = 0;
  #isEnabled = false;
  #movedNs = Number.NaN;

  /** @param {z.output<typeof config>} options @param {RobotModel} model */
  constructor(options, model) {
    this.#speedRadS = options.speedRadS;
    this.#positionsRad = Float64Array.from(model.homeRad);
    this.#targetRad = this.#positionsRad.slice();
  }

  /** @param {number} _nowNs @returns {TickStatus} */
  enable(_nowNs) {
    if (this.fault !== '') return 'fault';
    // Hold the present pose: enabling must not move.
    if (!this.#isEnabled) this.#targetRad.set(this.#positionsRad);
    this.#isEnabled = true;
    return 'ok';
  }

  /** @param {number} nowNs @param {JointReading} out @returns {TickStatus} */
  read(nowNs, out) {
    if (this.fault !== '') return 'fault';
    this.#move(nowNs);
    out.robotNs = nowNs;
    out.positionsRad.set(this.#positionsRad);
    out.velocitiesRadS.fill(0);
    out.gripper = this.#gripper;
    return 'ok';
  }

  /** @param {number} nowNs @param {Float64Array} positionsRad @param {number} gripper @returns {TickStatus} */
  write(nowNs, positionsRad, gripper) {
    if (this.fault !== '') return 'fault';
    this.#move(nowNs);
    if (!this.#isEnabled) return 'ok';
    this.#targetRad.set(positionsRad);
    this.#gripper = gripper;
    return 'ok';
  }

  /** @param {number} nowNs */
  stop(nowNs) {
    this.#move(nowNs);
    this.#targetRad.set(this.#positionsRad);
    this.#isEnabled = false;
  }

  dispose() {
    this.fault = 'closed';
    this.#isEnabled = false;
  }

  /** @param {number} nowNs */
  #move(nowNs) {
    const seconds = Math.min(0.1, Math.max(0, (nowNs - this.#movedNs) / 1e9)) || 0;
    this.#movedNs = nowNs;
    const stepRad = this.#speedRadS * seconds;
    for (let i = 0; i < this.#positionsRad.length; i++) {
      const awayRad = (this.#targetRad[i] ?? 0) - (this.#positionsRad[i] ?? 0);
      this.#positionsRad[i] = (this.#positionsRad[i] ?? 0) + Math.max(-stepRad, Math.min(stepRad, awayRad));
    }
  }
}

export default defineRobot({
  about: 'NAME, simulated: replace this by your robot',
  config,
  // Only for a driver that computes. With sockets or a serial port, remove this line: the driver gets its own thread.
  inline: () => true,
  open: async (options, model) => new Arm(options, model),
});
