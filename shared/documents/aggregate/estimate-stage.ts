import type { JsonObject } from '../document.ts';
import { isJsonObject } from '../write/schema-values.ts';
import { type Estimate, given, nothing, type Scope, sumOf } from './estimate.ts';
import type { Estimator } from './estimate-expression.ts';

/** Stages whose operand names fields, each with an expression or with fields of its own. */
const computing: ReadonlySet<string> = new Set(['$project', '$addFields', '$set']);

/** Stages that hold no expression. */
const plain: ReadonlySet<string> = new Set([
  ...['$unset', '$sort', '$limit', '$skip', '$count', '$unwind', '$unionWith', '$facet', '$sample'],
  ...['$search', '$vectorSearch', '$densify'],
]);

const isFields = (value: unknown): value is JsonObject =>
  isJsonObject(value) && !Object.keys(value).some((key) => key.startsWith('$'));

/** A field inside others is worked out once for each element of the arrays on the way to it. */
const insideOf = (value: unknown, path: readonly string[], estimator: Estimator, scope: Scope): Estimate => {
  if (isFields(value)) {
    return sumOf(
      Object.entries(value).map(([key, inner]) => insideOf(inner, [...path, ...key.split('.')], estimator, scope)),
    );
  }
  if (typeof value === 'number' || typeof value === 'boolean') return nothing;
  const estimate = estimator.of(value, scope);
  const arrays = estimator.elementsOf(path.length === 2 ? `$${path[0]}` : undefined, given(estimator.bounds.document));
  const times = 1 + Math.ceil(arrays);
  const held = times * (272 + estimate.held);
  return { ...given(times * (estimate.weight + 16)), held, work: estimate.work + held };
};

const fieldsOf = (fields: JsonObject, estimator: Estimator, scope: Scope): Estimate => {
  const entries = Object.entries(fields);
  const isInside = ([key, value]: readonly [string, unknown]) => key.includes('.') || isFields(value);
  const values = entries.filter((entry) => !isInside(entry)).map(([, value]) => value);
  const inside = entries.filter(isInside).map(([key, value]) => insideOf(value, key.split('.'), estimator, scope));
  return sumOf([estimator.together(values, scope), ...inside]);
};

const conditions = (value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value.flatMap(conditions);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === '$expr' ? [inner] : conditions(inner)));
};

/** What the expressions of one stage may take for one document; those of pipelines inside it are not among them. */
export const estimateStage = (name: string, operand: unknown, estimator: Estimator, scope: Scope): Estimate => {
  const all = (expressions: readonly unknown[]) => estimator.together(expressions, scope);
  if (plain.has(name)) return nothing;
  if (name === '$match' || name === '$geoNear') return all(conditions(operand));
  if (!isJsonObject(operand)) return estimator.of(operand, scope);
  if (name === '$lookup') return all(Object.values(isJsonObject(operand.let) ? operand.let : {}));
  if (name === '$graphLookup') return all([operand.startWith, ...conditions(operand.restrictSearchWithMatch)]);
  return computing.has(name) ? fieldsOf(operand, estimator, scope) : estimator.of(operand, scope);
};
