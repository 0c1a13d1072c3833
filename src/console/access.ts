import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { hostOf, isKnownHost, isOwnOrigin, isSecure, LOCAL_NAMES } from '../http/known-host.ts';
import { DEVICE_DAYS, DeviceStore, newToken, type Role } from './devices.ts';
import { consoleFolder, readIfThere, writePrivate } from './private-file.ts';

/** Who sent a request. */
export interface Caller {
  role: Role;
  /** Id of the paired device; `local` for a browser on this machine. */
  device: string;
  name: string;
}

const LOCAL_DEVICE = 'local';
const TOKEN = /^[\w-]{43}$/;
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

export interface AccessOptions {
  devices?: DeviceStore;
  /** Folder that holds the local token. */
  folder?: string;
  /** Whether a browser on this machine is an operator without pairing. */
  trustLocal?: boolean;
  /** Warns the person who started the console. */
  warn?: (text: string) => void;
}

/**
 * Decides who may do what at the console, for every page, request and socket. A caller has a token, as a
 * cookie or as `Authorization: Bearer`: the token of a paired device, or the one that this machine's browser
 * gets with the page.
 */
export class Access {
  readonly devices: DeviceStore;
  readonly #localToken: string;
  readonly #trustLocal: boolean;

  constructor(options: AccessOptions = {}) {
    const folder = options.folder ?? consoleFolder();
    this.devices = options.devices ?? new DeviceStore(folder);
    this.#trustLocal = options.trustLocal ?? true;
    const warn = options.warn ?? (() => {});
    this.#localToken = keptToken(path.join(folder, 'local-token'), warn);
    try {
      this.devices.check();
    } catch (error) {
      warn(`No paired device is accepted: ${(error as Error).message}`);
    }
  }

  /** Null: reject. Checks Host (DNS rebinding), Origin (other pages in the same browser) and token. */
  authorize(request: IncomingMessage): Role | null {
    return this.identify(request)?.role ?? null;
  }

  /** Like `authorize`, but returns the caller. */
  identify(request: IncomingMessage): Caller | null {
    if (!isKnownHost(request) || !isOwnOrigin(request)) return null;
    const token = tokenOf(request);
    if (token === null) return null;
    if (this.isLocal(request) && sameText(token, this.#localToken))
      return { role: 'operator', device: LOCAL_DEVICE, name: 'this computer' };
    const device = this.devices.find(token);
    return device === null ? null : { role: device.role, device: device.id, name: device.name };
  }

  /** Whether a trusted browser on this machine sent it, using one of this machine's local names. */
  isLocal(request: IncomingMessage): boolean {
    return (
      this.#trustLocal &&
      LOOPBACK.test(request.socket.remoteAddress ?? '') &&
      LOCAL_NAMES.has(hostOf(request))
    );
  }

  /** Headers sent with a page: the token for this machine's browser, or nothing. */
  pageHeaders(request: IncomingMessage): Record<string, string> {
    if (!this.isLocal(request) || this.identify(request) !== null) return {};
    return { 'set-cookie': this.cookie(request, this.#localToken) };
  }

  cookie(request: IncomingMessage, token: string): string {
    const secure = isSecure(request) ? '; Secure' : '';
    const age = DEVICE_DAYS * 24 * 3600;
    return `${cookieName(request)}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${secure}`;
  }

  /** False once the caller's device was forgotten: its sockets are then closed. */
  stillKnown(caller: Caller): boolean {
    return caller.device === LOCAL_DEVICE || this.devices.has(caller.device);
  }
}

/** Browsers share cookies between the ports of a host, and hide secure ones from plain pages. */
function cookieName(request: IncomingMessage): string {
  return `farhand-${isSecure(request) ? 's' : 'p'}${request.socket.localPort}`;
}

function tokenOf(request: IncomingMessage): string | null {
  const bearer = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
  const wanted = cookieName(request);
  const pairs = (request.headers.cookie ?? '').split(/;\s*/).map((pair) => pair.split('='));
  const token = bearer ?? pairs.find(([name]) => name === wanted)?.[1] ?? '';
  return TOKEN.test(token) ? token : null;
}

/** Kept between starts, so that an open page can reconnect to a restarted console. */
function keptToken(file: string, warn: (text: string) => void): string {
  const token = newToken();
  try {
    const kept = readIfThere(file)?.trim() ?? '';
    if (TOKEN.test(kept)) return kept;
    writePrivate(file, `${token}\n`);
  } catch (error) {
    warn(`Reload open pages after the console restarts: ${(error as Error).message}`);
  }
  return token;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
const sameText = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
