import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { z } from 'zod';
import { type Answering, readBody, replyError, replyJson } from '../http/replies.ts';
import { requestUrl } from '../http/request-url.ts';
import type { DeviceReport, ExportJob, NearbyRobot } from '../messages/console.ts';
import type { Rig } from '../rig/rig.ts';
import { type RobotMesh, rigMeshes } from '../rig/robot-meshes.ts';
import type { Access } from './access.ts';
import { answerScores, datasetName, listDatasets, startEdit } from './datasets-api.ts';
import { DoctorRun } from './doctor-run.ts';
import { EpisodeLibrary } from './episode-library.ts';
import { answerEpisodes, editEpisode, labelOnRequest } from './episodes-api.ts';
import { ExportRunner } from './export-job.ts';
import { answerMesh } from './meshes-api.ts';

/** What a viewer may request. Not the doctor, which puts load on this machine, nor a search of its network. */
const READ_ONLY = /^GET \/api\/(devices|export|meshes\/\d+|datasets(\/.*)?|episodes(\/.*)?)$/;

const exportBody = z.strictObject({ name: datasetName });

type Answer = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void>;

export interface Api {
  /** Meshes of the robot. */
  meshes: readonly RobotMesh[];
  handle(request: IncomingMessage, response: ServerResponse): Answering;
  close(): void;
}

/** The page's requests beside its socket: lists, checks, exports. Nothing here moves a robot. */
export function createApi(
  rig: Rig,
  access: Access,
  { devices, robots }: { devices: () => Promise<DeviceReport>; robots: () => Promise<NearbyRobot[]> },
  onExport: (job: ExportJob) => void,
): Api {
  let search: Promise<NearbyRobot[]> | null = null;
  /** Pages that ask at the same time share one search. */
  const found = (): Promise<NearbyRobot[]> => {
    search ??= robots().finally(() => {
      search = null;
    });
    return search;
  };
  const doctor = new DoctorRun();
  const meshes = rigMeshes(rig.model);
  const dir = recordDir(rig);
  const library = dir === null ? null : new EpisodeLibrary(dir);
  const exports = new ExportRunner(onExport);
  const datasets = dir === null ? null : datasetsBeside(dir);
  const routes = new Map<string, Answer>([
    ['GET /api/devices', async (_, response) => replyJson(response, 200, await devices())],
    ['GET /api/robots', async (_, response) => replyJson(response, 200, await found())],
    ['GET /api/doctor', async (_, response) => replyJson(response, 200, await doctor.examine())],
    ['GET /api/export', async (_, response) => replyJson(response, 200, exports.job)],
    [
      'GET /api/datasets',
      async (_, response) => replyJson(response, 200, datasets === null ? [] : listDatasets(datasets)),
    ],
    ['POST /api/datasets', (request, response) => startEdit(datasets, exports, request, response)],
    ['POST /api/episodes', (request, response) => editEpisode(library, request, response)],
    ['POST /api/export', (request, response) => startExport(library, exports, request, response)],
  ]);
  const answerTo = (request: IncomingMessage, pathname: string): Answer | undefined => {
    if (request.method === 'GET' && /^\/api\/episodes(\/|$)/.test(pathname))
      return (_request, response, url) => answerEpisodes(library, url, response);
    const [, episode] = /^\/api\/episodes\/([\w.-]+)$/.exec(pathname) ?? [];
    if (request.method === 'POST' && episode !== undefined)
      return (_request, response) => labelOnRequest(library, episode, request, response);
    const [, mesh] = /^\/api\/meshes\/(\d+)$/.exec(pathname) ?? [];
    if (request.method === 'GET' && mesh !== undefined)
      return (_request, response) => answerMesh(meshes, Number(mesh), response);
    const [, dataset] = /^\/api\/datasets\/([^/]+)$/.exec(pathname) ?? [];
    if (request.method === 'GET' && dataset !== undefined && datasets !== null)
      return (_request, response) => answerScores(datasets, dataset, response);
    return routes.get(`${request.method} ${pathname}`);
  };
  const answer: Answer = async (request, response, url) => {
    const role = access.authorize(request);
    const mayRead = READ_ONLY.test(`${request.method} ${url.pathname}`);
    if (role === null || (role !== 'operator' && !mayRead))
      return replyError(response, 403, 'not allowed for this browser; pair it as operator');
    const route = answerTo(request, url.pathname);
    if (route === undefined) return replyError(response, 404, 'not found');
    await route(request, response, url);
  };
  return {
    meshes,
    close() {
      library?.close();
      exports.close();
    },
    handle(request, response) {
      const url = requestUrl(request);
      if (!url?.pathname.startsWith('/api/')) return null;
      return answer(request, response, url);
    },
  };
}

/** Folder of this rig's recordings; null: it does not record. */
const recordDir = ({ record }: Rig): string | null => (record.dir === '' ? null : path.resolve(record.dir));

/** Where exports go. */
const datasetsBeside = (dir: string): string => path.join(path.dirname(dir), 'datasets');

/** Exports into a folder beside the recordings; appends to an existing dataset. */
async function startExport(
  library: EpisodeLibrary | null,
  exports: ExportRunner,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request, exportBody);
  if (library === null) return replyError(response, 409, 'this rig does not record');
  const { dir } = library;
  if (typeof body === 'string')
    return replyError(
      response,
      400,
      'a dataset name may contain only letters, digits, dots, dashes and underscores',
    );
  const out = path.join(datasetsBeside(dir), body.name);
  const { episodes } = await library.list();
  if (!exports.start('lerobot', [out, '--from', dir], out, episodes.length))
    return replyError(response, 409, 'an export is already running');
  replyJson(response, 202, exports.job);
}
