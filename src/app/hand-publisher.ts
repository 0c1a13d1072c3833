import type { Publisher } from 'zeromq';
import { type JpegCoder, loadJpegCoder } from '../camera/encoder.ts';
import { hostPort } from '../core/ip-address.ts';
import { SnapshotBoard } from '../core/memory/snapshot.ts';
import { HAND_NUMBERS, HAND_POINTS } from '../hand/points.ts';
import { HandTransform } from '../mapping/retarget/transform.ts';
import { loadZmq } from '../native/zeromq.ts';
import { BOARD } from '../operator/board.ts';
import { SkeletonView, VIEW_SIZE } from '../operator/hand-view/skeleton.ts';
import type { Rig } from '../rig/rig.ts';
import { socketError } from '../wire/transports/socket-error.ts';
import type { RoleMemory } from './role-memory.ts';

const POLL_MS = 4;
const VIEW_QUALITY = 75;
/** Samples come a little early or late: at their own rate none is skipped. */
const SLACK = 0.9;

/** Publishes the hand that the control thread received. Main thread; no deadline. */
export class HandPublisher {
  readonly #sockets: Publishers;
  readonly #board: SnapshotBoard;
  readonly #shown;
  readonly #transform: HandTransform;
  readonly #pointsM = new Float64Array(HAND_NUMBERS);
  readonly #transformedM = new Float64Array(HAND_NUMBERS);
  readonly #view = new SkeletonView();
  /** Null when no drawing is published. */
  readonly #coder: JpegCoder | null;
  readonly #viewPeriodNs: number;
  readonly #timer: NodeJS.Timeout;
  #takenNs = Number.NEGATIVE_INFINITY;
  #viewedNs = Number.NEGATIVE_INFINITY;

  private constructor(
    rig: Rig,
    memory: RoleMemory,
    joints: number,
    sockets: Publishers,
    coder: JpegCoder | null,
  ) {
    const { movingAverage, bounds, scale, offsetM } = rig.operator.hand;
    this.#sockets = sockets;
    this.#coder = coder;
    this.#board = new SnapshotBoard(memory.board);
    this.#shown = BOARD.create(joints);
    this.#transform = new HandTransform({ movingAverage, bounds, scale, offsetM });
    this.#viewPeriodNs = (SLACK * 1e9) / rig.operator.handPublish.viewHz;
    this.#timer = setInterval(() => this.#poll(), POLL_MS);
  }

  /** Null when the rig publishes nothing. */
  static async open(rig: Rig, memory: RoleMemory, joints: number): Promise<HandPublisher | null> {
    const { host, detectorPort, transformPort, viewPort } = rig.operator.handPublish;
    const wanted = { detector: detectorPort, transform: transformPort, view: viewPort };
    if (Object.values(wanted).every((value) => value === 0)) return null;
    const coder =
      viewPort === 0 ? null : await loadJpegCoder('publish no drawing: operator.handPublish.viewPort=0');
    const sockets: Publishers = {};
    for (const name of ['detector', 'transform', 'view'] as const)
      if (wanted[name] !== 0) sockets[name] = await publisherOn(name, host, wanted[name], sockets);
    return new HandPublisher(rig, memory, joints, sockets, coder);
  }

  #poll(): void {
    if (this.#board.read(this.#shown.packed) === null) return;
    const { handTakenNs: takenNs, handPoints, handPointsM, handIsLeft } = this.#shown;
    if (handPoints !== HAND_POINTS || !(takenNs > this.#takenNs)) return;
    this.#takenNs = takenNs;
    this.#pointsM.set(handPointsM);
    this.#send('detector', `hand_coords ${pointsText(this.#pointsM)}`);
    if (this.#transform.apply(this.#pointsM, takenNs, this.#transformedM) !== 'ok') return;
    this.#send('transform', `transformed_hand_coords ${pointsText(this.#transformedM)}`);
    if (this.#coder === null || takenNs - this.#viewedNs < this.#viewPeriodNs) return;
    this.#viewedNs = takenNs;
    const drawn = this.#view.draw(this.#transformedM, handIsLeft);
    this.#send('view', this.#coder.encodeGrey(drawn, VIEW_SIZE, VIEW_SIZE, VIEW_QUALITY));
  }

  #send(name: keyof Publishers, message: string | Uint8Array): void {
    // Slow subscribers miss messages; nothing waits for them.
    this.#sockets[name]?.send(message).catch(() => {});
  }

  close(): void {
    clearInterval(this.#timer);
    for (const socket of Object.values(this.#sockets)) socket.close();
  }
}

type Publishers = Partial<Record<'detector' | 'transform' | 'view', Publisher>>;

async function publisherOn(name: string, host: string, port: number, opened: Publishers): Promise<Publisher> {
  const zmq = await loadZmq('set the ports of operator.handPublish to 0');
  const socket = new zmq.Publisher({ linger: 0, sendHighWaterMark: 4, sendTimeout: 0 });
  try {
    await socket.bind(`tcp://${hostPort(host, port)}`);
    return socket;
  } catch (error) {
    for (const other of [socket, ...Object.values(opened)]) other.close();
    const portKey = `operator.handPublish.${name}Port`;
    const spec = { name: `hand ${name}`, host, port, portKey, tcp: true as const };
    throw socketError(spec, (error as NodeJS.ErrnoException).code ?? String(error));
  }
}

/** JSON, 21 × 3, rounded to 0.01 mm. */
function pointsText(pointsM: ArrayLike<number>): string {
  const points = Array.from({ length: HAND_POINTS }, (_, i) =>
    [0, 1, 2].map((k) => Math.round(pointsM[3 * i + k]! * 1e5) / 1e5),
  );
  return JSON.stringify(points);
}
