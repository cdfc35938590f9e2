import type { Filter, Document as MongoDocument } from 'mongodb';
import type { Hint } from './owner-hint.ts';

/** A filter that stands alone; several are combined as lists, never merged by key, so that none replaces another. */
export type Condition = Filter<MongoDocument>;

/** All of the conditions; without any, every document matches. */
export const allOf = (conditions: readonly Condition[]): Condition => {
  const [first = {}, ...rest] = conditions;
  return rest.length === 0 ? first : { $and: [...conditions] };
};

/** At least one of the conditions, of which there must be one. */
export const anyOf = (conditions: readonly Condition[]): Condition => {
  const [first = {}, ...rest] = conditions;
  return rest.length === 0 ? first : { $or: [...conditions] };
};

/**
 * The documents a request selects. Patterns are kept separate when documents are hidden from the caller: MongoDB
 * evaluates the parts of a condition in its own order, also on an index while it tries plans, so the response time
 * would reveal what hidden documents contain.
 */
export interface Selection {
  readonly conditions: readonly Condition[];
  /** Evaluated only for documents that meet `conditions`. */
  readonly afterwards: readonly Condition[];
  /** Best first, by this expression, or by the text index: instead of the order of the list. */
  readonly best?: { readonly score: MongoDocument | undefined };
  /** The index to use, where documents are hidden: trying others would look at hidden ones. */
  readonly hint?: Hint;
}
