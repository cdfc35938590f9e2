import type { Filter, Document as MongoDocument } from 'mongodb';

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
 * Which documents are asked for. Patterns are kept apart where documents are hidden from the caller: MongoDB evaluates
 * the parts of one condition in an order of its own, also along an index while it tries plans, and the time would tell
 * what hidden documents hold.
 */
export interface Selection {
  readonly conditions: readonly Condition[];
  /** Evaluated for documents that meet the conditions, and for no other. */
  readonly afterwards: readonly Condition[];
}
