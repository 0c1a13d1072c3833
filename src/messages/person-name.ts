/** A person's name: letters, digits, blanks, `-` and `_`. It becomes a file name. */
export const PERSON_NAME = /^[\p{L}\p{N}][\p{L}\p{N} _-]{0,39}$/u;
