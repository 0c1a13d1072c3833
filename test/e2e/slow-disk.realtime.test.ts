import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startFarhand } from './farhand.ts';

/** Longer than the time a process without progress is given. */
const SYNC_S = 9;

/** Delays fsync of a recording, like a disk with 900 MB still to write. */
const SLOW = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int fsync(int fd) {
  char link[64], name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, name, sizeof name - 1);
  if (length > 10 && !memcmp(name + length - 10, ".mcap.part", 10)) sleep(${SYNC_S});
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}
`;

describe('on a slow disk', { skip: needs('Linux', 'cc') }, () => {
  const dir = temporaryFolder();

  it('the demo waits for its recording after Ctrl-C, reports it, and leaves a complete file', {
    timeout: 240_000,
  }, async () => {
    const library = path.join(dir, 'slow.so');
    writeFileSync(path.join(dir, 'slow.c'), SLOW);
    execFileSync('cc', ['-shared', '-fPIC', '-o', library, path.join(dir, 'slow.c'), '-ldl']);
    const recordings = path.join(dir, 'recordings');
    const demo = startFarhand(
      ['demo', '--headless', '--record', `record.dir=${recordings}`, `trace.dir=${path.join(dir, 'traces')}`],
      false,
      ['env', `LD_PRELOAD=${library}`],
    );
    try {
      await demo.waitFor(/→ engaged/, 120_000);
      await new Promise((resolve) => setTimeout(resolve, 1500));
      demo.process.kill('SIGINT');
      assert.equal(await demo.exited, 0, demo.stderr());
    } finally {
      demo.process.kill('SIGKILL');
    }
    assert.match(demo.stderr(), /saving .*\.mcap\.part: \d+\.\d MB, for \d+ s/);
    assert.match(demo.stdout(), /episode/i);
    const names = readdirSync(recordings);
    assert.equal(names.length, 1, names.join(', '));
    assert.match(names[0]!, /\.mcap$/);
  });
});
