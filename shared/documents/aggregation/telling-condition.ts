import { isJsonObject } from '../schema-values.ts';
import type { Stage } from './pipeline.ts';

/** Comparisons cannot fail, whatever they are given; with them alone a condition on a hidden document tells nothing. */
const harmlessOperators: ReadonlySet<string> = new Set([
  ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$cmp', '$and', '$or', '$not', '$ifNull', '$literal'],
]);

const isHarmless = (expression: unknown): boolean => {
  if (Array.isArray(expression)) return expression.every(isHarmless);
  if (!isJsonObject(expression)) return true;
  return Object.entries(expression).every(([key, operand]) => harmlessOperators.has(key) && isHarmless(operand));
};

/** True where a condition searches the text index: such a `$match` must stay the first stage. */
export const searchesText = (condition: unknown): boolean => {
  if (Array.isArray(condition)) return condition.some(searchesText);
  return (
    isJsonObject(condition) && Object.entries(condition).some(([key, inner]) => key === '$text' || searchesText(inner))
  );
};

/**
 * True where evaluating a condition can fail or take long depending on the document (`$expr` beyond comparisons, patterns).
 * MongoDB evaluates the parts of a condition in an order of its own and moves a `$match` to the front, so such a condition
 * would see documents that ours exclude, and an error or a delay would tell about them.
 */
export const isTelling = (condition: unknown): boolean => {
  if (Array.isArray(condition)) return condition.some(isTelling);
  if (!isJsonObject(condition)) return false;
  return Object.entries(condition).some(
    ([key, inner]) =>
      key === '$regex' || key === '$jsonSchema' || (key === '$expr' ? !isHarmless(inner) : isTelling(inner)),
  );
};

/** A stage that changes nothing, but that MongoDB never moves a `$match` across. */
export const barrier: Stage = { $limit: Number.MAX_SAFE_INTEGER };
