import type { CollationOptions, Db, Document, ObjectId } from 'mongodb';
import { clock } from '../../core/clock.ts';
import { AppError, type FieldError } from '../../core/errors.ts';
import type { Project } from '../../projects/project.ts';
import type { Collection, Field } from '../collection.ts';
import { onCollection } from '../find-collections.ts';
import { uniqueFilter } from '../indexes/indexes.ts';
import { isActive } from '../trash-conditions.ts';
import {
  type ClosedObject,
  type Constraint,
  newConstraints,
  newlyClosed,
  pathTo,
  unknownNames,
} from './new-constraints.ts';
import { listCollation, listFilter, listLabel, newLists, type UniqueList } from './unique-lists.ts';

export const newlyUnique = (now: readonly Field[] | null, before: readonly Field[] | null): readonly Field[] =>
  (now ?? []).filter(
    (field) =>
      field.unique &&
      !before?.some(
        (old) => old.unique && old.key === field.key && old.type === field.type && old.uniquePer === field.uniquePer,
      ),
  );

const examples = 5;
const perPass = 25;
/** All checks of an edit. API Gateway waits 30 s, and unique indexes need some of that. */
const limitMs = 20_000;
/** The database stops this long before the limit. */
const marginMs = 2000;

const maxUnknown = 100;

interface Broken {
  readonly count: number;
  readonly examples: readonly ObjectId[];
}

const toError = (field: string, message: string, { count, examples: ids }: Broken): FieldError => ({
  field,
  message: `${field} ${message}`,
  count,
  examples: ids.map(String),
});

interface Checked {
  readonly project: Project;
  readonly name: string;
  readonly ownerField: string;
  readonly deadline: number;
}

const firstOf = async <T extends Document>(
  { project, name, deadline }: Checked,
  pipeline: Document[],
  collation?: CollationOptions,
): Promise<T | undefined> => {
  const leftMs = deadline - clock.now();
  if (leftMs <= marginMs) throw new AppError('QUERY_TIMEOUT', 'Checking documents took too long.');
  const options = { maxTimeMS: leftMs - marginMs, allowDiskUse: true, ...(collation && { collation }) };
  const aggregate = (db: Db) => db.collection(name).aggregate<T>(pipeline, options).toArray();
  const [found] = await onCollection(project, name, aggregate, leftMs);
  return found;
};

interface Count {
  readonly stages: Document[];
  readonly errorOf: (row: Broken & { readonly _id: unknown }) => FieldError;
}

const ofConstraint = ({ path, message, schema }: Constraint): Count => ({
  stages: [
    { $match: { $nor: [{ $jsonSchema: schema }] } },
    { $group: { _id: null, count: { $sum: 1 }, examples: { $firstN: { n: examples, input: '$_id' } } } },
  ],
  errorOf: (row) => toError(path, message, row),
});

const ofClosed =
  (name: string) =>
  (object: ClosedObject): Count => ({
    stages: unknownNames(object, examples, maxUnknown),
    errorOf: (row) =>
      toError([pathTo(object), String(row._id)].filter(Boolean).join('.'), `is not a field of "${name}"`, row),
  });

interface Distinct {
  readonly field: string;
  readonly match: Document;
  readonly _id: unknown;
  readonly collation?: CollationOptions | undefined;
}

const checkUnique = (checked: Checked, field: Field): Promise<FieldError[]> => {
  const _id = field.uniquePer ? { value: `$${field.key}`, owner: `$${checked.ownerField}` } : `$${field.key}`;
  return checkDistinct(checked, { field: field.key, match: uniqueFilter(field), _id });
};

/** An index treats a missing field as `null`; `$group` would distinguish them. */
const checkList = (checked: Checked, collection: Collection, list: UniqueList): Promise<FieldError[]> => {
  const values = list.fields.map((name, at) => [`f${at}`, { $ifNull: [{ $getField: { $literal: name } }, null] }]);
  return checkDistinct(checked, {
    field: listLabel(list),
    match: listFilter(collection, list),
    _id: Object.fromEntries(values),
    collation: listCollation(list),
  });
};

