/** Valid messages of every kind that crosses an entry point as JSON: the seeds of mutations. */

const VECTOR = { positionM: [0, 1, 0], quatXyzw: [0, 0, 0, 1] };
const STAMPED = { atMs: 1.7e12 };

export const DESK_ACTIONS = [
  ...['estop', 'reset', 'arm', 'disarm', 'home', 'hold', 'teleop'].map((kind) => ({ kind })),
  { kind: 'input', name: 'page' },
  { kind: 'playout', quality: 'smooth' },
  { kind: 'playout-mode', mode: 'fixed' },
];

export const HANDS = [
  { kind: 'hand', ...VECTOR, gripper: 0.5, clutch: true, takenMs: 12.5 },
  { kind: 'hand', ...VECTOR, gripper: 0, clutch: false, record: true },
];

export const RECORDINGS = [
  { kind: 'record', action: 'start', task: 'stack' },
  { kind: 'record', action: 'stop', label: 'good' },
  { kind: 'record', action: 'discard' },
  { kind: 'record', action: 'task', task: 'stack' },
  { kind: 'record', action: 'label', episode: '20260921-141320-001', label: 'bad' },
];

export const PAGE_REQUESTS = [
  ...DESK_ACTIONS,
  ...HANDS,
  ...RECORDINGS,
  { kind: 'control', action: 'take' },
  { kind: 'control', action: 'release' },
  { kind: 'probed', t0: 1, t1: 2, t2: 3 },
  { kind: 'rtc', signal: { type: 'answer', sdp: 'v=0' } },
  { kind: 'rtc', signal: { candidate: 'candidate:1', mid: '0' } },
  { kind: 'link', profile: 'wan' },
  { kind: 'replay', action: 'start', episode: '20260101-120000-001', speed: 0.5 },
  { kind: 'replay', action: 'stop' },
  { kind: 'pulse', device: 'gamepad', strength: 0.4, readNs: 5e12, publishedNs: 1e9, givenMs: 12.5 },
];

export const VIDEO = {
  ...{ kind: 'video', camera: 'front', captureNs: 5e12, encodedNs: null, receivedNs: 1e9 },
  ...{ decodedNs: 1e9, displayedNs: null, pageUncertaintyNs: 2e5 },
};

export const PULSE = {
  ...{ kind: 'pulse', device: 'gamepad', strength: 0.4, readNs: 5e12, publishedNs: 1e9 },
  ...{ givenNs: 1.01e9, pageUncertaintyNs: 2e5 },
};

export const PICTURE_ANSWER = {
  ...{ kind: 'stamped', id: 1, askedMs: 1, decodedMs: 2, displayedMs: 3, sentMs: 4 },
};

export const JOINTS = [
  { jointsRad: [0, 0.1, 0.2, 0.3, 0.4, 0.5], gripper: 0.5, clutch: true },
  { jointsRad: [0], gripper: 0, clutch: false },
];

export const FLEET_REQUESTS = [
  ...['estop', 'take', 'release', 'take-away', 'ask'].map((kind) => ({ kind, id: 1, robot: 'arm' })),
  { kind: 'open', id: 1, robot: 'arm', retry: true },
  { kind: 'hand-over', id: 2, ask: 'abc', yes: true },
  { kind: 'answer', id: 3, robot: 'arm', session: 1, sdp: 'v=0' },
];

export const FLEET_MESSAGES = [
  {
    ...{ kind: 'presence', robot: 'arm', model: 'ur3', version: '1', state: 'idle', cause: '', holder: null },
    ...{ link: { rttMs: 1, fromOperatorHz: 100, toOperatorHz: null, client: 'page' }, ...STAMPED },
  },
  { kind: 'transition', from: 'idle', to: 'armed', cause: 'asked', ...STAMPED },
  { what: 'estop', who: 'ann', why: 'over the link', revision: 3, ...STAMPED },
  { kind: 'ask', ask: 'abc', holder: 'ann' },
  { kind: 'answer', ask: 'abc', to: 'ann', yes: true },
  { kind: 'open', holder: 'ann.00', secret: 's', revision: 1, client: 'operator' },
  { kind: 'answer', session: 1, sdp: 'v=0' },
  { kind: 'offer', session: 1, sdp: 'v=0', model: 'ur3', ice: [{ url: 'turn:a:1', username: 'u' }] },
  { kind: 'key', key: Buffer.alloc(32).toString('base64') },
  { kind: 'want', sound: true },
  { state: 'stopped' },
];

