import { ConsoleClients } from '../../console/clients.ts';
import { helloOf } from '../../console/hello.ts';
import { monotonicClock } from '../../core/time/clock.ts';
import { type OperatorLink, openOperatorLink } from '../../desk/operator-link.ts';
import { cameraNames } from '../../rig/camera-channel.ts';
import type { Rig } from '../../rig/rig.ts';
import { rigModel } from '../../rig/robot-models.ts';
import { freeUdpPorts } from '../../wire/transports/free-ports.ts';
import { PagePeer } from '../../wire/transports/page-peer.ts';
import type { NotAccepted } from '../../wire/transports/rtc-peer.ts';
import { AUDIO } from '../audio-source.ts';
import { LinkSockets } from '../link-sockets.ts';
import type { SessionOptions } from '../robot-session.ts';
import { ChannelSocket } from './channel-socket.ts';
import { openMedia } from './media.ts';
import { PageOperatorProcess } from './operator-process.ts';
import { pageOperatorRig } from './operator-rig.ts';
import { asksEstop, probeAnswered } from './page-messages.ts';
import { PageVideos, videoPlans } from './page-videos.ts';
import { PictureLine } from './picture-line.ts';

export interface PageSessionOptions extends SessionOptions {
  /** The robot's rig. */
  rig: Rig;
  /** The script that runs the operator role of a page. */
  pageOperatorEntry: string;
}

interface Inside {
  /** Sockets to the robot and to the operator role; the gate is between them. */
  robot: LinkSockets;
  role: LinkSockets;
  deskPort: number;
  telemetryPort: number;
}

const WATCH_MS = 100;
/** A page answers probes all the time. If it goes silent, the robot holds, then the session ends. */
const HOLD_NS = 1e9;
const SILENT_NS = 3e9;
const CROWDED_NS = 200e6;

/**
 * Connects a page to the robot: its peer connection, and behind it an operator role on this machine, which
 * the page uses as it would through a console. The lease is checked for every message from the page and every
 * datagram from the role; an e-stop needs no lease.
 */
