import { AppError } from '../../core/errors.ts';

/** A part that is `null` is left out. */
export interface MailContent {
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
}

export interface MailTemplate extends MailContent {
  readonly name: string;
  /** Used if there is no `link`. */
  readonly withoutLink?: MailContent;
  /** Placeholder → alternative variable name. */
  readonly givenAs?: Readonly<Record<string, string>>;
  /** Placeholder → default value. */
  readonly otherwise?: Readonly<Record<string, string>>;
  /** Default of `{{siteName}}`. */
  readonly siteName: string;
}

export type BuiltIn = Omit<MailTemplate, 'siteName'>;

/** Nested values are reached by dotted paths. */
export type Variables = Readonly<Record<string, unknown>>;

const placeholder = /\{\{\{\s*([^{}\s]+)\s*\}\}\}|\{\{\s*([^{}\s]+)\s*\}\}/g;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** Subjects must not contain line breaks or control characters. */
const withoutLineBreaks = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]/gu, ' ');

/** Text, number or boolean at a dotted path of own properties; otherwise empty. */
const textAt = (variables: Variables, path: string): string => {
  let value: unknown = variables;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return '';
    value = (value as Variables)[key];
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
};

/** Characters of one part: a short template can repeat a long value many times. */
export const maxPartLength = 1024 * 1024;

const tooLong = (): AppError =>
  new AppError('INVALID_MAIL', 'The email would be larger than 1 MiB with its variables filled in.');

/** Values are never parsed as templates. Stops as soon as the text is too long. */
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

const mentions = (template: string, names: readonly string[]): boolean =>
  [...template.matchAll(placeholder)].some(([, raw, escaped = '']) => names.includes(raw ?? escaped));

/** True if every part of the email contains at least one of the variables. */
export const containsVariable = ({ html, text }: MailContent, names: readonly string[]): boolean =>
  [html, text].every((part) => part === null || mentions(part, names));

/** For sentences such as "your account at …". */
const unnamed = 'this app';

const named = ({ siteName, givenAs = {}, otherwise = {} }: MailTemplate, variables: Variables): Variables => {
  const others = Object.entries(givenAs).filter(([, other]) => Object.hasOwn(variables, other));
  const renamed = Object.fromEntries(others.map(([name, other]) => [name, variables[other]]));
  return { siteName: siteName || unnamed, ...otherwise, ...renamed, ...variables };
};

const hasLink = (variables: Variables): boolean =>
  Object.hasOwn(variables, 'link') && typeof variables.link === 'string' && variables.link !== '';

/**
 * Renders a template: `{{name}}` escaped in html, `{{{name}}}` raw; dotted paths; missing values are empty; nothing is
 * evaluated. Throws 400 `INVALID_MAIL` for a part over 1 MiB. The subject may be empty.
 */
export const renderTemplate = (template: MailTemplate, variables: Variables): MailContent => {
  const values = named(template, variables);
  const content: MailContent = (hasLink(values) ? undefined : template.withoutLink) ?? template;
  const { subject, html, text } = content;
  return {
    subject: fill(subject, values, withoutLineBreaks),
    html: html === null ? null : fill(html, values, escapeHtml, asItIs),
    text: text === null ? null : fill(text, values, asItIs),
  };
};
