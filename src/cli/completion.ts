import { TeleopError } from '../core/errors.ts';
import { loadRig, rigNames } from '../rig/rig.ts';
import { expectWords, type Given, RIG_OPTION, type Verb } from './arguments.ts';

/** What can follow `farhand`, for one verb. */
interface Completion {
  verb: string;
  about: string;
  options: readonly string[];
  takesSettings: boolean;
}

interface Words {
  verbs: readonly Completion[];
  rigs: readonly string[];
  settings: readonly string[];
}

const SHELLS = { bash, zsh, fish } as const;

/** `verbs` loads every verb: this one completes the others. */
export const completionVerb = (verbs: () => Promise<readonly Verb[]>): Verb => {
  const verb: Verb = {
    name: 'completion',
    usage: 'bash|zsh|fish',
    about: 'Prints a script that completes verbs, options, rigs and settings in a shell.',
    examples: [
      'farhand completion bash > ~/.local/share/bash-completion/completions/farhand',
      'farhand completion zsh > "$fpath[1]/_farhand"',
      'farhand completion fish > ~/.config/fish/completions/farhand.fish',
    ],
    options: {},
    async run(given: Given) {
      expectWords(verb, given, 1, 1);
      const [shell = ''] = given.words;
      if (!Object.hasOwn(SHELLS, shell))
        throw new TeleopError('bad-option', `there is no completion for "${shell}"`, {
          hint: 'Use bash, zsh or fish.',
        });
      console.log(SHELLS[shell as keyof typeof SHELLS](wordsOf(await verbs())));
      return 0;
    },
  };
  return verb;
};

function wordsOf(verbs: readonly Verb[]): Words {
  const settings = loadRig('demo', []).entries.map(({ key }) => key);
  return {
    verbs: verbs.map(({ name, about, options }) => ({
      verb: name,
      about,
      options: [...Object.keys(options), 'help'].map((option) => `--${option}`),
      takesSettings: options['rig'] === RIG_OPTION,
    })),
    rigs: rigNames(),
    settings,
  };
}

function bash({ verbs, rigs, settings }: Words): string {
  const cases = verbs.map(
    ({ verb, options, takesSettings }) =>
      `    ${verb}) words="${options.join(' ')}"${takesSettings ? '; words="$words $settings"' : ''} ;;`,
  );
  return `# Completion of farhand for bash.
_farhand() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  local settings="${settings.map((key) => `${key}=`).join(' ')}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${verbs.map(({ verb }) => verb).join(' ')} help" -- "$word"))
    return
  fi
  if [ "$previous" = "--rig" ]; then
    COMPREPLY=($(compgen -W "${rigs.join(' ')}" -- "$word") $(compgen -f -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    help) words="${verbs.map(({ verb }) => verb).join(' ')}" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ "\${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
  case "\${COMPREPLY[0]:-}" in *=) compopt -o nospace 2>/dev/null ;; esac
}
complete -F _farhand farhand`;
}

function zsh({ verbs, rigs, settings }: Words): string {
  const quoted = (text: string) => text.replaceAll("'", '’').replaceAll(':', '\\:').replaceAll('`', '');
  const named = verbs.map(({ verb, about }) => `    '${verb}:${quoted(about)}'`).join('\n');
  const cases = verbs.map(
    ({ verb, options, takesSettings }) =>
      `    ${verb}) compadd -- ${options.join(' ')}${takesSettings ? '; compadd -S "" -- $settings' : ''} ;;`,
  );
  return `#compdef farhand
# Completion of farhand for zsh.
_farhand() {
  local -a verbs settings
  verbs=(
${named}
  )
  settings=(${settings.map((key) => `${key}=`).join(' ')})
  if (( CURRENT == 2 )); then verbs+=('help:Shows what a verb does.'); _describe verb verbs; return; fi
  if [[ $words[CURRENT-1] == --rig ]]; then compadd -- ${rigs.join(' ')}; _files; return; fi
  case $words[2] in
${cases.join('\n')}
    help) _describe verb verbs; return ;;
  esac
  _files
}
# Sourced, or found in fpath.
if [[ $funcstack[1] == _farhand ]]; then _farhand "$@"; else compdef _farhand farhand; fi`;
}

/** Only what stands right behind `farhand` is its verb: other words may have the name of one, too. */
const FISH_FUNCTIONS = `function __farhand_begins
  test (count (commandline -opc)) -eq 1
end
function __farhand_is
  set -l words (commandline -opc)
  test (count $words) -gt 1; and contains -- $words[2] $argv
end`;

function fish({ verbs, rigs, settings }: Words): string {
  const quoted = (text: string) => text.replaceAll("'", '’');
  const lines = verbs.flatMap(({ verb, about, options, takesSettings }) => [
    `complete -c farhand -n '__farhand_begins; or __farhand_is help' -a ${verb} -d '${quoted(about)}'`,
    ...options.map((option) => {
      const values = option === '--rig' ? ` -r -a '${rigs.join(' ')}'` : '';
      return `complete -c farhand -n '__farhand_is ${verb}' -l ${option.slice(2)}${values}`;
    }),
    ...(takesSettings ? [`complete -c farhand -n '__farhand_is ${verb}' -a '$__farhand_settings'`] : []),
  ]);
  return `# Completion of farhand for fish.
${FISH_FUNCTIONS}
set -g __farhand_settings ${settings.map((key) => `${key}=`).join(' ')}
complete -c farhand -n '__farhand_begins; or __farhand_is help' -f
complete -c farhand -n __farhand_begins -a help -d 'Shows what a verb does.'
${lines.join('\n')}`;
}