export const TELEMETRY = {
  ...{ kind: 'telemetry', model: 'ur3', operatorNs: 1e9 },
  link: {
    ...{ connected: true, stateAgeMs: 5, offsetMs: 0, uncertaintyMs: 0.1, driftPpm: null },
    ...{ stampSource: 'kernel', transport: 'udp', playout: 'adaptive', modes: ['none'], quality: 'smooth' },
  },
  input: {
    ...{ active: 'page', available: ['page'], status: 'ok', ageMs: 3, clutch: true, rateHz: 60, jitterMs: 1 },
    received: [{ name: 'page', rateHz: null, jitterMs: null, from: '' }],
  },
  operator: { mode: 'teleop', mapping: 'ok', filterDelayMs: null, estopMs: null },
  hand: { ...VECTOR, pointsM: [0], isLeft: false },
  robot: {
    ...{ state: 'engaged', cause: '', epoch: 1, measuredRad: [0, 1], targetRad: [0, 1], gripper: 0 },
    ...{ limitedBy: '', clearanceM: 0.2, nearest: '' },
    motors: { temperatureC: [30, null], currentA: [0, 0.1], voltageV: [12, 12], level: [0, 1] },
  },
  commandedRad: [0, 1],
  closed: [
    {
      ...{ seq: 1, atS: 1, outcome: 'applied', oneWayMs: 2, segmentsMs: [1, null], playoutMs: 3 },
      queueDepth: 1,
    },
  ],
  feel: {
    ...{ windows: 1, badWindows: 0, strictWindows: 0, longestLateRun: 0 },
    last: { off: 0, ticks: 100, isBad: false, cause: '' },
  },
  totals: { commands: 1, applied: 1, late: 0, dropped: 0, rejected: 0, lost: 0 },
  counters: { malformed: 1 },
  record: { state: 'idle', episode: null, task: '', rows: 0, skippedRows: 0, durationS: 0, message: '' },
};

const INFO = {
  ...{ id: 'a', task: 't', label: null, startedAt: '2026-01-01T00:00:00Z', durationS: 1, rows: 2 },
  ...{ skippedRows: 0, staleRows: 0, robot: 'ur3', joints: ['a', 'b'], hasGripper: true, cameras: ['front'] },
  ...{ rateHz: 50, sizeBytes: 1, complete: true },
  quality: {
    ...{
      skippedShare: 0,
      staleShare: 0,
      jerkP95RadS3: null,
      frameAgeP95Ms: 1,
      oneWayP95Ms: 2,
      badWindows: 0,
    },
    refusedBy: ['x'],
  },
};

export const RECORDED = [
  INFO,
  { ...INFO, rig: { name: 'demo', robot: { driver: 'sim' } }, owner: { pid: 1 } },
  {
    ...{
      index: 0,
      timeNs: 0,
      seq: 1,
      engaged: true,
      commandGripper: 0,
      stateGripper: 0,
      supervisor: 'engaged',
    },
    ...{ limitedBy: '', oneWayNs: 1, uncertaintyNs: null, playoutDelayNs: 2 },
    frames: { front: { captureNs: 1, ageNs: 2, stale: false } },
  },
  { label: 'good', task: 'stack' },
];

export const POLICY_ANSWERS = [{ action: [0, 0.1, 0.2] }, { action: null }, { action: [0, 1], more: 1 }];

export const ROS_STATE = { name: ['a', 'b'], position: [0, 1], velocity: [0, 0], effort: [] };
