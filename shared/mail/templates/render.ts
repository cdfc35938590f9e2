import { AppError } from '../../core/errors.ts';

/** A mail with placeholders, as `renderTemplate` fills them in; a part that is `null` is left out of the mail. */
export interface MailContent {
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
}

export interface MailTemplate extends MailContent {
  readonly name: string;
  /** What is used in its place where no `link` is given. */
  readonly withoutLink?: MailContent;
  /** Placeholder → another name that its variable may be given by. */
  readonly givenAs?: Readonly<Record<string, string>>;
  /** Placeholder → what it stands for where no variable is given. */
  readonly otherwise?: Readonly<Record<string, string>>;
  /** What `{{siteName}}` stands for where no variable of that name is given. */
  readonly siteName: string;
}

/** A template of the service's own; whoever sends it says what the site is called. */
export type BuiltIn = Omit<MailTemplate, 'siteName'>;

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

/** A text as it stands in HTML, in attributes too. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** A value as it stands in a subject: its line breaks and other control characters are spaces (contract 5, "send"). */
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
  new AppError('INVALID_MAIL', 'The email would be larger than 1 MiB with its variables filled in.');

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

const mentions = (template: string, names: readonly string[]): boolean =>
  [...template.matchAll(placeholder)].some(([, raw, escaped = '']) => names.includes(raw ?? escaped));

/** Whether whoever reads the mail, in whichever of its forms, finds at least one of the variables in it. */
export const carriesProof = ({ html, text }: MailContent, names: readonly string[]): boolean =>
  [html, text].every((part) => part === null || mentions(part, names));

/** What a site without a name is called, in a sentence such as "your account at …". */
const unnamed = 'this app';

/** The variables by the names of the placeholders. */
const named = ({ siteName, givenAs = {}, otherwise = {} }: MailTemplate, variables: Variables): Variables => {
  const others = Object.entries(givenAs).filter(([, other]) => Object.hasOwn(variables, other));
  const renamed = Object.fromEntries(others.map(([name, other]) => [name, variables[other]]));
  return { siteName: siteName || unnamed, ...otherwise, ...renamed, ...variables };
};

const hasLink = (variables: Variables): boolean =>
  Object.hasOwn(variables, 'link') && typeof variables.link === 'string' && variables.link !== '';

/**
 * Fills a template in: `{{name}}` escaped in html and as it is in text and subject, `{{{name}}}` as it is; dotted
 * paths; what is missing is empty; nothing is evaluated (contract 5, "Templates"). A part over 1 MiB → 400
 * `INVALID_MAIL`. A part that the template has not is `null`; the subject may come out empty.
 */
export const renderTemplate = (template: MailTemplate, variables: Variables): MailContent => {
  const values = named(template, variables);
  const content: MailContent = (hasLink(values) ? undefined : template.withoutLink) ?? template;
  const { subject, html, text } = content;
  return {
    subject: fill(subject, values, unbroken),
    html: html === null ? null : fill(html, values, escapeHtml, asItIs),
    text: text === null ? null : fill(text, values, asItIs),
  };
};
