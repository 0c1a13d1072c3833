import { SaxesParser } from 'saxes';
import { TeleopError } from '../../core/errors.ts';

export interface XmlElement {
  name: string;
  attributes: Record<string, string>;
  children: XmlElement[];
  /** Line of its start tag, counted from 1. */
  line: number;
}

/** Parses XML and returns its root element; `file` is the name used in errors. */
export function readXml(text: string, file: string): XmlElement {
  const parser = new SaxesParser();
  const open: XmlElement[] = [];
  let root: XmlElement | null = null;
  let line = 1;
  parser.on('error', (error) => {
    throw badUrdf(file, parser.line, error.message.replace(/^\d+:\d+: /, ''), 'Fix the XML at that line.');
  });
  parser.on('opentagstart', () => {
    line = parser.line;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const element: XmlElement = { name, attributes, children: [], line };
    open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
  });
  parser.on('closetag', () => {
    open.pop();
  });
  parser.write(text).close();
  return root!;
}

export function badUrdf(
  file: string,
  line: number,
  what: string,
  hint = 'Fix that line; docs/kinematics.md lists the supported parts of URDF.',
): TeleopError {
  return new TeleopError('bad-model', `${file}:${line}: ${what}`, { hint });
}

export const childrenOf = (element: XmlElement, name: string): XmlElement[] =>
  element.children.filter((child) => child.name === name);

export const childOf = (element: XmlElement, name: string): XmlElement | undefined =>
  element.children.find((child) => child.name === name);

/** Reads attributes of the elements of one file; every error names the line. */
export interface XmlReader {
  readonly file: string;
  text(element: XmlElement, attribute: string): string;
  /** Without `fallback` the attribute is required. */
  number(element: XmlElement, attribute: string, fallback?: number): number;
  vector(element: XmlElement, attribute: string, fallback?: Vector): Vector;
}

export type Vector = [number, number, number];

export function createXmlReader(file: string): XmlReader {
  const complain = (element: XmlElement, what: string) =>
    badUrdf(file, element.line, `<${element.name}> ${what}`);
  const reader: XmlReader = {
    file,
    text(element, attribute) {
      const value = element.attributes[attribute];
      if (value === undefined || value === '') throw complain(element, `has no ${attribute}`);
      return value;
    },
    number(element, attribute, fallback) {
      const given = element.attributes[attribute];
      if (given === undefined && fallback !== undefined) return fallback;
      const value = Number(reader.text(element, attribute));
      if (!Number.isFinite(value)) throw complain(element, `${attribute} "${given}" is not a number`);
      return value;
    },
    vector(element, attribute, fallback) {
      const given = element.attributes[attribute];
      if (given === undefined && fallback !== undefined) return fallback;
      const values = reader.text(element, attribute).trim().split(/\s+/).map(Number);
      if (values.length !== 3 || !values.every(Number.isFinite))
        throw complain(element, `${attribute} "${given}" is not three numbers`);
      return values as Vector;
    },
  };
  return reader;
}
