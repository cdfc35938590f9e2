import * as v from 'valibot';
import { oneLine } from '../limits.ts';

/** The longest html or text, in characters. */
const maxBodyLength = 256 * 1024;

const line = (longest: number) =>
  v.pipe(
    v.string('must be a String'),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(longest, `must have at most ${longest} characters`),
    v.regex(oneLine, 'must not contain control characters'),
  );

const key = v.nullable(
  v.pipe(
    v.string('must be a String or null'),
    v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must have 1 to 64 letters, digits, dots, dashes and underscores'),
  ),
);

/** A part of the mail; a blank one is as none. */
const part = v.nullable(
  v.pipe(
    v.string('must be a String or null'),
    v.maxLength(maxBodyLength, `must have at most ${maxBodyLength} characters`),
    v.transform((text) => (text.trim() === '' ? null : text)),
  ),
);

const optional = { key: v.optional(key), html: v.optional(part), text: v.optional(part) };

/** What a template is made from (contract 5, "Templates"). */
export const newTemplateEntries = { name: line(100), subject: line(500), ...optional };

/** What may be changed of one; what is left out stays, `null` clears it. */
export const templateChangesEntries = {
  name: v.optional(newTemplateEntries.name),
  subject: v.optional(newTemplateEntries.subject),
  ...optional,
};

type Output<E extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<E, undefined>>;

export type NewTemplate = Output<typeof newTemplateEntries>;
export type TemplateChanges = Output<typeof templateChangesEntries>;
