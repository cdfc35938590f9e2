import type { JsonObject } from '../document.ts';
import { isJsonObject } from '../write/schema-values.ts';

/** True for `{ $operator: … }`; an object with other names is one that an expression makes. */
export const isOperator = (value: unknown): value is JsonObject => {
  const keys = isJsonObject(value) ? Object.keys(value) : [];
  return keys.length === 1 && keys[0]?.startsWith('$') === true;
};

/** The operands of an operator, whether in a list, by name, or a single one. */
export const listOf = (operand: unknown): readonly unknown[] => {
  if (Array.isArray(operand)) return operand;
  return isJsonObject(operand) && !isOperator(operand) ? Object.values(operand) : [operand];
};

/** Bytes of a text that is written out; `undefined` for any other expression. */
export const plainText = (value: unknown): number | undefined =>
  typeof value === 'string' && !value.startsWith('$') ? Buffer.byteLength(value) : undefined;
