import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, mock } from 'node:test';
import { needs } from '../../test/needs.ts';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { runFarhand } from './verbs.ts';

/** What `farhand completion SHELL` prints, as a file of that shell. */
async function scriptFile(shell: string, name: string): Promise<string> {
  const log = mock.method(console, 'log', () => {});
  try {
    assert.equal(await runFarhand(['completion', shell]), 0);
    const file = path.join(temporaryFolder(`completion-${shell}`), name);
    writeFileSync(file, log.mock.calls.map((call) => `${call.arguments.join(' ')}\n`).join(''));
    return file;
  } finally {
    log.mock.restore();
  }
}

/** Runs a shell in an empty folder, so that it finds no files to complete. */
function output(shell: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const { stdout, stderr, status } = spawnSync(shell, args, {
    cwd: temporaryFolder('empty'),
    env: { ...process.env, TERM: 'dumb', ...env },
    encoding: 'utf8',
    timeout: 30_000,
  });
  assert.equal(status, 0, `${shell}: ${stderr}`);
  return stdout;
}

/** Bash: what its completion function offers for the last word. */
const BASH = `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _farhand; printf '%s\\n' "\${COMPREPLY[@]}"`;

/** An interactive zsh: a line is typed, Tab pressed, and what stands there then printed by Ctrl-T. */
const ZSHRC = `
fpath=("\${FARHAND_COMPLETION:h}" $fpath)
autoload -Uz compinit
compinit -u -D
report() { print -r -- "<<$BUFFER>>" }
zle -N report
bindkey '^T' report
bindkey '^I' complete-word
PS1='READY:'`;
const TYPE = `
zmodload zsh/zpty
zpty shell zsh -i
zpty -r shell out '*READY:*'
zpty -w -n shell "$0"$'\\t\\x14'
zpty -r shell out '*<<*>>*'
print -r -- "\${\${out##*<<}%%>>*}"`;

describe('completion', () => {
  it('offers verbs, options, rigs and settings in bash', { skip: needs('bash') }, async () => {
    const file = await scriptFile('bash', 'farhand');
    const offers = (...words: string[]) => output('bash', ['-c', BASH, file, 'farhand', ...words]).trim();
    assert.equal(offers('doc'), 'doctor');
    assert.equal(offers('help', 'doc'), 'doctor');
    assert.equal(offers('demo', '--headl'), '--headless');
    assert.match(offers('demo', '--rig', 'wor'), /^world\nworld-/);
    assert.equal(offers('demo', 'robot.playo'), 'robot.playout=');
  });

  it('completes verbs, options, rigs and settings in zsh', { skip: needs('zsh') }, async () => {
    const file = await scriptFile('zsh', '_farhand');
    writeFileSync(path.join(path.dirname(file), '.zshrc'), ZSHRC);
    const env = { ZDOTDIR: path.dirname(file), FARHAND_COMPLETION: file };
    const typed = (line: string) => output('zsh', ['-f', '-c', TYPE, line], env).replace(/\n$/, '');
    assert.equal(typed('farhand doc'), 'farhand doctor ');
    assert.equal(typed('farhand hel'), 'farhand help ');
    assert.equal(typed('farhand help doc'), 'farhand help doctor ');
    assert.equal(typed('farhand demo --headl'), 'farhand demo --headless ');
    assert.equal(typed('farhand demo --rig two-a'), 'farhand demo --rig two-arms ');
    assert.equal(typed('farhand demo robot.playo'), 'farhand demo robot.playout=', 'no space after it');
  });

  it('completes verbs, options, rigs and settings in fish', { skip: needs('fish') }, async () => {
    const file = await scriptFile('fish', 'farhand.fish');
    const env = { HOME: path.dirname(file), FARHAND_COMPLETION: file };
    const offers = (line: string) =>
      output('fish', ['--no-config', '-c', 'source $FARHAND_COMPLETION; complete -C $argv[1]', line], env)
        .split('\n')
        .filter((each) => each !== '')
        .map((each) => each.split('\t')[0]);
    assert.deepEqual(offers('farhand doc'), ['doctor']);
    assert.deepEqual(offers('farhand help doc'), ['doctor']);
    assert.deepEqual(offers('farhand demo --headl'), ['--headless']);
    assert.deepEqual(offers('farhand demo --rig two-a'), ['two-arms']);
    assert.deepEqual(offers('farhand demo robot.playo'), ['robot.playout=']);
    assert.deepEqual(offers('farhand record robot --headl'), [], 'only the first word is the verb');
  });

  it('exists for bash, zsh and fish', async () => {
    await assert.rejects(runFarhand(['completion', 'csh']), /no completion for "csh"/);
  });
});
