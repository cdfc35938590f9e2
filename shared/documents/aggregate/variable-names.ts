import { isJsonObject } from '../write/schema-values.ts';
import { invalidPipeline } from './pipeline.ts';

/** Options by which an operator names the variables of a loop, whichever operator: `as`, `valueAs`, `arrayIndexAs`. */
const namesVariable = /^as$|As$/;

/** The keys of their operands are names of fields, so that `as` is one. */
const namingFields: ReadonlySet<string> = new Set([
  ...['$match', '$elemMatch', '$project', '$addFields', '$set', '$group', '$literal'],
]);

const requireOwnName = (name: unknown, operator: string): void => {
  if (typeof name !== 'string' || !/^[A-Z]/.test(name)) return;
  throw invalidPipeline(
    `${operator.slice(0, 40)} cannot name a variable ${name.slice(0, 40)}: names in capitals are the database's own, and one set anew changes what fields mean. Begin it with a small letter.`,
  );
};

/**
 * Refuses an operator that sets one of MongoDB's own variables, such as `CURRENT`, which every field path is read from:
 * 400 `INVALID_PIPELINE`. Looks at what the operand says, so that it holds for operators not known here, too.
 */
export const requireOwnNames = (operator: string, operand: unknown): void => {
  if (!operator.startsWith('$') || !isJsonObject(operand) || namingFields.has(operator)) return;
  const variables = operator === '$lookup' ? operand.let : operand.vars;
  if (isJsonObject(variables)) for (const name of Object.keys(variables)) requireOwnName(name, operator);
  if (!Object.hasOwn(operand, 'input')) return;
  for (const [option, value] of Object.entries(operand))
    if (namesVariable.test(option)) requireOwnName(value, operator);
};
