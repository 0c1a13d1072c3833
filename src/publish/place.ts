import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { s3ClientOf } from '../s3/s3-place.ts';
import type { DatasetStore } from './dataset-store.ts';
import { HubDatasetStore } from './hub-dataset-store.ts';
import { S3DatasetStore } from './s3-dataset-store.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const HUB = /^hf:\/\/([\w.-]{1,96}\/[\w.-]{1,96})(?:@([\w./-]{1,200}))?$/;

/** `hf://OWNER/NAME[@BRANCH]` or `s3://BUCKET/FOLDER`. Keys come from the environment. */
export async function openPlace(
  address: string,
  env: Environment,
  options: { endpoint?: string; isPublic?: boolean } = {},
): Promise<DatasetStore> {
  if (address.startsWith('s3://')) return new S3DatasetStore(s3ClientOf(address, '', env, options.endpoint));
  const [, name, revision = 'main'] = HUB.exec(address) ?? [];
  if (name === undefined)
    throw new TeleopError('bad-option', `"${address}" is not a place for datasets`, {
      hint: 'Write hf://OWNER/NAME, hf://OWNER/NAME@BRANCH or s3://BUCKET/FOLDER.',
    });
  const url = (options.endpoint ?? env['HF_ENDPOINT'] ?? 'https://huggingface.co').replace(/\/$/, '');
  return HubDatasetStore.open({
    name,
    revision,
    url,
    token: tokenOf(env),
    isPublic: options.isPublic ?? false,
  });
}

/** Where Hugging Face's own tools keep it after a login. */
function tokenOf(env: Environment): string {
  if (env['HF_TOKEN']) return env['HF_TOKEN'].trim();
  const home = env['HF_HOME'] ?? path.join(env['HOME'] ?? '', '.cache', 'huggingface');
  const file = path.join(home, 'token');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
}
