import { AppError } from '../../core/errors.ts';
import type { MailContent } from './mail-template.ts';

/** Values by name; objects and arrays are reached into with dots. */
export type Variables = Readonly<Record<string, unknown>>;

const placeholder = /\{\{\{\s*([^{}\s]+)\s*\}\}\}|\{\{\s*([^{}\s]+)\s*\}\}/g;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

const unbroken = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]/gu, ' ');

/** The value at a dotted path of own properties; empty for what is missing or no text, number or boolean. */
const textAt = (variables: Variables, path: string): string => {
  let value: unknown = variables;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return '';
    value = (value as Variables)[key];
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
};

/** Of one part of a mail, in characters: a short template can repeat a long value very often. */
export const maxPartLength = 1024 * 1024;

const tooLong = (): AppError =>
  new AppError('INVALID_MAIL', 'The mail would be larger than 1 MiB with its variables filled in.');

/** Replaces every placeholder; a value is never read as a template itself. Stops as soon as the text is too long. */
const fill = (template: string, variables: Variables, show: (text: string) => string, showRaw = show): string => {
  let length = template.length;
  const bounded = (value: string, shown: (text: string) => string): string => {
    if (length + value.length > maxPartLength) throw tooLong();
    const text = shown(value);
    length += text.length;
    return text;
  };
  const filled = template.replace(placeholder, (whole, raw: string | undefined, name: string | undefined) => {
    length -= whole.length;
    return raw === undefined ? bounded(textAt(variables, name ?? ''), show) : bounded(textAt(variables, raw), showRaw);
  });
  if (filled.length > maxPartLength) throw tooLong();
  return filled;
};

const asItIs = (text: string): string => text;

/** `{{name}}` escaped, `{{{name}}}` as it is. Over 1 MiB of characters → 400 `INVALID_MAIL`, as for all parts. */
export const interpolateHtml = (template: string, variables: Variables): string =>
  fill(template, variables, escapeHtml, asItIs);

/** Fills plain text in, with the values as they are. */
export const interpolateText = (template: string, variables: Variables): string => fill(template, variables, asItIs);

/** As plain text, but control characters and line breaks of values become spaces (contract 5, "send"). */
export const interpolateSubject = (template: string, variables: Variables): string =>
  fill(template, variables, unbroken);

const mentions = (template: string, names: readonly string[]): boolean =>
  [...template.matchAll(placeholder)].some(([, raw, escaped = '']) => names.includes(raw ?? escaped));

/** Whether whoever reads the mail, in whichever of its forms, finds at least one of the variables in it. */
export const carriesProof = ({ html, text }: MailContent, names: readonly string[]): boolean =>
  [html, text].every((part) => part === null || mentions(part, names));
