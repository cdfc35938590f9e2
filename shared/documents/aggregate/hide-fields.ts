import { hiddenFields, isHiddenPath } from '../../collections/collection.ts';
import { isFieldPath } from '../../collections/schema/field-path.ts';
import type { FieldRight } from '../../collections/schema/field-rights.ts';
import { relationOf } from '../access/field-rights.ts';
import type { JsonObject } from '../document.ts';
import { isJsonObject } from '../values.ts';
import { invalidPipeline, type Pipeline, type Stage, stageParts } from './pipeline.ts';

/**
 * The fields to remove: the hidden ones, and those that the caller may not read. Fields inside a removed one go with
 * it.
 */
const removed = (unreadable: readonly FieldRight[]): readonly string[] => {
  const paths = [...new Set(unreadable.map(({ path }) => path))];
  return [...hiddenFields, ...paths.filter((path) => !paths.some((other) => path.startsWith(`${other}.`)))];
};

/** Removes hidden fields from the documents that a join has put into a named field. */
export const hideIn = (path: unknown, unreadable: readonly FieldRight[]): Stage[] =>
  typeof path === 'string' ? [{ $unset: removed(unreadable).map((field) => `${path}.${field}`) }] : [];

/** Stages that pass documents on unchanged. */
export const passing = /^\$(match|sort|limit|skip|sample|geoNear|search|vectorSearch)$/;

/** Stages that pass on only what they name. */
const picking = /^\$(group|count|sortByCount|bucket|bucketAuto)$/;

/** Operators that reach a field without naming it in a path. */
const reaching: ReadonlySet<string> = new Set(['$getField', '$jsonSchema']);

/** Whether a text names a hidden field, or the whole document. */
const namesHidden = (text: string): boolean =>
  /^\$\$(ROOT|CURRENT)\b/.test(text) || isHiddenPath(text.startsWith('$') ? text.slice(1) : text);

/** Whether an operand could reveal hidden fields. */
const tells = (operand: unknown): boolean => {
  if (typeof operand === 'string') return namesHidden(operand);
  if (Array.isArray(operand)) return operand.some(tells);
  if (!isJsonObject(operand)) return false;
  return Object.entries(operand).some(([key, value]) => isHiddenPath(key) || reaching.has(key) || tells(value));
};

/** A `$project` that names the fields it keeps, and so omits all others. Both kinds may omit `_id`. */
const keeps = (operand: unknown): boolean =>
  isJsonObject(operand) &&
  Object.entries(operand).some(
    ([key, value]) => key !== '_id' && (value === true || (typeof value === 'number' && value !== 0)),
  );

/** Whether a text may name an unreadable field, or a field inside or around one. */
const touches = (text: string, unreadable: readonly FieldRight[]): boolean => {
  const path = text.startsWith('$') ? text.slice(1) : text;
  return unreadable.some((right) => relationOf(path, right).kind !== 'none');
};

/** Whether an operand may reveal an unreadable field. A value that looks like its name counts too. */
export const mayTell = (operand: unknown, unreadable: readonly FieldRight[]): boolean => {
  if (unreadable.length === 0) return false;
  if (typeof operand === 'string') return touches(operand, unreadable);
  if (Array.isArray(operand)) return operand.some((each) => mayTell(each, unreadable));
  if (!isJsonObject(operand)) return false;
  return Object.entries(operand).some(([key, value]) => touches(key, unreadable) || mayTell(value, unreadable));
};

/** Throws 400 `INVALID_PIPELINE` for an operand that reads an index before anything can be hidden. */
export const refuseHidden = (name: string, operand: unknown): void => {
  if (!tells(operand)) return;
  throw invalidPipeline(
    `${name} names ${hiddenFields.join(', ')}, which are the service's own, or the whole document with them. Name other fields.`,
  );
};

/**
 * Stages that start with stored documents, with hidden fields removed if the stages could reveal them: after those
 * that find and sort by an index, and not before a `$group` or `$project` that names other fields.
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

/** Concatenates the results for all elements of a list. */
const flat = (input: unknown, inner: unknown) => ({
  $reduce: { input, initialValue: [], in: { $concatArrays: ['$$value', inner] } },
});

/** A value, or the elements of an array; nothing if it is missing. */
const elementsOf = (value: string) => ({
  $cond: [isArray(value), value, { $cond: [{ $eq: [{ $type: value }, 'missing'] }, [], [value]] }],
});

/** The values of a field of the incoming documents, as MongoDB looks them up; `[null]` if there are none. */
const valuesToSeek = (path: string): JsonObject => {
  const [first = '', ...deeper] = path.split('.');
  const found = deeper.reduce<unknown>(
    (list, segment) => flat(list, { $cond: [isObject('$$this'), elementsOf(`$$this.${segment}`), []] }),
    elementsOf(`$${first}`),
  );
  return { $let: { vars: { found }, in: { $cond: [{ $eq: ['$$found', []] }, [null], '$$found'] } } };
};

/**
 * The values through which a path continues: the objects of an array, or the value itself; `null` for values without
 * fields.
 */
const onTheWay = (value: string) => ({
  $cond: [
    { $and: [isArray(value), { $ne: [value, []] }] },
    { $map: { input: value, as: 'element', in: { $cond: [isObject('$$element'), '$$element', null] } } },
    [{ $cond: [isObject(value), value, null] }],
  ],
});

/** The values by which a field is found: its value and each of its elements; `null` if it is missing. */
const atTheEnd = (value: string) => ({
  $cond: [isArray(value), { $concatArrays: [value, [value]] }, [orNull(value)]],
});

/** The values by which a `$match` finds a field of a document. */
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
    `${option} of a $lookup into the collection "${collection}" must be a path of names without positions, because some of its documents are hidden from you. Use let and a pipeline for anything else.`,
  );
};

/**
 * Turns a `$lookup` by `localField` and `foreignField` into a variable and a stage that compares with it and can
 * stand after other stages. MongoDB itself would look up the values in an index first. Finds the same documents.
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
