import { ObjectId } from 'mongodb';
import type { EffectOperator, EffectWrite, Expression } from '../../collections/effects/effect.ts';
import { clock } from '../../core/clock.ts';
import { AppError, validationFailed } from '../../core/errors.ts';
import { wholeAt } from '../access/decide.ts';
import type { JsonObject } from '../document.ts';
import { isJsonObject } from '../values.ts';
import { wireDocument } from '../wire.ts';

/** A document that an effect reads, and whether a path of it is hidden from the caller. */
export interface EffectSource {
  readonly document: JsonObject;
  readonly hides: (path: string) => boolean;
}

/** What the expressions of one effect read. */
export interface EffectSources {
  /** The document as it would be stored, without what this effect sets. */
  readonly own: EffectSource;
  /** The document before an update. */
  readonly stored?: EffectSource | undefined;
  /** The caller's record; `undefined` without a user. */
  readonly user: JsonObject | undefined;
  /** In ms, if it is not now. */
  readonly time?: number | undefined;
  /** The target of a Ref; `undefined` if it is missing, trashed or hidden from the caller. */
  readonly targetOf: (collection: string, id: string) => EffectSource | undefined;
}

/** 409 naming what an effect could not read. */
const effectRefused = (field: string, reason: string): AppError => {
  const message = `${field} ${reason}`;
  return new AppError('EFFECT_REFUSED', `An effect of the collection could not run: ${message}.`, {
    errors: [{ field, message }],
  });
};

/** A copy that shares no array and no plain object. */
export const copy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(copy);
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copy(inner)]))
    : value;
};

/** A stored value as JSON, as a body would contain it. */
export const asJson = (value: unknown): unknown => {
  if (value === null || (typeof value !== 'object' && typeof value !== 'bigint')) return value;
  if (value instanceof ObjectId) return value.toHexString();
  return JSON.parse(JSON.stringify(wireDocument({ value: copy(value) }))).value;
};

const readFrom = ({ document, hides }: EffectSource, path: string, named: string): unknown => {
  if (hides(path)) throw effectRefused(named, 'leads to no field that you may read');
  return asJson(wholeAt(document, path) ?? undefined);
};

const readDoc = (expression: Extract<Expression, { kind: 'doc' }>, { own, targetOf }: EffectSources): unknown => {
  const { path, ref } = expression;
  if (!ref) return readFrom(own, path, path);
  const named = `${ref.path}.${path}`;
  const id = wholeAt(own.document, ref.path);
  const hex = id instanceof ObjectId ? id.toHexString() : id;
  const isHidden = own.hides(ref.path);
  const target = typeof hex === 'string' && !isHidden ? targetOf(ref.collection, hex) : undefined;
  if (!target) throw effectRefused(named, `leads to no document of "${ref.collection}" that you may read`);
  return readFrom(target, path, named);
};

/** The name of an expression in an error: the field that it reads, or the field that is set. */
const nameOf = (expression: Expression, field: string): string =>
  expression.kind === 'doc' && !expression.ref ? expression.path : field;

const wrongType = (expression: Expression, field: string, wanted: string): AppError => {
  const name = nameOf(expression, field);
  const message =
    name === field
      ? `${field} cannot be computed: an effect needs ${wanted}`
      : `${name} must be ${wanted}, because an effect computes ${field} from it`;
  return validationFailed({ field: name, message });
};

const asNumber = (expression: Expression, value: unknown, field: string): number => {
  // As in rules, a missing stored number counts as 0.
  if (value === undefined && expression.kind === 'stored') return 0;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw wrongType(expression, field, 'a Number');
};

const asText = (expression: Expression, value: unknown, field: string): string => {
  if (value === undefined && expression.kind === 'stored') return '';
  if (typeof value === 'string') return value;
  throw wrongType(expression, field, 'a String');
};

/** A result beyond what numbers hold exactly. */
const inRange = (value: number, field: string): number => {
  const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (isExact) return value + 0;
  throw validationFailed({ field, message: `${field} cannot be computed: the number is too large` });
};

const maxTextLength = 1024 * 1024;

const inLength = (text: string, field: string): string => {
  if (text.length <= maxTextLength) return text;
  throw validationFailed({ field, message: `${field} cannot be computed: the text is longer than 1 MiB` });
};

const divided = ([one = 0, other = 0]: readonly number[], at: string): number => {
  if (other === 0) throw effectRefused(at, 'divides by zero');
  return one / other;
};

const ofNumbers = (operator: EffectOperator, numbers: readonly number[], at: string): number => {
  const [first = 0, ...rest] = numbers;
  switch (operator) {
    case '$add':
      return rest.reduce((sum, each) => sum + each, first);
    case '$multiply':
      return rest.reduce((product, each) => product * each, first);
    case '$subtract':
      return rest.reduce((difference, each) => difference - each, first);
    case '$divide':
      return divided(numbers, at);
    case '$minus':
      return -first;
    default:
      return Math.round(first);
  }
};

/**
 * Returns the value of an expression for `field`, as JSON; `undefined` if it reads a missing value. Throws 409
 * `EFFECT_REFUSED` if the caller may not read something, 400 `VALIDATION_FAILED` for a value of the wrong type.
 */
export const compute = (expression: Expression, field: string, sources: EffectSources): unknown => {
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'now':
      return new Date((sources.time ?? clock.now()) + expression.ms).toISOString();
    case 'doc':
      return readDoc(expression, sources);
    case 'stored':
      return sources.stored && readFrom(sources.stored, expression.path, expression.path);
    case 'user': {
      if (!sources.user) throw effectRefused(`$user.${expression.path}`, 'needs a signed-in user');
      return asJson(wholeAt(sources.user, expression.path) ?? undefined);
    }
    case 'list':
      return expression.of.map((each) => compute(each, field, sources) ?? null);
    case 'object':
      return Object.fromEntries(
        expression.of.flatMap(([key, each]) => {
          const value = compute(each, field, sources);
          return value === undefined ? [] : [[key, value]];
        }),
      );
    case 'compute': {
      const { operator, of, at } = expression;
      const values = of.map((each) => compute(each, field, sources));
      if (operator !== '$concat' && operator !== '$lower') {
        const numbers = of.map((each, index) => asNumber(each, values[index], field));
        return inRange(ofNumbers(operator, numbers, at), field);
      }
      const text = of.map((each, index) => asText(each, values[index], field)).join('');
      return inLength(operator === '$lower' ? text.toLowerCase() : text, field);
    }
  }
};

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
