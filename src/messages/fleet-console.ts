/** Messages between a fleet's page and its console on `/fleet`. The console never carries a command. */

/** A robot in the list. Ages are as of sending; the page counts on from there. */
export interface FleetRow {
  robot: string;
  model: string;
  version: string;
  /** Supervisor state; `ended` when the robot signed off. */
  state: string;
  cause: string;
  lease: FleetLease | null;
  link: FleetLinkQuality | null;
  /** How long it has been silent; null: it is online. */
  goneForMs: number | null;
}

export interface FleetLinkQuality {
  rttMs: number | null;
  fromOperatorHz: number | null;
  toOperatorHz: number | null;
  /** A page sends less than an operator process: its hand, and only while it drives. */
  client: 'operator' | 'page';
}

export interface FleetLease {
  user: string;
  /** The fencing token when the console first saw this lease; null: unknown. */
  token: number | null;
  heldForMs: number;
  /** Which page of this console holds it; null: none of them. */
  page: number | null;
}

/** Console → page, first and whenever it changes. */
export interface FleetState {
  kind: 'fleet';
  /** This page's number at the console. */
  page: number;
  /** From the credentials: the identity of this console's users in the fleet. */
  user: string;
  /** Whether this page may do more than watch and stop. */
  mayOperate: boolean;
  /** Whether the broker is connected. */
  connected: boolean;
  /** Broker address and credentials file, for command lines; empty for viewers. */
  server: string;
  credentials: string;
}

/** Console → page: changed robots, once a second, even when none changed; all of them at the start. */
export interface RobotsEvent {
  kind: 'robots';
  rows: FleetRow[];
  removed: string[];
}

/** Console → page: another user requests a robot that this page holds. */
export interface QuestionEvent {
  kind: 'question';
  ask: string;
  robot: string;
  from: string;
  /** When the request is withdrawn. */
  forMs: number;
}

/** Console → page: the request no longer needs an answer. */
export interface QuestionOverEvent {
  kind: 'question-over';
  ask: string;
}

/** Console → page: the outcome of this page's request. `yes`: this page now holds the lease. */
export interface AnswerEvent {
  kind: 'answered';
  robot: string;
  outcome: 'heard' | 'yes' | 'no' | 'silence' | 'failed';
  text: string;
}

/** Console → page: this page lost a lease. */
export interface LeaseOverEvent {
  kind: 'lease-over';
  robot: string;
  why: string;
}

/** Console → page: the answer to the request with that number. */
export interface FleetReply {
  kind: 'reply';
  id: number;
  ok: boolean;
  /** What happened, for people. */
  text: string;
  /** Why it failed, for programs: an error code, or `viewer`. */
  code?: string;
  /** The robot's own report after an e-stop. */
  state?: string;
  /** For `open`. */
  offer?: RobotOffer;
}

export interface RobotOffer {
  session: number;
  sdp: string;
  ice: { url: string; username?: string | undefined; password?: string | undefined }[];
}

export type FleetMessage =
  | FleetState
  | RobotsEvent
  | QuestionEvent
  | QuestionOverEvent
  | AnswerEvent
  | LeaseOverEvent
  | FleetReply;

/** Page → console. Leases belong to the page: they end with its socket. */
export type FleetRequest =
  | { kind: 'estop'; id: number; robot: string }
  | { kind: 'take'; id: number; robot: string }
  | { kind: 'release'; id: number; robot: string }
  | { kind: 'take-away'; id: number; robot: string }
  | { kind: 'ask'; id: number; robot: string }
  | { kind: 'hand-over'; id: number; ask: string; yes: boolean }
  /**
   * Takes the lease if this page does not hold it, and requests a page session from the robot. `retry`: the
   * page's own attempt, not its user's; it never takes a lease back that was taken away.
   */
  | { kind: 'open'; id: number; robot: string; retry: boolean }
  | { kind: 'answer'; id: number; robot: string; session: number; sdp: string };

/** `GET /api/fleet/recordings`: what the fleet knows, newest first. */
export interface FleetRecordings {
  recordings: FleetRecording[];
  /** Robots whose index did not answer, with the reason; usually empty. */
  without: { robot: string; why: string }[];
  /** Robots that were not queried: name one. */
  left: number;
}

export interface FleetRecording {
  robot: string;
  episode: string;
  sizeBytes: number;
  startedAt: string;
  durationS: number;
  task: string;
  label: string | null;
  /** `robot`, `nats`, `s3://…`. */
  places: string[];
}

/** `fleet` in the answer to `GET /api/access`: present on a fleet console. */
export interface FleetAccessState {
  user: string;
}
