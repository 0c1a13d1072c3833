import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { TeleopError } from '../../core/errors.ts';
import { parseJson } from '../../core/parse-json.ts';
import { writeWhole } from '../../files/write-whole.ts';
import { sidecarOf } from '../../record/reader.ts';
import { type ObjectStore, type ReadPoint, START, sha256OfFile } from '../../s3/object-store.ts';
import { type Recording, recordingNames } from '../recordings.ts';

/** Not an episode's extension, so that a folder of recordings does not list unfinished downloads. */
const PULL_ENDING = '.pull';
const MAX_NOTE_BYTES = 1024;
/** How far an earlier attempt got. */
const noteSchema = z.object({ offset: z.int().min(0), mark: z.number(), sha256: z.string() });

/** Downloads a recording into a folder, resuming an earlier attempt; returns its file. */
export async function pullRecording(
  target: ObjectStore,
  recording: Recording,
  dir: string,
  say: (text: string) => void,
): Promise<string> {
  const { episode, sha256, sizeBytes } = recording;
  const name = recordingNames.object(episode);
  const file = path.join(dir, name);
  mkdirSync(dir, { recursive: true });
  if (existsSync(file)) {
    if ((await sha256OfFile(file)) === sha256) return file;
    throw new TeleopError('file-unwritable', `${file} already exists with different contents`, {
      hint: 'Move it, or pull into another folder.',
    });
  }
  const part = `${file}${PULL_ENDING}`;
  const from = resumePoint(part, recording);
  if (from.offset > 0) say(`${episode}: resuming at ${(from.offset / 1e6).toFixed(1)} MB`);
  await fetchRest(target, recording, part, from);
  const found = statSync(part).size === sizeBytes ? await sha256OfFile(part) : 'unknown (its size differs)';
  rmSync(`${part}.json`, { force: true });
  if (found !== sha256) {
    rmSync(part);
    throw new TeleopError(
      'transfer-failed',
      `${episode} does not match its announcement: its SHA-256 is ${found}`,
      {
        hint: 'Nothing was kept. Pull it again; if this persists, the store holds other bytes than the robot sent.',
      },
    );
  }
  if (recording.label !== null)
    writeWhole(
      sidecarOf(file),
      `${JSON.stringify({ label: recording.label, task: recording.task }, null, 2)}\n`,
    );
  renameSync(part, file);
  return file;
}

async function fetchRest(
  target: ObjectStore,
  { episode, sha256, sizeBytes }: Recording,
  part: string,
  from: ReadPoint,
): Promise<void> {
  const handle = await open(part, from.offset > 0 ? 'r+' : 'w');
  try {
    let at = from;
    for await (const { bytes, next } of target.read(recordingNames.object(episode), from)) {
      if (next.offset > sizeBytes) break;
      await handle.write(bytes, 0, bytes.byteLength, at.offset);
      at = next;
      // Write bytes before noting them: noted bytes are always in the file.
      writeFileSync(`${part}.json.new`, JSON.stringify({ ...at, sha256 }));
      renameSync(`${part}.json.new`, `${part}.json`);
    }
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

function resumePoint(part: string, { sha256 }: Recording): ReadPoint {
  try {
    const noted = parseJson(readFileSync(`${part}.json`), noteSchema, MAX_NOTE_BYTES);
    if (typeof noted === 'string' || noted.sha256 !== sha256) return START;
    const { offset, mark } = noted;
    if (offset === 0 || statSync(part).size < offset) return START;
    truncateSync(part, offset);
    return { offset, mark };
  } catch {
    return START;
  }
}
