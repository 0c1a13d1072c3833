import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { isKnownHost, isOwnOrigin, isSecure } from '../http/known-host.ts';
import { type Answering, readBody, replyJson } from '../http/replies.ts';
import { requestUrl } from '../http/request-url.ts';
import type { FleetAccessState } from '../messages/fleet-console.ts';
import type { Access, Caller } from './access.ts';
import { ROLES } from './devices.ts';
import type { Listener } from './listener.ts';
import { Pairing, type PairingRefusal } from './pairing.ts';

const MAX_BODY_BYTES = 1024;
const pairBody = z.strictObject({ code: z.string().max(32), name: z.string().max(200).optional() });
const codeBody = z.strictObject({ role: z.enum(ROLES) });
/** Id or name of a device. */
const forgetBody = z.strictObject({ id: z.string().max(200) });

export type PairRefusal = PairingRefusal | 'malformed' | 'insecure' | 'not-allowed';

/**
 * `/api/access`: a page's identity, pairing, and the list of devices. `POST pair` is the only request to the
 * console that needs no token; it needs the pairing code instead.
 */
export class AccessApi {
  readonly pairing = new Pairing();
  readonly #access: Access;
  readonly #lan: () => Listener['lan'];
  readonly #kind: { fleet?: FleetAccessState };

  /** `kind`: what else a page must know about the console before it connects. */
  constructor(access: Access, lan: () => Listener['lan'], kind: { fleet?: FleetAccessState } = {}) {
    this.#access = access;
    this.#lan = lan;
    this.#kind = kind;
  }

  handle(request: IncomingMessage, response: ServerResponse): Answering {
    const pathname = requestUrl(request)?.pathname ?? '';
    if (pathname !== '/api/access' && !pathname.startsWith('/api/access/')) return null;
    return this.#answer(`${request.method} ${pathname.slice('/api/access'.length)}`, request, response);
  }

  async #answer(what: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (what === 'POST /pair') return this.#pair(request, response);
    const caller = this.#access.identify(request);
    if (what === 'GET ') return replyJson(response, 200, this.#describe(caller, request));
    if (caller?.role !== 'operator') return refuse(response, 'not-allowed');
    if (what === 'POST /code') return this.#issue(request, response);
    if (what === 'POST /forget') return this.#forget(request, response);
    replyJson(response, 404, { reason: 'malformed' });
  }

  #describe(caller: Caller | null, request: IncomingMessage): object {
    const kind = this.#kind;
    if (caller === null)
      return { role: null, secure: isSecure(request), ...(kind.fleet && { fleet: { user: '' } }) };
    const { role, name } = caller;
    if (role !== 'operator') return { role, name, ...kind };
    const devices = this.#access.devices.list().map(({ tokenHash: _, ...device }) => device);
    return { role, name, devices, code: this.pairing.current, lan: this.#lan(), ...kind };
  }

  async #issue(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request, codeBody, MAX_BODY_BYTES);
    if (typeof body === 'string') return refuse(response, 'malformed');
    replyJson(response, 200, { ...this.pairing.issue(body.role), lan: this.#lan() });
  }

  async #forget(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request, forgetBody, MAX_BODY_BYTES);
    if (typeof body === 'string') return refuse(response, 'malformed');
    replyJson(response, 200, { forgotten: this.#access.devices.forget(body.id) });
  }

  async #pair(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isKnownHost(request) || !isOwnOrigin(request)) return refuse(response, 'not-allowed');
    // Anyone on the network could read a token sent in the clear.
    if (!isSecure(request) && !this.#access.isLocal(request)) return refuse(response, 'insecure');
    const body = await readBody(request, pairBody, MAX_BODY_BYTES);
    if (typeof body === 'string') return refuse(response, 'malformed');
    const code = body.code.replace(/\s/g, '');
    if (!/^\d{6}$/.test(code)) return refuse(response, 'malformed');
    const result = this.pairing.redeem(code, request.socket.remoteAddress ?? '');
    if (typeof result === 'string') return refuse(response, result);
    const { device, token } = this.#access.devices.add(body.name ?? '', result.role);
    response.setHeader('set-cookie', this.#access.cookie(request, token));
    replyJson(response, 200, { role: device.role, name: device.name, expiresAt: device.expiresAt });
  }
}

const refuse = (response: ServerResponse, reason: PairRefusal): void =>
  replyJson(response, reason === 'rate-limited' ? 429 : 403, { reason });
