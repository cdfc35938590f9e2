import { AppError } from '../../core/errors.ts';
import { cutText } from '../../core/text.ts';
import type { JsonObject } from '../document.ts';
import { type ListQuery, listQueryOf } from './list-query.ts';

type Read = (value: unknown) => string | undefined;

const number: Read = (value) => (typeof value === 'number' ? String(value) : undefined);
const flag: Read = (value) => (typeof value === 'boolean' ? String(value) : undefined);
const text: Read = (value) => (typeof value === 'string' ? value : undefined);
const list: Read = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join(',') : text(value);

/** The members of a body other than `where`: a description, and their text as a list parameter. */
const members: ReadonlyMap<string, readonly [described: string, read: Read]> = new Map([
  ['sort', ['a list of texts or one text', list]],
  ['fields', ['a list of texts or one text', list]],
  ['populate', ['a list of texts or one text', list]],
  ['limit', ['a number', number]],
  ['page', ['a number', number]],
  ['skip', ['a number', number]],
  ['cursor', ['a text', text]],
  ['search', ['a text', text]],
  ['count', ['true or false', flag]],
  ['include_deleted', ['true or false', flag]],
  ['meta', ['true, false or rev', (value) => flag(value) ?? (value === 'rev' ? value : undefined)]],
]);

const refusal = (code: 'INVALID_BODY' | 'INVALID_QUERY', field: string, message: string): AppError =>
  new AppError(code, message, { errors: [{ field, message }] });

export const parseQueryBody = ({ where, ...body }: JsonObject): ListQuery => {
  const given = new Map<string, string>();
  for (const [name, value] of Object.entries(body)) {
    const [described, read] = members.get(name) ?? [];
    if (!read) {
      const known = ['where', ...members.keys()].join(', ');
      throw refusal('INVALID_BODY', cutText(name, 64), `"${cutText(name, 64)}" is not known. A query takes ${known}.`);
    }
    const parameter = read(value);
    if (parameter === undefined) throw refusal('INVALID_QUERY', name, `${name} must be ${described}.`);
    given.set(name, parameter);
  }
  return listQueryOf(given, { filters: [], where });
};
