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

/** Refuses to show, or to populate, single fields that the caller may read in no document: 400 `INVALID_QUERY`. */
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
 * Refuses to choose or order documents by fields that the caller may not read, by fields inside them, or by objects and
 * arrays around them: 400 `INVALID_FILTER`, `INVALID_QUERY`. Nothing has been looked up by then.
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
