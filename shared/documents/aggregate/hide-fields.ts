import { hiddenFields, isHiddenPath } from '../../collections/collection.ts';
import { isFieldPath } from '../../collections/schema/field-path.ts';
import type { FieldRight } from '../../collections/schema/field-rights.ts';
import { relationOf } from '../access/field-rights.ts';
import type { JsonObject } from '../document.ts';
import { isJsonObject } from '../values.ts';
import { invalidPipeline, type Pipeline, type Stage, stageParts } from './pipeline.ts';

/** The fields to remove: what nobody sees, and what the caller may not read; those inside another go with it. */
const removed = (unreadable: readonly FieldRight[]): readonly string[] => {
  const paths = [...new Set(unreadable.map(({ path }) => path))];
  return [...hiddenFields, ...paths.filter((path) => !paths.some((other) => path.startsWith(`${other}.`)))];
};

/** Removes what the caller does not see of the documents that a join has put into a field, if it has a name. */
export const hideIn = (path: unknown, unreadable: readonly FieldRight[]): Stage[] =>
  typeof path === 'string' ? [{ $unset: removed(unreadable).map((field) => `${path}.${field}`) }] : [];

/** Stages that hand documents on as they are stored. */
export const passing = /^\$(match|sort|limit|skip|sample|geoNear|search|vectorSearch)$/;

/** Stages that hand on nothing but what they name. */
const picking = /^\$(group|count|sortByCount|bucket|bucketAuto)$/;

/** Operators that reach a field without a path that names it. */
const reaching: ReadonlySet<string> = new Set(['$getField', '$jsonSchema']);

/** Whether a text names a hidden field, or the whole document with it. */
const namesHidden = (text: string): boolean =>
  /^\$\$(ROOT|CURRENT)\b/.test(text) || isHiddenPath(text.startsWith('$') ? text.slice(1) : text);

/** Whether an operand can tell of what nobody sees. */
const tells = (operand: unknown): boolean => {
  if (typeof operand === 'string') return namesHidden(operand);
  if (Array.isArray(operand)) return operand.some(tells);
  if (!isJsonObject(operand)) return false;
  return Object.entries(operand).some(([key, value]) => isHiddenPath(key) || reaching.has(key) || tells(value));
};

/**
 * A `$project` that names what it keeps, which leaves everything else out; `_id` alone may be left out in either kind.
 */
const keeps = (operand: unknown): boolean =>
  isJsonObject(operand) &&
  Object.entries(operand).some(
    ([key, value]) => key !== '_id' && (value === true || (typeof value === 'number' && value !== 0)),
  );

/** Whether a text may name a field that the caller may not read, one inside it or around it. */
const touches = (text: string, unreadable: readonly FieldRight[]): boolean => {
  const path = text.startsWith('$') ? text.slice(1) : text;
  return unreadable.some((right) => relationOf(path, right).kind !== 'none');
};

/** Whether an operand may tell of what the caller may not read; a value that looks like such a field counts too. */
export const mayTell = (operand: unknown, unreadable: readonly FieldRight[]): boolean => {
  if (unreadable.length === 0) return false;
  if (typeof operand === 'string') return touches(operand, unreadable);
  if (Array.isArray(operand)) return operand.some((each) => mayTell(each, unreadable));
  if (!isJsonObject(operand)) return false;
  return Object.entries(operand).some(([key, value]) => touches(key, unreadable) || mayTell(value, unreadable));
};

/** Refuses an operand that reads an index before anything can be hidden: 400 `INVALID_PIPELINE`. */
export const refuseHidden = (name: string, operand: unknown): void => {
  if (!tells(operand)) return;
  throw invalidPipeline(
    `${name} names ${hiddenFields.join(', ')}, which are the service's own, or the whole document with them. Name other fields.`,
  );
};

/**
 * Stages that begin with stored documents, with what nobody sees removed where the first could tell of it: behind those
 * that find and sort by an index, and nowhere before a `$group` or `$project` that names other fields.
 */
