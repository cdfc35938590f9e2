import { ObjectId } from 'mongodb';
import { linearPattern, patternProblem } from '../../core/linear-pattern.ts';
import { holds, valuesAt } from '../access/decide.ts';
import { longestMatched } from '../query/bounded-pattern.ts';
import {
  type Comparison,
  type ElementMatch,
  type FieldTest,
  invalidFilter,
  type ParsedFilter,
} from '../query/filter.ts';
import { elementTest } from '../query/where.ts';
import { isJsonObject } from '../values.ts';

type Element = ElementMatch['element'];

const areTests = (element: Element): element is readonly FieldTest[] => 'length' in element;

/** A pattern that this process runs in linear time, as MongoDB does. Throws 400 `INVALID_FILTER` for any other. */
const linearTest = (test: FieldTest, at: string): FieldTest => {
  if ('element' in test) return { ...test, element: linearElement(test.element, at) };
  if (test.operator !== '$regex') return test;
  const problem = patternProblem(String(test.operand));
  if (problem !== undefined) throw invalidFilter(at, `$pull cannot use a pattern that ${problem}.`);
  return { ...test, operand: linearPattern(String(test.operand)).pcre };
};

const linearFilter = (filter: ParsedFilter, at: string): ParsedFilter => {
  if ('all' in filter) return { all: filter.all.map((each) => linearFilter(each, at)) };
  if ('any' in filter) return { any: filter.any.map((each) => linearFilter(each, at)) };
  return 'not' in filter ? { not: linearFilter(filter.not, at) } : linearTest(filter, at);
};

const linearElement = (element: Element, at: string): Element =>
  areTests(element) ? element.map((test) => linearTest(test, at)) : linearFilter(element, at);

const hasIds = (operand: unknown): boolean =>
  Array.isArray(operand) ? operand.some(hasIds) : operand instanceof ObjectId;

/** In characters, as MongoDB counts them. */
const isLonger = (text: string, longest: number): boolean => text.length > longest && [...text].length > longest;

const compares = ({ operator, operand }: Comparison, values: readonly unknown[]): boolean => {
  if (operator === '$regex') {
    const { test, pcre } = linearPattern(String(operand));
    const longest = longestMatched(pcre);
    return values.some((value) => typeof value === 'string' && !isLonger(value, longest) && test(value));
  }
  return holds({ operator, type: hasIds(operand) ? 'Ref' : 'String' }, values, operand);
};

const fulfils = (test: FieldTest, value: unknown): boolean => {
  const values = valuesAt(value, test.path);
  if (!('element' in test)) return compares(test, values);
  return values.some((each) => Array.isArray(each) && each.some((inner) => matches(test.element, inner)));
};

const meets = (filter: ParsedFilter, value: unknown): boolean => {
  if ('all' in filter) return filter.all.every((each) => meets(each, value));
  if ('any' in filter) return filter.any.some((each) => meets(each, value));
  return 'not' in filter ? !meets(filter.not, value) : fulfils(filter, value);
};

const matches = (element: Element, value: unknown): boolean =>
  areTests(element) ? element.every((test) => fulfils(test, value)) : isJsonObject(value) && meets(element, value);

/** For `$pull` MongoDB compares the elements of an element that is an array, too. */
const isPulled = (element: Element, value: unknown): boolean => {
  if (!areTests(element) || !Array.isArray(value)) return matches(element, value);
  return element.every((test) => ('element' in test ? fulfils(test, value) : compares(test, [value, ...value])));
};

/** The elements of an array that a parsed condition selects, for MongoDB and for a decision in code. */
export const elementMatch = (parsed: Element, at: string) => ({
  condition: elementTest(linearElement(parsed, at)),
  removes: (element: unknown): boolean => isPulled(parsed, element),
});

/** Whether a document meets all filters of a `where`; `undefined` if only MongoDB can evaluate a pattern in them. */
export const meetsAll = (filters: readonly ParsedFilter[], document: unknown): boolean | undefined => {
  try {
    for (const filter of filters) linearFilter(filter, 'where');
  } catch {
    return undefined;
  }
  return filters.every((filter) => meets(filter, document));
};
