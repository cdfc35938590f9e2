import type { Collection } from '../../collections/collection.ts';
import type { FieldRight } from '../../collections/schema/field-rights.ts';
import { AppError } from '../../core/errors.ts';
import { cutText } from '../../core/text.ts';
import type { JsonObject } from '../document.ts';
import type { Joins } from '../query/condition.ts';
import { isJsonObject } from '../values.ts';

/** A stage of an aggregation: an object with exactly one key, the name of the stage. */
export type Stage = JsonObject;
export type Pipeline = readonly Stage[];

/** `{ $match: { a: 1 } }` → `['$match', { a: 1 }]` */
export const stageParts = (stage: Stage): readonly [name: string, operand: unknown] =>
  Object.entries(stage)[0] ?? ['', undefined];

/**
 * Changes every inner pipeline of a stage: the parts of a `$facet`, or that of a join. `at` is the path of the
 * stage, such as `pipeline[2].$facet`; each inner pipeline gets its own.
 */
export const withPipelines = (stage: Stage, at: string, change: (inner: Pipeline, at: string) => Stage[]): Stage => {
  const [name, operand] = stageParts(stage);
  if (!isJsonObject(operand)) return stage;
  const inner =
    name === '$facet' ? Object.entries(operand) : Object.entries(operand).filter(([key]) => key === 'pipeline');
  if (name !== '$facet' && name !== '$lookup' && name !== '$unionWith') return stage;
  const changed = inner.map(([key, stages]) => [key, change(stages as Pipeline, `${at}.${cutText(key, 40)}`)] as const);
  return changed.length === 0 ? stage : { [name]: { ...operand, ...Object.fromEntries(changed) } };
};

/** The error of a pipeline that cannot run (400). */
export const invalidPipeline = (message: string, cause?: unknown): AppError =>
  new AppError('INVALID_PIPELINE', message, { cause });

/** A collection that is read; `visibilityFilter` is set if the caller may not read all of it. */
export interface Source {
  readonly collection: Collection;
  readonly visibilityFilter: JsonObject | undefined;
  /** The fields that the caller may not read in any document. */
  readonly unreadable: readonly FieldRight[];
  /** The look-ups that the filter needs. */
  readonly joins?: Joins | undefined;
}

/** The collection that a pipeline runs on, and those that it joins, by name. */
export interface Sources {
  readonly main: Source;
  readonly joined: ReadonlyMap<string, Source>;
  readonly includeDeleted: boolean;
}

export const both = (ours: JsonObject | undefined, theirs: JsonObject): JsonObject => {
  if (!ours) return theirs;
  return Object.keys(theirs).length === 0 ? ours : { $and: [ours, theirs] };
};

/**
 * What an operator makes of its inputs. `looks`: a number, date or similar. `picks`: one of its inputs or a part of
 * it. `multiplies`: a copy of the largest input for each byte of the others. A number: that much memory for each
 * byte.
 */
type Rule = 'looks' | 'picks' | 'multiplies' | number;

const rules: readonly (readonly [rule: Rule, operators: string])[] = [
  [
    'looks',
    `abs acos acosh add allElementsTrue and anyElementTrue asin asinh atan atan2 atanh avg binarySize bitAnd bitNot
    bitOr bitXor bsonSize ceil cmp cos cosh count covariancePop covarianceSamp dateAdd dateDiff dateFromParts
    dateSubtract dateTrunc dayOfMonth dayOfWeek dayOfYear degreesToRadians denseRank derivative divide documentNumber
    eq exp expMovingAvg floor gt gte hour in indexOfArray indexOfBytes indexOfCP integral isArray isNumber
    isoDayOfWeek isoWeek isoWeekYear linearFill ln log log10 lt lte median millisecond minute mod month multiply ne
    not or pow radiansToDegrees rand rank regexMatch round second setEquals setIsSubset sin sinh size sqrt stdDevPop
    stdDevSamp strLenBytes strLenCP subtract sum tan tanh toBool toDate toDecimal toDouble toInt toLong toObjectId
    toUUID trunc tsIncrement tsSecond type week year`,
  ],
  ['picks', 'arrayElemAt bottom cond dateFromString expr first getField ifNull last locf max min shift switch top'],
  ['multiplies', 'regexFind replaceAll'],
  // MongoDB itself limits what they collect from many documents.
  [0, 'addToSet push'],
  [2, 'concat ltrim replaceOne rtrim substr substrBytes substrCP toLower toUpper trim'],
  [4, 'concatArrays reverseArray slice sortArray'],
  [32, 'dateToString split zip'],
  [64, 'convert dateToParts objectToArray toArray toObject toString'],
  // It counts the characters again for each match.
  [4096, 'regexFindAll'],
];
const byName: ReadonlyMap<string, Rule> = new Map(
  rules.flatMap(([rule, names]) => names.split(/\s+/).map((name) => [`$${name}`, rule] as const)),
);

/** An unknown operator may belong to a later version. */
export const ruleOf = (operator: string): Rule => byName.get(operator) ?? 12;
