import { TeleopError } from '../core/errors.ts';
import { S3Client } from './s3-client.ts';

/**
 * A store by its address, `s3://bucket/prefix`. Keys come from the environment, under the names that all S3
 * tools use; they are never written anywhere. Every robot has its own folder.
 */
export function s3ClientOf(
  address: string,
  robot: string,
  env: Readonly<Record<string, string | undefined>>,
  endpoint?: string,
): S3Client {
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,62})(?:\/(.*?))?\/?$/.exec(address) ?? [];
  if (bucket === undefined)
    throw new TeleopError('bad-option', `"${address}" is not a valid place for recordings`, {
      hint: 'Use nats, or s3://BUCKET/FOLDER.',
    });
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = env;
  if (!id || !secret)
    throw new TeleopError('key-missing', `there are no keys for ${address}`, {
      hint: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.',
    });
  const region = env['AWS_REGION'] ?? 'us-east-1';
  return new S3Client({
    endpoint: endpoint ?? env['AWS_ENDPOINT_URL'] ?? `https://s3.${region}.amazonaws.com`,
    region,
    bucket,
    prefix: [prefix, robot]
      .filter((part) => part !== '')
      .map((part) => `${part}/`)
      .join(''),
    keys: { accessKeyId: id, secretAccessKey: secret, ...(token ? { sessionToken: token } : {}) },
  });
}
