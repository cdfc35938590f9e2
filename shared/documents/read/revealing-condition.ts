import type { Stage } from '../aggregate/pipeline.ts';
import { entriesIn } from '../entries-in.ts';

/** Comparisons never fail, so a condition made of them alone reveals nothing about hidden documents. */
const harmlessOperators: ReadonlySet<string> = new Set([
  ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$cmp', '$and', '$or', '$not', '$ifNull', '$literal'],
]);

const isHarmless = (expression: unknown): boolean =>
  entriesIn(expression).every(([operator]) => harmlessOperators.has(operator));

/** True where a condition searches the text index: such a `$match` must stay the first stage. */
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
