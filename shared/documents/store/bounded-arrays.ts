import type { Field, ValueType } from '../../collections/collection.ts';
import { boundMessage, brokenBound } from '../../collections/schema/field-bounds.ts';
import { fieldAt, isPosition } from '../../collections/schema/field-path.ts';
import { type AppError, validationFailed } from '../../core/errors.ts';
import type { Document, JsonObject } from '../document.ts';
import type { Guard } from './guarded-write.ts';
import { valueAt } from './update-path.ts';

/** An array in which an update sets single elements, or something inside them. */
interface Touched {
  readonly path: string;
  readonly at: ValueType;
  readonly position: number;
}

const touchedBy = (fields: readonly Field[], path: string): readonly Touched[] => {
  const segments = path.split('.');
  return segments.flatMap((segment, index) => {
    if (index === 0 || !isPosition(segment)) return [];
    const above = segments.slice(0, index).join('.');
    const at = fieldAt(fields, above);
    return at?.type === 'Array' ? [{ path: above, at, position: Number(segment) }] : [];
  });
};

const unique = { uniqueItems: true } as const;

const broken = (path: string, message: string): AppError =>
  validationFailed({ field: path, message: `${path} ${message}` });

/** MongoDB cannot compare the elements. So the document is read, and the write requires that its array is unchanged. */
const mustStayUnique = ({ path }: Touched, applied: (document: Document) => unknown): Guard => ({
  filter: { [path]: { $in: [] } },
  filterFor: (document) => ({ [path]: { $eq: valueAt(document, path) ?? null } }),
  refusal: (document) => {
    const array = valueAt(applied(document) as Document, path);
    const message = Array.isArray(array) ? brokenBound(unique, array) : undefined;
    return message === undefined ? undefined : broken(path, message);
  },
});

/**
 * The guards that keep arrays within their bounds if an update sets elements of them. Throws 400 `VALIDATION_FAILED`
 * for an element beyond `maxItems`. `applied` computes the result of the update.
 */
export const arrayGuards = (
  fields: readonly Field[],
  set: JsonObject,
  applied: (document: Document) => unknown,
): readonly Guard[] => {
  const guards = new Map<string, Guard>();
  for (const path of Object.keys(set)) {
    if (!path.includes('.')) continue;
    for (const touched of touchedBy(fields, path)) {
      const { maxItems = Number.POSITIVE_INFINITY } = touched.at;
      if (touched.position >= maxItems) throw broken(touched.path, boundMessage(touched.at, 'maxItems'));
      if (touched.at.uniqueItems) guards.set(touched.path, mustStayUnique(touched, applied));
    }
  }
  return [...guards.values()];
};
