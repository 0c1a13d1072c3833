import { PERSON_NAME } from '../../src/messages/person-name.ts';
import { element } from '../dom.ts';

const KEY = 'farhand.person';
const UNNAMED = 'me';

/** The field with the name under which a measured hand is stored. The console and the headset page share the last one. */
export class PersonName {
  readonly #field: HTMLInputElement;

  constructor(id: string) {
    this.#field = element(id, HTMLInputElement);
    this.#field.value = remembered();
    this.#field.addEventListener('input', () => this.#check());
    this.#field.addEventListener('change', () => this.take());
  }

  /** The name to use; a name that cannot be a file is not. */
  take(): string {
    const name = this.#field.value.trim();
    if (!PERSON_NAME.test(name)) return UNNAMED;
    try {
      localStorage.setItem(KEY, name);
    } catch {
      // Storage is blocked: the name counts for this visit.
    }
    return name;
  }

  #check(): void {
    const isUsable = PERSON_NAME.test(this.#field.value.trim());
    this.#field.setCustomValidity(isUsable ? '' : 'Use letters, digits, blanks, - and _ (40 at most).');
  }
}

function remembered(): string {
  try {
    const name = localStorage.getItem(KEY) ?? UNNAMED;
    return PERSON_NAME.test(name) ? name : UNNAMED;
  } catch {
    return UNNAMED;
  }
}
