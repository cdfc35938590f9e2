import { shown } from '../../collections/schema/field-path.ts';
import type { FieldRight } from '../../collections/schema/field-rights.ts';
import { AppError } from '../../core/errors.ts';
import { relationOf, type Unreadable } from '../access/field-rights.ts';
import { invalidFilter, type ParsedFilter, pathsOf } from './filter.ts';
import type { Sort } from './sort.ts';

const touches = (path: string, rights: readonly FieldRight[], orAround: boolean): boolean =>
  rights.some((right) => {
    const { kind } = relationOf(path, right);
    return kind !== 'none' && (orAround || kind !== 'around');
  });

const unreadableField = (parameter: string, path: string): AppError => {
  const message = `${parameter}: you may not read "${shown(path)}". Leave it out.`;
  return new AppError('INVALID_QUERY', message, { errors: [{ field: path, message }] });
};

/** Throws 400 `INVALID_QUERY` for requested or populated fields that the caller may read in no document. */
export const requireReadable = (
  { always }: Unreadable,
  asked: { readonly populate: readonly string[]; readonly fields?: readonly string[] },
): void => {
  for (const [parameter, paths] of Object.entries(asked)) {
    const path = paths.find((each) => touches(each, always, false));
    if (path !== undefined) throw unreadableField(parameter, path);
  }
};

/**
 * Throws 400 `INVALID_FILTER` or `INVALID_QUERY` for filters or sorts by fields that the caller may not read, fields
 * inside them, or objects and arrays around them. Runs before any look-up.
 */
export const requireUsable = (
  rights: readonly FieldRight[],
  filters: readonly ParsedFilter[],
  sort: Sort | readonly [] = [],
): void => {
  const filtered = pathsOf(filters).find((path) => touches(path, rights, true));
  if (filtered !== undefined) {
    throw invalidFilter(filtered, 'you cannot filter by this field, because you may not read it or a field inside it.');
  }
  const sorted = sort.find(({ path }) => touches(path, rights, true));
  if (sorted) throw unreadableField('sort', sorted.path);
};
