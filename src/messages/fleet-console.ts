/** What the page of a fleet and its console say to each other on `/fleet`. The console never carries a command. */

/** A robot as the list shows it. Ages are of the moment the message left; the page counts on from there. */
export interface FleetRow {
  robot: string;
  model: string;
  version: string;
  /** Of the supervisor; `ended` when the robot said goodbye. */
  state: string;
  cause: string;
  lease: FleetLease | null;
  link: FleetLinkQuality | null;
  /** How long nothing was heard of it; null: it is there. */
  goneForMs: number | null;
}

export interface FleetLinkQuality {
  rttMs: number | null;
  fromOperatorHz: number | null;
  toOperatorHz: number | null;
  /** A page says less than an operator process: its hand, and only while it drives. */
  client: 'operator' | 'page';
}

export interface FleetLease {
  user: string;
  /** The fencing token when the console first saw this lease; null: not known. */
  token: number | null;
  heldForMs: number;
  /** Which page of this console holds it; null: none of them. */
  page: number | null;
}

/** Console → page, first and whenever it changes. */
export interface FleetState {
  kind: 'fleet';
  /** Number of this page at the console. */
  page: number;
  /** Of the credentials: who everybody at this console is to the fleet. */
  user: string;
  /** Whether this page may do more than look on and stop. */
  mayOperate: boolean;
  /** Whether the broker is reached. */
  connected: boolean;
  /** Address of the broker and file of the credentials, for command lines; empty for viewers. */
  server: string;
  credentials: string;
}

/** Console → page: those that changed, once a second, also when none did; all of them at the beginning. */
export interface RobotsEvent {
  kind: 'robots';
  rows: FleetRow[];
  removed: string[];
}

/** Console → page: somebody asks for a robot that this page holds. */
export interface QuestionEvent {
  kind: 'question';
  ask: string;
  robot: string;
  from: string;
  /** When it is withdrawn. */
  forMs: number;
}

/** Console → page: nobody waits for an answer any more. */
export interface QuestionOverEvent {
  kind: 'question-over';
  ask: string;
}

/** Console → page: what became of a question of this page. `yes`: the lease is this page's now. */
export interface AnswerEvent {
  kind: 'answered';
  robot: string;
  outcome: 'heard' | 'yes' | 'no' | 'silence' | 'failed';
  text: string;
}

/** Console → page: a lease of this page is over. */
export interface LeaseOverEvent {
  kind: 'lease-over';
  robot: string;
  why: string;
}

/** Console → page: to the request with that number. */
export interface FleetReply {
  kind: 'reply';
  id: number;
  ok: boolean;
  /** What happened, in words. */
  text: string;
  /** Why not, for programs: an error's code, or `viewer`. */
  code?: string;
  /** Of the robot, by its own word: after an e-stop. */
  state?: string;
  /** To `open`. */
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

/** Page → console. Leases are the page's: they end with its socket. */
export type FleetRequest =
  | { kind: 'estop'; id: number; robot: string }
  | { kind: 'take'; id: number; robot: string }
  | { kind: 'release'; id: number; robot: string }
  | { kind: 'take-away'; id: number; robot: string }
  | { kind: 'ask'; id: number; robot: string }
  | { kind: 'hand-over'; id: number; ask: string; yes: boolean }
  /** Takes the lease if this page has it not, and asks the robot for a session with a page. */
  | { kind: 'open'; id: number; robot: string }
  | { kind: 'answer'; id: number; robot: string; session: number; sdp: string };

/** `GET /api/fleet/recordings`: what the fleet knows, newest first. */
export interface FleetRecordings {
  recordings: FleetRecording[];
  /** Robots whose index did not answer, with why; most have none. */
  without: { robot: string; why: string }[];
  /** Robots that were not asked: name one. */
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

/** `fleet` in the answer to `GET /api/access`: present at a fleet's console. */
export interface FleetAccessState {
  user: string;
}
