import type { FieldType } from '../../../shared/collections/schema/field-types.ts';
import { type Condition, type Operator, operators } from './list-address.ts';

const ordered: readonly Operator[] = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'exists'];

const ofType: Readonly<Record<FieldType, readonly Operator[]>> = {
  String: ['eq', 'ne', 'contains', 'startsWith', 'endsWith', 'regex', 'in', 'gt', 'gte', 'lt', 'lte', 'exists'],
  Number: ordered,
  Date: ordered,
  Boolean: ['eq', 'ne', 'exists'],
  Ref: ['eq', 'ne', 'in', 'exists'],
  Object: ['exists'],
  Array: ['exists'],
};

/** Which comparisons make sense for a type; all of them where nothing says what the values are. */
export const operatorsFor = (type: FieldType | undefined): readonly Operator[] => (type ? ofType[type] : operators);

/** What is typed as the value of a condition: one of few, or a text like the example. */
export const valueChoice = (
  type: FieldType | undefined,
  operator: Operator,
): { readonly options: readonly string[] } | { readonly example: string } => {
  if (operator === 'exists' || (type === 'Boolean' && operator !== 'in')) return { options: ['true', 'false'] };
  if (operator === 'in') return { example: 'a,b,c' };
  if (type === 'Date') return { example: '2026-01-31' };
  if (type === 'Number') return { example: '10' };
  return { example: '' };
};

/** A condition whose operator and value are among those that its field takes. */
export const fitting = <C extends Pick<Condition, 'operator' | 'value'>>(
  type: FieldType | undefined,
  condition: C,
): C => {
  const allowed = operatorsFor(type);
  const operator = allowed.includes(condition.operator) ? condition.operator : (allowed[0] ?? 'eq');
  const choice = valueChoice(type, operator);
  const isOffered = !('options' in choice) || choice.options.includes(condition.value);
  return { ...condition, operator, value: isOffered ? condition.value : 'true' };
};