export class PageSession {
  readonly options: PageSessionOptions;
  readonly counts = { fromOperator: 0, toOperator: 0, refused: 0 };
  readonly #rig: Rig;
  readonly #inside: Inside;
  readonly #peer: PagePeer;
  readonly #socket: ChannelSocket;
  readonly #clients: ConsoleClients;
  readonly #operator: OperatorLink;
  readonly #process: PageOperatorProcess;
  readonly #pictures = new PictureLine({
    send: (camera, jpeg) => {
      if (this.#peer.show(camera, jpeg)) this.counts.toOperator++;
    },
    probe: (t0Ns) => this.#probe(t0Ns),
  });
  readonly #videos: PageVideos;
  readonly #watch: NodeJS.Timeout;
  #media: { close(): void } | null = null;
  #receivedNs = Number.POSITIVE_INFINITY;
  #reportedNs = 0;
  #held = false;
  #greeted = false;
  #ended = false;

  private constructor(options: PageSessionOptions, inside: Inside) {
    const { rtc, rig, linkKey: key, ice, config } = options;
    this.options = options;
    this.#inside = inside;
    this.#rig = pageOperatorRig(rig, { ...inside, link: inside.role.ports });
    const { rtcAddress: bindAddress, relayOnly } = config;
    const audio = config.audio === '' ? null : AUDIO;
    const plans = videoPlans(rig);
    const videos = plans.map(({ name }) => name);
    const settings = { ice, bindAddress, relayOnly, cameras: cameraNames(rig), videos, audio };
    this.#peer = new PagePeer(rtc, settings, {
      text: (text) => this.#receive(text),
      pose: (data) => this.#receive(data),
      keyWanted: (video) => this.#videos.requestKey(video),
      videoLost: (video, share) => this.#videos.lost(video, share),
      stray: () => void this.counts.refused++,
      opened: () => this.#opened(),
      closed: (why) => this.#over(why),
    });
    this.#videos = new PageVideos(plans, this.#peer, (t0Ns) => this.#probe(t0Ns), monotonicClock.nowNs);
    this.#socket = new ChannelSocket(this.#peer, (reason) => this.#over(reason));
    this.#operator = openOperatorLink(inside);
    this.#clients = this.#rules();
    this.#operator.onTelemetry((text) => this.#send(text));
    inside.role.onOut((bytes) => {
      if (this.#ended || !options.mayCommand() || !inside.robot.in(bytes)) this.counts.refused++;
    });
    inside.robot.onOut((bytes) => void inside.role.in(bytes));
    this.#process = new PageOperatorProcess(
      options.pageOperatorEntry,
      { rig: this.#rig, key },
      { ready: () => this.#greet(), ended: (reason) => this.#over(reason) },
    );
    this.#watch = setInterval(() => this.#watchPage(), WATCH_MS);
  }

  static async open(options: PageSessionOptions): Promise<PageSession> {
    const [robot, role, [deskPort = 0, telemetryPort = 0]] = await Promise.all([
      LinkSockets.open(options.ports),
      LinkSockets.open(),
      freeUdpPorts(2),
    ]);
    return new PageSession(options, { robot, role, deskPort, telemetryPort });
  }

  get isOpen(): boolean {
    return this.#peer.isOpen;
  }

  get rttMs(): number | null {
    return this.#peer.rttMs;
  }

  offer(): Promise<string> {
    return this.#peer.description();
  }

  accept(answer: string): NotAccepted | null {
    return this.#peer.accept(answer);
  }

  close(reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#watch);
    // First, make sure that nothing reaches the robot any more.
    this.#inside.robot.close();
    this.#inside.role.close();
    this.#peer.say(JSON.stringify({ kind: 'ended', reason }));
    this.#clients.close();
    this.#operator.close();
    this.#media?.close();
    this.#videos.close();
    this.#process.end();
    // Leaves time to send the last message.
    setTimeout(() => this.#peer.close(), 50);
  }

  #rules(): ConsoleClients {
    return new ConsoleClients({
      access: { stillKnown: () => true },
      ask: (request) => this.#operator.forward(request),
      hands: (bytes) => this.#operator.hands(bytes),
      pulse: (event) => this.#operator.pulse(event),
      nowNs: monotonicClock.nowNs,
      rtcAddress: '',
      warn: () => {},
      onRefused: () => void this.counts.refused++,
    });
  }

  #opened(): void {
    this.options.onOpened(this.#peer.path);
    this.#greet();
  }

  /** Called when the page has connected and when the role is ready; acts on the later of the two. */
  #greet(): void {
    if (this.#greeted || this.#ended || !this.#peer.isOpen || !this.#process.isReady) return;
    this.#greeted = true;
    // The page was sent no probe before, so it had nothing to answer.
    this.#receivedNs = monotonicClock.nowNs();
    const rig = this.#rig;
    this.#peer.say(
      JSON.stringify(helloOf(rig, [{ side: null, rig, model: rigModel(rig) }], cameraNames(rig))),
    );
    const { user } = this.options;
    const caller = { role: 'operator' as const, device: `fleet:${user}`, name: user };
    this.#clients.add(
      this.#socket,
      caller,
      (request) => request.kind !== 'link' && request.kind !== 'replay' && this.#operator.forward(request),
      {
        open: true,
        send: (text) => this.#peer.probe(text),
        accept: () => false,
        close() {},
      },
    );
    this.#show();
  }

  #show(): void {
    const { linkKey: key, config } = this.options;
    this.#media = openMedia(this.#rig, [key], config, {
      picture: ({ camera, bytes, captureNs }) => {
        if (!this.#videos.offer(camera, bytes, captureNs))
          this.#pictures.offer(camera, bytes, monotonicClock.nowNs());
      },
      sound: (rtp) => void this.#peer.sound(rtp),
      video: (event) => this.#operator.video(event),
    });
  }

  /** On a congested path the page gets telemetry less often, but not later. */
  #send(text: string): void {
    const nowNs = monotonicClock.nowNs();
    const everyNs = this.#pictures.isCrowded(nowNs) ? CROWDED_NS : 0;
    if (!this.#greeted || nowNs - this.#reportedNs < everyNs) return;
    this.#reportedNs = nowNs;
    if (this.#peer.sendEvent(text)) this.counts.toOperator++;
  }

  /** Every message from the page arrives here first. */
  #receive(data: string | Uint8Array): void {
    // Even while the session is being closed.
    if (asksEstop(data)) this.options.onEstop();
    if (this.#ended) return;
    if (!this.options.mayCommand()) return void this.counts.refused++;
    if (!this.#greeted) return void this.counts.refused++;
    const nowNs = monotonicClock.nowNs();
    this.#receivedNs = nowNs;
    this.#held = false;
    this.counts.fromOperator++;
    const t0Ns = typeof data === 'string' ? probeAnswered(data) : null;
    if (t0Ns !== null) {
      this.#pictures.answered(t0Ns, nowNs);
      this.#videos.answered(t0Ns, nowNs);
    }
    this.#socket.receive(data);
  }

  #probe(t0: number): void {
    this.#peer.probe(JSON.stringify({ kind: 'probe', t0 }));
  }

  #watchPage(): void {
    const silentNs = monotonicClock.nowNs() - this.#receivedNs;
    if (silentNs > SILENT_NS) return this.#over('the page went silent');
    if (silentNs < HOLD_NS || this.#held) return;
    this.#held = true;
    this.#operator.forward({ kind: 'hold' });
  }

  #over(reason: string): void {
    if (!this.#ended) this.options.onEnded(reason, false);
  }
}
