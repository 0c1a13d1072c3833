import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { TeleopError } from '../core/errors.ts';
import type { TraceRecord } from '../messages/trace-record.ts';
import { fastCommand } from './fast-line.ts';
import { nextPartPath } from './file-name.ts';
import { LineSplitter } from './lines.ts';
import {
  parseTraceLine,
  TRACE_FORMAT,
  type TraceFooter,
  type TraceHeader,
  type TraceMotion,
} from './stamps.ts';
import type { TouchRecord } from './touch.ts';
import type { VideoRecord } from './video.ts';

export interface TraceFileInfo {
  path: string;
  /** Null if the first lines are missing. */
  header: TraceHeader | null;
  /** Null if the trace was not closed. */
  footer: TraceFooter | null;
  commands: number;
  /** Unreadable lines, which were skipped. */
  bad: number;
  /** 1 if the file ends inside a line: the writer was interrupted. */
  torn: number;
}

/** Every record is new and belongs to the callee. */
export type OnRecord = (record: TraceRecord) => void;
/** Lines of other kinds. */
export interface OtherLines {
  onMotion?: (motion: TraceMotion) => void;
  onVideo?: (frame: VideoRecord) => void;
  onTouch?: (touch: TouchRecord) => void;
}
export type OnProgress = (readBytes: number, totalBytes: number) => void;

/**
 * Streams one file in constant memory. Counts bad lines and ignores lines of unknown kind.
 * Throws `file-missing`, `file-unreadable`, or `no-trace` if it contains no command.
 */
export async function readTraceFile(
  path: string,
  onRecord: OnRecord,
  onProgress?: OnProgress,
  others: OtherLines = {},
): Promise<TraceFileInfo> {
  const info: TraceFileInfo = { path, header: null, footer: null, commands: 0, bad: 0, torn: 0 };
  const splitter = new LineSplitter(
    (text) => takeLine(text, info, onRecord, others),
    () => info.bad++,
    (bytes, start, end) => {
      const record = fastCommand(bytes, start, end);
      if (record === null) return false;
      info.commands++;
      onRecord(record);
      return true;
    },
  );
  const file = await attempt(path, () => open(path, 'r'));
  try {
    await pump(path, file, splitter, (readBytes, totalBytes) => {
      if (readBytes > MAX_PREFACE_BYTES && info.header === null && info.commands === 0)
        throw noTrace({ ...info, bad: 1 });
      onProgress?.(readBytes, totalBytes);
    });
  } finally {
    await file.close();
  }
  takeRest(splitter.end(), info, onRecord);
  if (info.commands === 0) throw noTrace(info);
  return info;
}

/** Reads `path` and the parts that follow it on disk, in order. */
export async function readTraceParts(
  path: string,
  onRecord: OnRecord,
  onProgress?: OnProgress,
  others: OtherLines = {},
): Promise<TraceFileInfo[]> {
  const infos = [await readTraceFile(path, onRecord, onProgress, others)];
  for (let next = nextPartPath(path); next !== null && existsSync(next); next = nextPartPath(next)) {
    infos.push(await readTraceFile(next, onRecord, onProgress, others));
  }
  return infos;
}

const CHUNK_BYTES = 1 << 20;
/** A file without a header or command so far is not a trace, however long it is: /dev/zero never ends. */
const MAX_PREFACE_BYTES = 16 << 20;

async function pump(
  path: string,
  file: FileHandle,
  splitter: LineSplitter,
  onProgress?: OnProgress,
): Promise<void> {
  const { size } = await attempt(path, () => file.stat());
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let done = 0;
  for (;;) {
    const { bytesRead } = await attempt(path, () => file.read(chunk, 0, CHUNK_BYTES));
    if (bytesRead === 0) return;
    splitter.push(chunk.subarray(0, bytesRead));
    done += bytesRead;
    onProgress?.(done, Math.max(done, size));
  }
}

function takeLine(text: string, info: TraceFileInfo, onRecord: OnRecord, others: OtherLines = {}): boolean {
  if (text === '' || text === '\r') return true;
  const line = parseTraceLine(text);
  if (line.kind === 'command') {
    info.commands++;
    onRecord(line.record);
  } else if (line.kind === 'motion') others.onMotion?.(line.motion);
  else if (line.kind === 'video') others.onVideo?.(line.frame);
  else if (line.kind === 'touch') others.onTouch?.(line.touch);
  else if (line.kind === 'header') info.header ??= line;
  else if (line.kind === 'footer') info.footer = line;
  else if (line.kind === 'bad' && line.reason === 'unsupported-format') throw unsupported(info.path);
  else if (line.kind === 'bad') {
    info.bad++;
    return false;
  }
  return true;
}

/** No prefix of a JSON object is valid JSON, so an unterminated line that parses is complete. */
function takeRest(text: string | null, info: TraceFileInfo, onRecord: OnRecord): void {
  if (text === null || takeLine(text, info, onRecord)) return;
  info.bad--;
  info.torn = 1;
}

async function attempt<T>(path: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') {
      const hint = 'Check the path; a run writes its traces to its traces directory: ls traces';
      throw new TeleopError('file-missing', `there is no file ${path}`, { hint, cause });
    }
    const hint = 'Give a trace file (robot_trace_*.jsonl), not a directory, and check that you may read it.';
    throw new TeleopError('file-unreadable', `${path} cannot be read: ${(cause as Error).message}`, {
      hint,
      cause,
    });
  }
}

function noTrace({ path, header, bad, torn }: TraceFileInfo): TeleopError {
  const hint = 'Give a file written by a run (robot_trace_*.jsonl) that closed at least one command.';
  const what = header === null && bad + torn > 0 ? 'is not a trace' : 'contains no command';
  return new TeleopError('no-trace', `${path} ${what}.`, { hint });
}

function unsupported(path: string): TeleopError {
  const hint = 'Read it with the version of Farhand that wrote it, or update this one.';
  return new TeleopError('no-trace', `${path} is not in the format ${TRACE_FORMAT}.`, { hint });
}
