import type { Key } from './item-key.ts';
import { toAttributes, type Values } from './values.ts';

/**
 * What the expressions of a write stand on: `:name` is the value of that name; `#name` is the attribute that `names`
 * gives, or else the one of that name, even if DynamoDB reserves the word.
 */
interface Expressions {
  readonly condition?: string;
  readonly names?: Readonly<Record<string, string>>;
  readonly values?: Values;
}

/** Writes a whole item. */
export type Put = Expressions & { readonly put: Key & Values };
/** Changes an item by an update expression; one that is missing is made. */
export type Update = Expressions & { readonly update: Key; readonly change: string };
export type Delete = Expressions & { readonly delete: Key };
/** Writes nothing: for a transaction that needs the condition to hold. */
export type Check = Expressions & { readonly check: Key; readonly condition: string };

const namesIn = (text: string, names: Readonly<Record<string, string>> = {}) => {
  const marks = text.match(/#\w+/g);
  if (!marks) return {};
  return {
    ExpressionAttributeNames: Object.fromEntries(marks.map((mark) => [mark, names[mark.slice(1)] ?? mark.slice(1)])),
  };
};

const expressions = ({ condition, names, values }: Expressions, change = '') => ({
  ...namesIn(`${change} ${condition ?? ''}`, names),
  ...(values && { ExpressionAttributeValues: toAttributes(values, ':') }),
  ...(condition !== undefined && {
    ConditionExpression: condition,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  }),
});

/** A write as DynamoDB takes it, by its kind. If its condition fails, the answer has the item as it was. */
export const inputOf = (TableName: string, write: Put | Update | Delete) => {
  if ('put' in write) return { Put: { TableName, Item: toAttributes(write.put), ...expressions(write) } };
  if ('delete' in write) return { Delete: { TableName, Key: toAttributes(write.delete), ...expressions(write) } };
  const [Key, UpdateExpression] = [toAttributes(write.update), write.change];
  return { Update: { TableName, Key, UpdateExpression, ...expressions(write, UpdateExpression) } };
};

/** As `inputOf`. */
export const checkInput = (TableName: string, write: Check) => {
  const [Key, ConditionExpression] = [toAttributes(write.check), write.condition];
  return { ConditionCheck: { TableName, Key, ...expressions(write), ConditionExpression } };
};
