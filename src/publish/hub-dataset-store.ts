import { pathToFileURL } from 'node:url';
import type { CommitOperation } from '@huggingface/hub';
import { TeleopError } from '../core/errors.ts';
import { CODEBASE_VERSION } from '../record/lerobot/layout.ts';
import type { Change, DatasetStore, StoredFile } from './dataset-store.ts';

export interface HubPlace {
  /** `owner/name`. */
  name: string;
  /** Branch to push to; branch, tag or commit to pull. */
  revision: string;
  /** For example `https://huggingface.co`. */
  url: string;
  /** Empty: as a stranger, which can only read public datasets. */
  token: string;
  /** Of a dataset that a push creates. */
  isPublic: boolean;
}

type Hub = typeof import('@huggingface/hub');

/** A dataset on a hub: a push is one commit, so readers see all of it or nothing. */
export class HubDatasetStore implements DatasetStore {
  readonly #hub: Hub;
  readonly #place: HubPlace;
  /** The commit that was listed: what is read belongs to it, even if somebody pushes meanwhile. */
  #commit = '';
  #exists = false;

  private constructor(hub: Hub, place: HubPlace) {
    this.#hub = hub;
    this.#place = place;
  }

  static async open(place: HubPlace): Promise<HubDatasetStore> {
    try {
      return new HubDatasetStore(await import('@huggingface/hub'), place);
    } catch (cause) {
      throw new TeleopError('native-unavailable', 'the package @huggingface/hub is not installed', {
        hint: 'Install it: npm install @huggingface/hub',
        cause,
      });
    }
  }

  get where(): string {
    const { name, revision } = this.#place;
    return `hf://${name}${revision === 'main' ? '' : `@${revision}`}`;
  }

  get #repo() {
    return { type: 'dataset' as const, name: this.#place.name };
  }

  get #access() {
    const { url, token } = this.#place;
    return { repo: this.#repo, hubUrl: url, ...(token !== '' && { accessToken: token }) };
  }

  async list(): Promise<ReadonlyMap<string, StoredFile> | null> {
    const { name, revision } = this.#place;
    try {
      const options = { name, revision, additionalFields: ['sha' as const] };
      const { sha } = await this.#hub.datasetInfo({ ...this.#access, ...options });
      this.#exists = true;
      this.#commit = sha;
      const files = new Map<string, StoredFile>();
      for await (const entry of this.#hub.listFiles({ ...this.#access, recursive: true, revision: sha }))
        if (entry.type === 'file')
          files.set(entry.path, {
            sizeBytes: entry.lfs?.size ?? entry.size,
            sha256: entry.lfs?.oid ?? null,
            gitId: entry.oid ?? null,
          });
      return files;
    } catch (cause) {
      if (statusOf(cause) === 404) return null;
      throw this.#failed(cause);
    }
  }

  async store({ put, remove, title }: Change, progress: (bytes: number) => void): Promise<void> {
    const sizes = new Map(put.map(({ name, sizeBytes }) => [name, sizeBytes]));
    const operations: CommitOperation[] = [
      ...put.map(({ name, file }) => ({
        operation: 'addOrUpdate' as const,
        path: name,
        content: pathToFileURL(file),
      })),
      ...remove.map((name) => ({ operation: 'delete' as const, path: name })),
    ];
    try {
      if (!this.#exists) await this.#create();
      const options = { operations, title, branch: this.#place.revision };
      const parent = this.#commit === '' ? {} : { parentCommit: this.#commit };
      const events = this.#hub.commitIter({ ...this.#access, ...options, ...parent });
      for (let next = await events.next(); !next.done; next = await events.next()) {
        const { value } = next;
        if (value.event !== 'fileProgress' || value.state !== 'uploading' || value.progress < 1) continue;
        progress(sizes.get(value.path) ?? 0);
        sizes.delete(value.path);
      }
      for (const bytes of sizes.values()) progress(bytes);
      await this.#tag();
    } catch (cause) {
      throw cause instanceof TeleopError ? cause : this.#failed(cause);
    }
  }

  async settle(): Promise<void> {
    try {
      if (!(await this.#isTagged())) await this.#tag();
    } catch (cause) {
      throw this.#failed(cause);
    }
  }

  async *read(name: string, offset: number): AsyncGenerator<Uint8Array> {
    try {
      const options = { path: name, revision: this.#commit };
      const blob = await this.#hub.downloadFile({ ...this.#access, ...options });
      if (blob === null) return;
      const rest = offset === 0 ? blob : blob.slice(offset, blob.size);
      for await (const bytes of rest.stream() as unknown as AsyncIterable<Uint8Array>) yield bytes;
    } catch (cause) {
      throw this.#failed(cause);
    }
  }

  async #create(): Promise<void> {
    const visibility = this.#place.isPublic ? 'public' : 'private';
    const { token } = this.#place;
    if (token === '')
      throw new TeleopError('key-missing', `there is no token for ${this.#place.url}`, {
        hint: 'Create one with write access on the hub and set HF_TOKEN in the environment.',
      });
    await this.#hub.createRepo({ ...this.#access, accessToken: token, visibility });
    this.#exists = true;
  }

  async #isTagged(): Promise<boolean> {
    const { url, name, revision, token } = this.#place;
    if (revision !== 'main') return true;
    const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(`${url}/api/datasets/${name}/refs`, { headers });
    if (!answer.ok) throw httpError(answer.status, 'list of tags');
    const { tags } = (await answer.json()) as { tags?: { name: string; targetCommit: string }[] };
    return tags?.some((tag) => tag.name === CODEBASE_VERSION && tag.targetCommit === this.#commit) === true;
  }

  /** LeRobot opens the revision that is tagged with the version of the format. */
  async #tag(): Promise<void> {
    const { url, name, revision, token } = this.#place;
    if (revision !== 'main') return;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const at = `${url}/api/datasets/${name}/tag`;
    const removed = await fetch(`${at}/${CODEBASE_VERSION}`, { method: 'DELETE', headers });
    if (!removed.ok && removed.status !== 404) throw httpError(removed.status, 'tag');
    const body = JSON.stringify({ tag: CODEBASE_VERSION });
    const made = await fetch(`${at}/${revision}`, { method: 'POST', headers, body });
    if (!made.ok) throw httpError(made.status, 'tag');
  }

  #failed(cause: unknown): TeleopError {
    const status = statusOf(cause);
    const { url } = this.#place;
    const message = (((cause as Error).cause ?? cause) as Error).message;
    const hint =
      status === 401 || status === 403
        ? 'Set HF_TOKEN to a token that may write to this dataset.'
        : status === 412
          ? 'Somebody else pushed at the same time. Pull their change first, or push again.'
          : 'Check the address, HF_ENDPOINT and the connection, then run the same command again: it continues.';
    return new TeleopError('transfer-failed', `${this.where} at ${url}: ${message}`, { hint, cause });
  }
}

const statusOf = (cause: unknown): number => Number((cause as { statusCode?: number } | null)?.statusCode);
const httpError = (statusCode: number, what: string): Error =>
  Object.assign(new Error(`status ${statusCode} for the ${what}`), { statusCode });
