import type { Filter, Document as MongoDocument } from 'mongodb';
import type { Stage } from '../aggregate/pipeline.ts';
import { entriesIn } from '../values.ts';
import type { IndexHint } from './index-hint.ts';

/** A complete filter. Several are combined as lists, never merged by key, so that none replaces another. */
export type Condition = Filter<MongoDocument>;

/** All of the conditions. Without any, every document matches. */
export const allOf = (conditions: readonly Condition[]): Condition => {
  const [first = {}, ...rest] = conditions;
  return rest.length === 0 ? first : { $and: [...conditions] };
};

/** At least one of the conditions; there must be one. */
export const anyOf = (conditions: readonly Condition[]): Condition => {
  const [first = {}, ...rest] = conditions;
  return rest.length === 0 ? first : { $or: [...conditions] };
};

/** The documents that a caller may read. */
export interface Readable {
  readonly condition: Condition;
  /** Stages that must run before the condition, and the fields that they add. */
  readonly joins?: Joins;
}

/** Look-ups of references for a condition whose targets are too many for a list of ids. */
export interface Joins {
  readonly stages: readonly Stage[];
  readonly fields: readonly string[];
}

/** The stages that select the documents of a condition and remove the fields that its joins added. */
export const matching = (condition: Condition, joins: Joins | undefined): MongoDocument[] =>
  joins ? [...joins.stages, { $match: condition }, { $unset: joins.fields }] : [{ $match: condition }];

/**
 * The documents a request selects. Patterns are kept separate when documents are hidden from the caller: MongoDB
 * evaluates the parts of a condition in its own order, also on an index while it tries plans, so the response time
 * would reveal what hidden documents contain.
 */
export interface Selection {
  readonly conditions: readonly Condition[];
  /** The look-ups that `conditions` need. */
  readonly joins?: Joins | undefined;
  /** Evaluated only for documents that meet `conditions`. */
  readonly afterwards: readonly Condition[];
  /** Nothing from the caller, not even the sort order, decides which hidden documents are examined. */
  readonly isolated?: boolean;
  /** Sorts by this score, or by the text index, instead of the order of the list. */
  readonly best?: { readonly score: MongoDocument | undefined };
  /** The index to use if documents are hidden: trying others would examine hidden ones. */
  readonly hint?: IndexHint;
}

/** Comparisons never fail, so a condition made of them alone reveals nothing about hidden documents. */
const harmlessOperators: ReadonlySet<string> = new Set([
  ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$cmp', '$and', '$or', '$not', '$ifNull', '$literal'],
]);

const isHarmless = (expression: unknown): boolean =>
  entriesIn(expression).every(([operator]) => harmlessOperators.has(operator));

/** True if a condition searches the text index: such a `$match` must stay the first stage. */
export const searchesText = (condition: unknown): boolean => entriesIn(condition).some(([key]) => key === '$text');

/**
 * True if evaluating a condition can fail or be slow depending on the document (`$expr` beyond comparisons, patterns).
 * MongoDB reorders the parts of a condition and moves a `$match` to the front, so such a condition could run on
 * documents that ours exclude, and an error or a delay would reveal them.
 */
export const mayReveal = (condition: unknown): boolean =>
  entriesIn(condition).some(
    ([key, inner]) => key === '$regex' || key === '$jsonSchema' || (key === '$expr' && !isHarmless(inner)),
  );

/** A stage that changes nothing, but that MongoDB never moves a `$match` across. */
export const barrier: Stage = { $limit: Number.MAX_SAFE_INTEGER };
