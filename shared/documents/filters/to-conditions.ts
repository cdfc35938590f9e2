import { allOf, anyOf, type Condition } from '../read/condition.ts';
import type { Comparison, ElementMatch, FieldTest, ParsedFilter } from './filter.ts';

/** What an operator of MongoDB is given. */
type Test = Readonly<Record<string, unknown>>;

/** A pattern that finds a text as it stands. */
const literally = (text: unknown): string =>
  String(text)
    .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    .replaceAll('\0', '\\x00');

const compared = ({ operator, operand, ignoresCase }: Comparison): Test => {
  switch (operator) {
    case '$regex':
      return ignoresCase ? { $regex: operand, $options: 'i' } : { $regex: operand };
    case '$contains':
      return { $regex: literally(operand) };
    case '$startsWith':
      return { $regex: `^${literally(operand)}` };
    case '$endsWith':
      // `$` would be found before a line end as well.
      return { $regex: `${literally(operand)}\\z` };
    default:
      return { [operator]: operand };
  }
};

/** Tests of one value, all of which must hold; a second one of the same name is denied twice. */
const together = ([first, ...others]: readonly Test[]): Test => {
  if (!first) return {};
  const rest = together(others);
  return Object.keys(first).some((name) => Object.hasOwn(rest, name))
    ? { ...first, $not: { $not: rest } }
    : { ...rest, ...first };
};

const elementTest = (element: ElementMatch['element']): Test =>
  'length' in element ? together(element.map(toTest)) : toCondition(element);

const toTest = (test: FieldTest): Test =>
  'element' in test ? { $elemMatch: elementTest(test.element) } : compared(test);

const toCondition = (filter: ParsedFilter): Condition => {
  if ('path' in filter) return { [filter.path]: toTest(filter) };
  if ('not' in filter) return { $nor: [toCondition(filter.not)] };
  return 'any' in filter ? anyOf(filter.any.map(toCondition)) : allOf(filter.all.map(toCondition));
};

/** MongoDB's conditions for the filters, one each; values only ever stand where it reads literals. */
export const toConditions = (filters: readonly ParsedFilter[]): readonly Condition[] => filters.map(toCondition);
