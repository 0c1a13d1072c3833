import { element, setText } from '../dom.ts';

const KEY = 'farhand-theme';
const CHOICES = ['system', 'light', 'dark'] as const;
type Choice = (typeof CHOICES)[number];

const systemIsLight = matchMedia('(prefers-color-scheme: light)');

export const isLight = (): boolean => document.documentElement.dataset['theme'] === 'light';

/** Calls `changed` after the user or the system changed the theme. */
export function onThemeChange(changed: () => void): void {
  document.addEventListener('themechange', changed);
}

/** The button cycles through system, light and dark. `public/theme.js` sets the initial theme. */
export function startThemeButton(): void {
  const button = element('theme', HTMLButtonElement);
  const text = element('theme-text', HTMLElement);
  let choice = loadChoice();
  const apply = () => {
    const theme = choice === 'system' ? (systemIsLight.matches ? 'light' : 'dark') : choice;
    const changes = document.documentElement.dataset['theme'] !== theme;
    document.documentElement.dataset['theme'] = theme;
    button.dataset['choice'] = choice;
    setText(text, `Colours: ${choice}`);
    if (changes) document.dispatchEvent(new Event('themechange'));
  };
  button.addEventListener('click', () => {
    choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length]!;
    saveChoice(choice);
    apply();
  });
  systemIsLight.addEventListener('change', apply);
  apply();
}

function loadChoice(): Choice {
  try {
    return CHOICES.find((choice) => choice === localStorage.getItem(KEY)) ?? 'system';
  } catch {
    return 'system';
  }
}

function saveChoice(choice: Choice): void {
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // Storage is blocked: the choice lasts until the page closes.
  }
}
