import type { EffectWrite, Expression } from '../../collections/effects/effect.ts';
import type { JsonObject } from '../document.ts';
import { isJsonObject } from '../values.ts';
import { compute, type EffectSources, effectRefused } from './compute.ts';

const hasObject = (value: unknown): boolean => isJsonObject(value) || (Array.isArray(value) && value.some(hasObject));

const hasOperator = (value: unknown): boolean =>
  isJsonObject(value) && Object.keys(value).some((key) => key.startsWith('$'));

/**
 * A value at a place where operators are allowed. A computed value must exist and must not be read as an operator,
 * because a caller may have sent its object.
 */
const strictly = (
  expression: Expression,
  at: string,
  sources: EffectSources,
  isOperator: (value: unknown) => boolean,
): unknown => {
  if (expression.kind === 'literal') return expression.value;
  if (expression.kind === 'list') {
    return expression.of.map((each, index) => strictly(each, `${at}.${index}`, sources, isOperator));
  }
  if (expression.kind === 'object') {
    const entries = expression.of.map(([key, each]) => [key, strictly(each, `${at}.${key}`, sources, isOperator)]);
    return Object.fromEntries(entries);
  }
  const value = compute(expression, at, sources);
  const path = expression.kind === 'doc' && !expression.ref ? expression.path : at;
  if (value === undefined) throw effectRefused(path, 'is missing');
  if (isOperator(value)) throw effectRefused(path, 'must be a single value here, not an object');
  return value;
};

/** Fields and their values. A field whose value is missing is left out. */
const fieldsOf = (expression: Expression, at: string, sources: EffectSources): JsonObject => {
  if (expression.kind !== 'object') return {};
  const entries = expression.of.flatMap(([key, each]): [string, unknown][] => {
    const path = `${at}.${key}`;
    if (key.startsWith('$')) {
      const isOperator = key === '$push' || key === '$addToSet' ? hasOperator : hasObject;
      return [[key, strictly(each, path, sources, isOperator)]];
    }
    const value = compute(each, path, sources);
    return value === undefined ? [] : [[key, value]];
  });
  return Object.fromEntries(entries);
};

/** The id of the target. Throws 409 `EFFECT_REFUSED` if its value is missing. */
const idFrom = (id: Expression, at: string, sources: EffectSources): unknown => {
  const value = compute(id, at, sources);
  const path = id.kind === 'doc' && !id.ref ? id.path : at;
  if (typeof value !== 'string') throw effectRefused(path, 'leads to no document');
  return value;
};

/**
 * A write of an effect as a batch would send it, with the values of its expressions. Throws 409 `EFFECT_REFUSED`,
 * 400 `VALIDATION_FAILED`.
 */
export const filledWrite = (write: EffectWrite, sources: EffectSources): JsonObject => {
  const { at, op, collection, id, ifMatch, document, changes, where } = write;
  return {
    op,
    collection,
    ...(id && { id: idFrom(id, `${at}.id`, sources) }),
    ...(ifMatch !== undefined && { ifMatch }),
    ...(document && { document: fieldsOf(document, `${at}.document`, sources) }),
    ...(changes && { changes: fieldsOf(changes, `${at}.changes`, sources) }),
    ...(where && { where: strictly(where, `${at}.where`, sources, hasObject) }),
  };
};
