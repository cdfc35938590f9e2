import { AppError, type FieldError } from '../core/errors.ts';
import { asciiHint, isMailbox } from '../core/schemas.ts';
import { cutText } from '../core/text.ts';
import { canonicalAddress } from './suppressions.ts';
import { type MailContent, renderTemplate, type Variables } from './templates/render.ts';
import type { TemplateReference } from './templates/templates.ts';

/** Limit of `to`, and of `replyTo`. */
export const maxRecipients = 50;

/** Mail servers accept 998 characters per line. */
export const maxSubjectLength = 998;

/** A line break in a header would start another header. */
export const oneLine = /^[^\p{Cc}\u2028\u2029]*$/u;

export type MailBody = Readonly<Record<string, unknown>>;

interface Addressing {
  readonly to: readonly string[];
  readonly replyTo: readonly string[];
}

export type MailRequest = Addressing &
  ({ readonly content: MailContent } | { readonly template: TemplateReference; readonly variables: Variables });

const maxItems = 100;

const invalid = (field: string, message: string): AppError =>
  new AppError('INVALID_MAIL', message, { errors: [{ field, message }] });

/** `null` counts as missing. */
const given = (body: MailBody, field: string): unknown =>
  Object.hasOwn(body, field) ? (body[field] ?? undefined) : undefined;

const textOf = (body: MailBody, field: string): string | undefined => {
  const value = given(body, field);
  if (value === undefined || typeof value === 'string') return value;
  throw invalid(field, `${field} must be a String`);
};

const quoted = (address: string): string => JSON.stringify(cutText(address, 64, '…'));

const checkAddress = (field: string, address: unknown): string => {
  if (typeof address !== 'string') throw invalid(field, `${field} must be a String or an Array of Strings`);
  const trimmed = address.trim();
  if (!isMailbox(trimmed))
    throw invalid(
      field,
      `${field} must contain valid email addresses: ${quoted(trimmed)} is not one${asciiHint(trimmed)}`,
    );
  return trimmed;
};

const addressesOf = (body: MailBody, field: 'to' | 'replyTo', whenEmpty: string): readonly string[] => {
  const value = given(body, field);
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0 || value === '') throw invalid(field, whenEmpty);
  if (list.length > maxRecipients) throw invalid(field, `${field} must have at most ${maxRecipients} addresses`);
  const byAddress = new Map<string, string>();
  for (const mailbox of list.map((address) => checkAddress(field, address))) {
    const address = canonicalAddress(mailbox);
    if (!byAddress.has(address)) byAddress.set(address, mailbox);
  }
  return [...byAddress.values()];
};

const addressingOf = (body: MailBody): Addressing => {
  const empty = 'Recipient list cannot be empty';
  if (given(body, 'to') === undefined) throw invalid('to', empty);
  return {
    to: addressesOf(body, 'to', empty),
    replyTo: given(body, 'replyTo') === undefined ? [] : addressesOf(body, 'replyTo', 'Reply-to list cannot be empty'),
  };
};

const isBlank = (text: string | null): boolean => text === null || text.trim() === '';

/** Throws 400 `INVALID_MAIL` without a one-line subject, or without html and text. */
export const checkContent = (
  { subject, html, text }: MailContent,
  whenEmpty = 'Provide at least one of html or text content.',
): MailContent => {
  if (isBlank(subject)) throw invalid('subject', 'Subject is required');
  if (!oneLine.test(subject))
    throw invalid('subject', 'subject must not contain line breaks or other control characters');
  if (subject.length > maxSubjectLength)
    throw invalid('subject', `subject must have at most ${maxSubjectLength} characters`);
  if (isBlank(html) && isBlank(text)) throw invalid('html', whenEmpty);
  return { subject, html: isBlank(html) ? null : html, text: isBlank(text) ? null : text };
};

const contentOf = (body: MailBody): MailContent => ({
  subject: textOf(body, 'subject') ?? '',
  html: textOf(body, 'html') ?? null,
  text: textOf(body, 'text') ?? null,
});

const addressFields = ['to', 'replyTo'];
const templateFields = ['templateId', 'templateName'];
const directFields = ['subject', 'html', 'text'];

/** Rejects fields that would otherwise be ignored silently, such as `cc` or `attachments`. */
const requireKnownFields = (body: MailBody, known: readonly string[]): void => {
  const field = Object.keys(body).find((name) => !known.includes(name) && given(body, name) !== undefined);
  if (field !== undefined) throw invalid(field, `${field} is not a known field: a mail has ${known.join(', ')}`);
};

const templateOf = (body: MailBody): TemplateReference | undefined => {
  const templateId = textOf(body, 'templateId');
  const templateName = textOf(body, 'templateName');
  if (templateId !== undefined && templateName !== undefined) {
    throw invalid('templateName', 'Give templateId or templateName, not both');
  }
  if (templateId !== undefined) return { templateId };
  return templateName === undefined ? undefined : { templateName };
};

const variablesOf = (body: MailBody): Variables | undefined => {
  const value = given(body, 'variables');
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid('variables', 'variables must be an Object');
  return value as Variables;
};

/** Throws 400 `INVALID_MAIL`. Content is a template only if `variables` are given. */
export const checkMail = (body: MailBody, siteName: string): MailRequest => {
  requireKnownFields(body, [...addressFields, ...directFields, ...templateFields, 'variables']);
  const addressing = addressingOf(body);
  const template = templateOf(body);
  const variables = variablesOf(body);
  if (!template) {
    const words = contentOf(body);
    const filled = variables ? renderTemplate({ ...words, name: '', siteName }, variables) : words;
    return { ...addressing, content: checkContent(filled) };
  }
  const own = directFields.find((field) => given(body, field) !== undefined);
  if (own) throw invalid(own, `${own} cannot be given together with a template`);
  return { ...addressing, template, variables: variables ?? {} };
};

export type BatchMail = Addressing & { readonly content: MailContent };

const checkItem = (body: MailBody): BatchMail => {
  const addressing = addressingOf(body);
  const template = [...templateFields, 'variables'].find((field) => given(body, field) !== undefined);
  if (template) throw invalid(template, 'Templates are not supported in a batch');
  requireKnownFields(body, [...addressFields, ...directFields]);
  return { ...addressing, content: checkContent(contentOf(body), 'Provide html or text') };
};

/** Parses the items of a batch. Throws 400 `INVALID_MAIL` for all if one is invalid; `errors` has its index. */
export const checkBatch = (bodies: readonly MailBody[]): BatchMail[] => {
  if (bodies.length === 0) throw new AppError('INVALID_MAIL', 'Batch cannot be empty');
  if (bodies.length > maxItems) throw new AppError('INVALID_MAIL', `Max ${maxItems} emails per batch`);
  const errors: FieldError[] = [];
  const mails = bodies.flatMap((body, index) => {
    try {
      return [checkItem(body)];
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      errors.push(...(error.errors ?? []).map((failed) => ({ index, field: '', message: error.message, ...failed })));
      return [];
    }
  });
  const [first] = errors;
  if (first) throw new AppError('INVALID_MAIL', first.message, { errors });
  return mails;
};
