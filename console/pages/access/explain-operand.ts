import { isPlainObject } from '../../../shared/core/json.ts';
import { UnclearRule } from './rule-tree.ts';

/** The name of a user field after *their* or *whose*. */
export const userField = (path: unknown): string => {
  if (typeof path !== 'string') throw new UnclearRule();
  if (path === '_id') return 'id';
  return path === 'email' ? 'verified email' : `\`${path}\``;
};

const maxListed = 5;

const listed = (words: readonly string[]): string => {
  const shown =
    words.length > maxListed + 1 ? [...words.slice(0, maxListed), `${words.length - maxListed} more`] : words;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}`;
};

export const literal = (value: unknown): string => {
  if (value === undefined || (isPlainObject(value) && Object.keys(value).some((key) => key.startsWith('$'))))
    throw new UnclearRule();
  return value === null ? 'empty' : JSON.stringify(value);
};

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
  ['millisecond', 1],
] as const;

/** A time relative to now: "7 days ago". */
export const moment = (ms: unknown): string => {
  if (typeof ms !== 'number') throw new UnclearRule();
  if (ms === 0) return 'now';
  const [unit, length] = units.find(([, each]) => ms % each === 0) ?? units[4];
  const count = Math.abs(ms) / length;
  return `${count} ${unit}${count === 1 ? '' : 's'} ${ms < 0 ? 'ago' : 'from now'}`;
};

interface Words {
  readonly isArray: boolean;
  readonly isDate: boolean;
}

/** The words after a field's name: operator and value. */
export const predicate = (operator: string, value: string, { isArray, isDate }: Words): string => {
  switch (operator) {
    case '$eq':
      return isArray ? `contains ${value}` : `is ${value}`;
    case '$ne':
      return isArray ? `does not contain ${value}` : `is not ${value}`;
    case '$gt':
      return `is ${isDate ? 'after' : 'greater than'} ${value}`;
    case '$gte':
      return `is ${isDate ? 'at or after' : 'at least'} ${value}`;
    case '$lt':
      return `is ${isDate ? 'before' : 'less than'} ${value}`;
    case '$lte':
      return `is ${isDate ? 'at or before' : 'at most'} ${value}`;
    case '$in':
      return isArray ? `contains one of ${value}` : `is one of ${value}`;
    case '$nin':
      return isArray ? `contains none of ${value}` : `is not one of ${value}`;
    case '$contains':
      return `contains the text ${value}`;
    case '$startsWith':
      return `starts with ${value}`;
    case '$endsWith':
      return `ends with ${value}`;
    default:
      throw new UnclearRule();
  }
};

/** The same for a literal value. */
export const literalPredicate = (operator: string, value: unknown, words: Words): string => {
  switch (operator) {
    case '$exists':
      return value === true ? 'is set' : 'is not set';
    case '$size':
      return `has ${literal(value)} ${value === 1 ? 'element' : 'elements'}`;
    case '$in':
    case '$nin':
      if (!Array.isArray(value)) throw new UnclearRule();
      if (value.length === 1) return predicate(operator === '$in' ? '$eq' : '$ne', literal(value[0]), words);
      return predicate(operator, listed(value.map(literal)), words);
    case '$all':
      if (!Array.isArray(value)) throw new UnclearRule();
      return `contains all of ${value.map(literal).join(', ')}`;
    default:
      return predicate(operator, literal(value), value === null ? { ...words, isArray: false } : words);
  }
};

const flipped: Readonly<Record<string, string>> = {
  $gt: 'is less than',
  $gte: 'is at most',
  $lt: 'is greater than',
  $lte: 'is at least',
  $contains: 'is part of',
  $startsWith: 'is the beginning of',
  $endsWith: 'is the end of',
};

/** After *whose*: a comparison of a document field with a user field, worded about the user. */
export const fromUserSide = (operator: string, field: string, path: unknown, isArray: boolean): string => {
  const name = userField(path);
  const isNegative = operator === '$ne' || operator === '$nin';
  const isList = operator === '$in' || operator === '$nin';
  if (isList && isArray) return `${name} and ${field} have ${isNegative ? 'no' : 'a'} value in common`;
  if (isList) return `${name} ${isNegative ? 'does not contain' : 'contains'} ${field}`;
  const words = flipped[operator];
  if (words) return `${name} ${words} ${field}`;
  return `${name} is ${isNegative ? 'not ' : ''}${isArray ? 'in ' : ''}${field}`;
};

/** The words for `$stored`, of the same field or another one. */
export const storedPredicate = (
  operator: string,
  path: string,
  operand: Readonly<Record<string, unknown>>,
  words: Words,
): string => {
  const { $stored: from, plus, adds, removes } = operand;
  if (typeof from !== 'string') throw new UnclearRule();
  const isSame = from === path;
  const element = (value: unknown): string =>
    isPlainObject(value) ? `their ${userField(value.$user)}` : literal(value);
  if (isSame && operator === '$eq') {
    if (typeof plus === 'number' && plus !== 0) return `goes ${plus < 0 ? 'down' : 'up'} by exactly ${Math.abs(plus)}`;
    if (adds !== undefined) return `gains ${element(adds)} and nothing else changes in it`;
    if (removes !== undefined) return `loses ${element(removes)} and nothing else changes in it`;
    return 'does not change';
  }
  if (isSame && operator === '$ne' && Object.keys(operand).length === 1) return 'changes';
  const before = `what ${isSame ? 'it' : `\`${from}\``} was before the update`;
  const change =
    typeof plus === 'number'
      ? ` ${plus < 0 ? 'minus' : 'plus'} ${Math.abs(plus)}`
      : adds !== undefined
        ? ` with ${element(adds)} added`
        : removes !== undefined
          ? ` without ${element(removes)}`
          : '';
  return predicate(operator, before + change, { ...words, isArray: false });
};
