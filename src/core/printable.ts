/**
 * Text from outside for a terminal or a log: control characters and those that reverse the writing direction
 * become �, so that nobody moves the cursor, forges a line or hides a part of one.
 */
export const printable = (text: string): string => text.replace(UNPRINTABLE, '\u{fffd}');

const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
