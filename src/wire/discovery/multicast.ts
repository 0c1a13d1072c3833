import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import { decodeDns } from './dns-message.ts';
import { type AnnouncedRobot, type FoundRobot, ServiceBrowser, ServiceResponder } from './service.ts';

const PORT = 5353;
const GROUPS = { udp4: '224.0.0.251', udp6: 'ff02::fb' } as const;
const PROBES = 3;
const PROBE_MS = 250;
const MAX_RENAMES = 20;
const ASK_AGAIN_MS = 1000;
/** Answers per second; more questions are ignored. */
const MAX_ANSWERS = 50;

type Family = keyof typeof GROUPS;

interface Groups {
  send(bytes: Uint8Array): void;
  reply(bytes: Uint8Array, to: RemoteInfo): void;
  close(): void;
}

/** Joins the group of multicast DNS on every interface. A family that the machine does not have is left out. */
async function joinGroups(take: (bytes: Uint8Array, from: RemoteInfo) => void): Promise<Groups> {
  const opened = await Promise.all((['udp4', 'udp6'] as const).map((family) => join(family, take)));
  const members = opened.flat();
  const send = (bytes: Uint8Array) => {
    for (const { socket, family } of members) socket.send(bytes, PORT, GROUPS[family], () => {});
  };
  return {
    send,
    reply(bytes, to) {
      const family: Family = to.family === 'IPv6' ? 'udp6' : 'udp4';
      members.find((each) => each.family === family)?.socket.send(bytes, to.port, to.address, () => {});
    },
    close() {
      for (const { socket } of members) socket.close();
    },
  };
}

interface Member {
  socket: Socket;
  family: Family;
}

/** One socket per interface, so that a question leaves through each of them. */
async function join(family: Family, take: (bytes: Uint8Array, from: RemoteInfo) => void): Promise<Member[]> {
  const interfaces = Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) => {
    const own = addresses.find((each) => each.family === (family === 'udp4' ? 'IPv4' : 'IPv6'));
    return own === undefined || own.internal ? [] : [family === 'udp4' ? own.address : `::%${name}`];
  });
  const members: Member[] = [];
  for (const through of interfaces) {
    const socket = createSocket({ type: family, reuseAddr: true, ipv6Only: family === 'udp6' });
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('error', () => resolve(false));
      socket.bind(PORT, () => resolve(true));
    });
    try {
      if (!isOpen) throw new Error('not open');
      socket.addMembership(GROUPS[family], through);
      socket.setMulticastInterface(through);
      socket.setMulticastTTL(255);
      socket.on('error', () => {});
      socket.on('message', take);
      members.push({ socket, family });
    } catch {
      socket.close();
    }
  }
  return members;
}

export interface Announcement {
  /** The name in use: another robot may have had the one that was asked for. */
  name: string;
  close(): Promise<void>;
}

/** Announces a robot until it is closed. */
export async function announceRobot(robot: AnnouncedRobot): Promise<Announcement> {
  const responder = new ServiceResponder(robot);
  let isTaken = false;
  let isReady = false;
  let answers = 0;
  const groups = await joinGroups((bytes, from) => {
    const message = decodeDns(bytes);
    if (message === null) return;
    if (responder.isTaken(message)) isTaken = true;
    if (!isReady || ++answers > MAX_ANSWERS) return;
    const answer = responder.answer(message, from.port !== PORT);
    if (answer?.unicast) groups.reply(answer.bytes, from);
    else if (answer !== null) groups.send(answer.bytes);
  });
  const refill = setInterval(() => {
    answers = 0;
  }, 1000);
  refill.unref();
  for (let rename = 2; rename < MAX_RENAMES; rename++) {
    isTaken = false;
    for (let i = 0; i < PROBES && !isTaken; i++) {
      groups.send(responder.probe());
      await sleep(PROBE_MS);
    }
    if (!isTaken) break;
    responder.name = `${robot.name} (${rename})`;
  }
  isReady = true;
  groups.send(responder.announcement());
  const again = setTimeout(() => groups.send(responder.announcement()), 1000);
  return {
    name: responder.name,
    async close() {
      clearInterval(refill);
      clearTimeout(again);
      groups.send(responder.announcement(0));
      // The last message must leave before the sockets close.
      await sleep(50);
      groups.close();
    },
  };
}

/** Robots that answer within `forMs`. */
export async function findRobots(forMs: number): Promise<FoundRobot[]> {
  const browser = new ServiceBrowser();
  const groups = await joinGroups((bytes) => {
    const message = decodeDns(bytes);
    if (message !== null) browser.take(message);
  });
  groups.send(browser.query());
  const asking = setInterval(() => groups.send(browser.query()), ASK_AGAIN_MS);
  await sleep(forMs);
  clearInterval(asking);
  groups.close();
  return browser.found();
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
