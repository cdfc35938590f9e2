import type { JsonObject } from '../document.ts';
import { isFieldPath } from '../read/field-path.ts';
import { invalidPipeline, type Stage } from './pipeline.ts';

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
