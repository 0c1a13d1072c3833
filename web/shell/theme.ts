import { element, setText } from '../dom.ts';

const KEY = 'farhand-theme';
const CHOICES = ['system', 'light', 'dark'] as const;
type Choice = (typeof CHOICES)[number];

const systemIsLight = matchMedia('(prefers-color-scheme: light)');

export const isLight = (): boolean => document.documentElement.dataset['theme'] === 'light';

/** Calls back after the colours changed, by the user or by the system. */
export function onThemeChange(changed: () => void): void {
  document.addEventListener('themechange', changed);
}

/** The button that goes through system, light and dark. `public/theme.js` has set the first one already. */
export function startThemeButton(): void {
  const button = element('theme', HTMLButtonElement);
  const text = element('theme-text', HTMLElement);
  let choice = kept();
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
    keep(choice);
    apply();
  });
  systemIsLight.addEventListener('change', apply);
  apply();
}

function kept(): Choice {
  try {
    return CHOICES.find((choice) => choice === localStorage.getItem(KEY)) ?? 'system';
  } catch {
    return 'system';
  }
}

function keep(choice: Choice): void {
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // Then it holds until the page is closed.
  }
}
