/** What made a person feel a contact. */
export const PULSE_DEVICES = ['gamepad', 'controllers', 'tone'] as const;
export type PulseDevice = (typeof PULSE_DEVICES)[number];

/** Page → console: a pulse was given for a contact that telemetry reported. Both stamps come from that message. */
export interface PulseReport {
  kind: 'pulse';
  device: PulseDevice;
  /** 0 to 1. */
  strength: number;
  /** The robot read its joints, robot's clock. */
  readNs: number;
  /** The operator published the reading, operator's clock. */
  publishedNs: number;
  /** The browser accepted the pulse, page's clock. */
  givenMs: number;
}

/** Console → operator, for the trace: the same with the pulse on the operator's clock. */
export interface PulseEvent extends Omit<PulseReport, 'givenMs'> {
  givenNs: number;
  /** Uncertainty of the page's clock. */
  pageUncertaintyNs: number;
}
