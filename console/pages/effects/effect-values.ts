import { isPlainObject } from '../../../shared/core/json.ts';
import { moment } from '../access/explain-operand.ts';
import { UnclearRule } from '../access/rule-tree.ts';

export const code = (name: string): string => `\`${name}\``;

/** A path that leads through a Ref: "`price` of `product`". */
const docWords = (path: string, isRef: (path: string) => boolean): string => {
  const segments = path.split('.');
  const at = segments.findIndex((_each, place) => isRef(segments.slice(0, place + 1).join('.')));
  if (at < 0 || at === segments.length - 1) return path === '_id' ? 'its id' : code(path);
  return `${code(segments.slice(at + 1).join('.'))} of ${code(segments.slice(0, at + 1).join('.'))}`;
};

const asPath = (value: unknown): string => {
  if (typeof value !== 'string' || value === '') throw new UnclearRule();
  return value;
};

const userWords = (path: string): string => (path === '_id' ? 'the user’s id' : `the user’s ${code(path)}`);

const timeWords = (ms: unknown): string => (ms === 0 ? 'the time of the write' : moment(ms));

const signs: Readonly<Record<string, string>> = { $add: ' + ', $multiply: ' × ', $subtract: ' − ', $divide: ' ÷ ' };

/** Words in parentheses if they calculate. */
const inner = (words: string): string => (/ [+×−÷] /.test(words) ? `(${words})` : words);

const operated = (operator: string, value: unknown, wordsOf: (each: unknown) => string): string => {
  if (operator === '$minus') return `−${inner(wordsOf(value))}`;
  if (operator === '$round') return `the rounded value of ${wordsOf(value)}`;
  if (operator === '$lower') return `${wordsOf(value)} in lower case`;
  if (!Array.isArray(value) || value.length === 0) throw new UnclearRule();
  const words = value.map(wordsOf);
  if (operator === '$concat') return `the joined texts of ${words.join(', ')}`;
  const sign = signs[operator];
  if (sign === undefined) throw new UnclearRule();
  return words.length === 1 ? words.join('') : words.map(inner).join(sign);
};

/** A value of an effect in words: "`price` of `product` × `quantity`". Throws `UnclearRule` for an unknown one. */
export const valueWords = (value: unknown, isRef: (path: string) => boolean): string => {
  const wordsOf = (each: unknown): string => valueWords(each, isRef);
  if (Array.isArray(value)) return `[${value.map(wordsOf).join(', ')}]`;
  if (!isPlainObject(value)) {
    if (value === undefined) throw new UnclearRule();
    return value === null ? 'empty' : JSON.stringify(value);
  }
  const [[key, operand] = ['', undefined], ...others] = Object.entries(value);
  if (!key.startsWith('$')) {
    return `{${Object.entries(value)
      .map(([name, each]) => `${name}: ${wordsOf(each)}`)
      .join(', ')}}`;
  }
  if (others.length > 0) throw new UnclearRule();
  switch (key) {
    case '$doc':
      return docWords(asPath(operand), isRef);
    case '$user':
      return userWords(asPath(operand));
    case '$stored':
      return `${code(asPath(operand))} before the update`;
    case '$now':
      return timeWords(operand);
    default:
      return operated(key, operand, wordsOf);
  }
};