export const hideFields = (stages: Pipeline, unreadable: readonly FieldRight[]): Stage[] => {
  const hide: Stage = { $unset: removed(unreadable) };
  for (const [position, stage] of stages.entries()) {
    const [name, operand] = stageParts(stage);
    const isSafe = !tells(operand) && !mayTell(operand, unreadable);
    if (isSafe && passing.test(name)) continue;
    if (isSafe && (picking.test(name) || (name === '$project' && keeps(operand)))) return [...stages];
    return [...stages.slice(0, position), hide, ...stages.slice(position)];
  }
  return [...stages, hide];
};

/** The variable of a join that holds the values of its `localField`. */
const localValues = 'basaltLocalValues';

const isArray = (value: string) => ({ $isArray: [value] });
const isObject = (value: string) => ({ $eq: [{ $type: value }, 'object'] });
const orNull = (value: string) => ({ $ifNull: [value, null] });

/** What every element of a list makes, in one list. */
const flat = (input: unknown, inner: unknown) => ({
  $reduce: { input, initialValue: [], in: { $concatArrays: ['$$value', inner] } },
});

/** A value, or the elements of an array; nothing where it is missing. */
const elementsOf = (value: string) => ({
  $cond: [isArray(value), value, { $cond: [{ $eq: [{ $type: value }, 'missing'] }, [], [value]] }],
});

/** The values of a field of the documents that come in, as MongoDB looks them up; `[null]` where there are none. */
const valuesToSeek = (path: string): JsonObject => {
  const [first = '', ...deeper] = path.split('.');
  const found = deeper.reduce<unknown>(
    (list, segment) => flat(list, { $cond: [isObject('$$this'), elementsOf(`$$this.${segment}`), []] }),
    elementsOf(`$${first}`),
  );
  return { $let: { vars: { found }, in: { $cond: [{ $eq: ['$$found', []] }, [null], '$$found'] } } };
};

/** What a path leads on through: the objects of an array, or the value; `null` for all that holds no field. */
const onTheWay = (value: string) => ({
  $cond: [
    { $and: [isArray(value), { $ne: [value, []] }] },
    { $map: { input: value, as: 'element', in: { $cond: [isObject('$$element'), '$$element', null] } } },
    [{ $cond: [isObject(value), value, null] }],
  ],
});

/** What a field is found by: its value, and each of its elements; `null` where it is missing. */
const atTheEnd = (value: string) => ({
  $cond: [isArray(value), { $concatArrays: [value, [value]] }, [orNull(value)]],
});

/** The values that a `$match` finds a field of a document by. */
const valuesToFind = (path: string): JsonObject => {
  const [first = '', ...deeper] = path.split('.');
  const expand = (at: number) => (at === deeper.length ? atTheEnd : onTheWay);
  return deeper.reduce<JsonObject>(
    (list, segment, index) => flat(list, expand(index + 1)(`$$this.${segment}`)),
    expand(0)(`$${first}`),
  );
};

const requirePath = (path: unknown, option: string, collection: string): string => {
  const isPlain = typeof path === 'string' && isFieldPath(path) && !path.split('.').some((part) => /^\d+$/.test(part));
  if (isPlain) return path;
  throw invalidPipeline(
    `${option} of a $lookup into the collection "${collection}" must be a path of names without positions, since some of its documents are hidden from you. Use let and a pipeline for anything else.`,
  );
};

/**
 * A `$lookup` by `localField` and `foreignField` as a variable and the stage that compares with it, which may stand
 * behind other stages: MongoDB itself would look the values up in an index before them. Finds the same documents.
 */
export const joinByFields = (
  { localField, foreignField, let: variables = {}, ...rest }: JsonObject,
  collection: string,
): readonly [lookup: JsonObject, comparison: readonly Stage[]] => {
  if (localField === undefined && foreignField === undefined) return [{ ...rest, let: variables }, []];
  const local = requirePath(localField, 'localField', collection);
  const foreign = requirePath(foreignField, 'foreignField', collection);
  if (Object.hasOwn(variables as object, localValues)) {
    throw invalidPipeline(`A $lookup cannot name a variable ${localValues}. Give it another name.`);
  }
  const shared = { $setIntersection: [valuesToFind(foreign), `$$${localValues}`] };
  return [
    { ...rest, let: { ...(variables as object), [localValues]: valuesToSeek(local) } },
    [{ $match: { $expr: { $gt: [{ $size: shared }, 0] } } }],
  ];
};
