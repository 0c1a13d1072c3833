import type { IncomingMessage, ServerResponse } from 'node:http';
import { TeleopError } from '../../core/errors.ts';
import type { Rig } from '../rig.ts';
import type { Access } from './access.ts';
import { deviceReport } from './device-report.ts';
import { DoctorRun } from './doctor-run.ts';
import { replyError, replyJson } from './replies.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void>;

export interface Api {
  /** False: not a request for this. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
}

/** What the page asks for besides its socket: lists, checks, exports. Nothing here moves a robot. */
export function createApi(rig: Rig, access: Access): Api {
  const doctor = new DoctorRun();
  const routes: Record<string, Answer> = {
    'GET /api/devices': async (_request, response) => replyJson(response, 200, await deviceReport(rig)),
    'GET /api/doctor': async (_request, response) => replyJson(response, 200, await doctor.examine()),
  };
  const answerTo = (request: IncomingMessage, pathname: string): Answer | undefined =>
    routes[`${request.method} ${pathname}`];
  return {
    handle(request, response) {
      const url = new URL(request.url ?? '/', 'http://localhost');
      if (!url.pathname.startsWith('/api/')) return false;
      const role = access.authorize(request);
      const changes = request.method !== 'GET' && request.method !== 'HEAD';
      if (role === null || (changes && role !== 'operator')) {
        replyError(response, 403, 'this browser may not do that');
        return true;
      }
      const answer = answerTo(request, url.pathname);
      if (answer === undefined) replyError(response, 404, 'there is no such thing');
      else answer(request, response, url).catch((error: unknown) => replyFailure(response, error));
      return true;
    },
  };
}

/** A failed operation is told; our own bug ends the process, as everywhere. */
function replyFailure(response: ServerResponse, error: unknown): void {
  if (!(error instanceof TeleopError)) throw error;
  if (!response.headersSent) replyError(response, 500, `${error.message}. ${error.hint}`);
  else response.end();
}