const checkDistinct = async (checked: Checked, { field, match, _id, collation }: Distinct): Promise<FieldError[]> => {
  const ids = { $reduce: { input: '$ids', initialValue: [], in: { $concatArrays: ['$$value', '$$this'] } } };
  const stages = [
    { $match: match },
    { $group: { _id, n: { $sum: 1 }, ids: { $firstN: { n: examples, input: '$_id' } } } },
    { $match: { n: { $gt: 1 } } },
    { $group: { _id: null, count: { $sum: '$n' }, ids: { $firstN: { n: examples, input: '$ids' } } } },
    { $project: { count: 1, examples: { $slice: [ids, examples] } } },
  ];
  const found = await firstOf<Broken>(checked, stages, collation);
  return found ? [toError(field, 'must be unique', found)] : [];
};

/** 409 `SCHEMA_CONFLICT` with the documents that prevent an edit. */
export const schemaConflict = (message: string, errors: readonly FieldError[] = [], cause?: unknown): AppError =>
  new AppError('SCHEMA_CONFLICT', message, { ...(errors.length > 0 && { errors }), cause });

const inTime = async <T>(force: boolean, checks: () => Promise<T>): Promise<T> => {
  try {
    return await checks();
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'QUERY_TIMEOUT')) throw error;
    const orForce = force ? '' : ', or send "force": true to hold only new writes to it';
    throw schemaConflict(
      `The collection is too large to check its documents against the new schema in time. Change fewer fields in one request${orForce}.`,
      [],
      error,
    );
  }
};

const checkAll = async (checked: Checked, counts: readonly Count[]): Promise<FieldError[]> => {
  const errors: FieldError[] = [];
  for (let start = 0; start < counts.length; start += perPass) {
    const pass = counts.slice(start, start + perPass);
    const facets = Object.fromEntries(pass.map(({ stages }, index) => [`c${index}`, stages]));
    const found = await firstOf<Record<string, (Broken & { _id: unknown })[]>>(checked, [
      { $match: isActive },
      { $facet: facets },
    ]);
    for (const [index, { errorOf }] of pass.entries()) errors.push(...(found?.[`c${index}`] ?? []).map(errorOf));
  }
  return errors;
};

/**
 * Throws 409 `SCHEMA_CONFLICT` if active documents violate the new schema: per path, the number of documents and up to
 * 5 ids; or if the checks take more than 20 s. With `force`, only duplicates of unique values count.
 */
export const refuseConflicts = async (
  project: Project,
  edited: Collection,
  before: Collection,
  force: boolean,
): Promise<void> => {
  const { name, schema: now, rls } = edited;
  const { schema: schemaBefore, closed } = before;
  const { ownerField } = rls;
  const checked: Checked = { project, name, ownerField, deadline: clock.now() + limitMs };
  const unique: FieldError[] = [];
  const broken = await inTime(force, async () => {
    for (const field of newlyUnique(now, schemaBefore)) unique.push(...(await checkUnique(checked, field)));
    for (const list of newLists(edited, before)) unique.push(...(await checkList(checked, edited, list)));
    if (force) return [];
    const counts = newConstraints(now, schemaBefore).map(ofConstraint);
    return checkAll(checked, [
      ...counts,
      ...newlyClosed(edited, { schema: schemaBefore, ...(closed && { closed }) }).map(ofClosed(name)),
    ]);
  });
  const errors = [...broken, ...unique];
  if (errors.length === 0) return;
  const remedy =
    unique.length > 0
      ? 'Make the values unique first.'
      : 'Change them first, or send "force": true to hold only new writes to the new schema.';
  throw schemaConflict(`Documents of this collection do not fit the new schema. ${remedy}`, errors);
};
