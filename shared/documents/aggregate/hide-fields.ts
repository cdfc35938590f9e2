import { hiddenFields, isHiddenPath } from '../../collections/collection.ts';
import { isJsonObject } from '../write/schema-values.ts';
import { invalidPipeline, type Pipeline, type Stage, stageParts } from './pipeline.ts';

/** Removes what nobody sees of the documents that pass. */
const hide: Stage = { $unset: hiddenFields };

/** The same of the documents that a join has put into a field; one without a name is for MongoDB to refuse. */
export const hideIn = (path: unknown): Stage[] =>
  typeof path === 'string' ? [{ $unset: hiddenFields.map((field) => `${path}.${field}`) }] : [];

/** Stages that hand documents on as they are stored. */
export const passing = /^\$(match|sort|limit|skip|sample|geoNear|search|vectorSearch)$/;

/** Stages that hand on nothing but what they name. */
const picking = /^\$(group|count|sortByCount|bucket|bucketAuto)$/;

/** Operators that reach a field without a path that names it. */
const reaching: ReadonlySet<string> = new Set(['$getField', '$jsonSchema']);

/** Whether a text names a hidden field, or the whole document with it. */
const namesHidden = (text: string): boolean =>
  /^\$\$(ROOT|CURRENT)\b/.test(text) || isHiddenPath(text.startsWith('$') ? text.slice(1) : text);

/** Whether an operand can tell of what nobody sees. */
const tells = (operand: unknown): boolean => {
  if (typeof operand === 'string') return namesHidden(operand);
  if (Array.isArray(operand)) return operand.some(tells);
  if (!isJsonObject(operand)) return false;
  return Object.entries(operand).some(([key, value]) => isHiddenPath(key) || reaching.has(key) || tells(value));
};

/**
 * A `$project` that names what it keeps, which leaves everything else out; `_id` alone may be left out in either kind.
 */
const keeps = (operand: unknown): boolean =>
  isJsonObject(operand) &&
  Object.entries(operand).some(
    ([key, value]) => key !== '_id' && (value === true || (typeof value === 'number' && value !== 0)),
  );

/** Refuses an operand that reads an index before anything can be hidden: 400 `INVALID_PIPELINE`. */
export const refuseHidden = (name: string, operand: unknown): void => {
  if (!tells(operand)) return;
  throw invalidPipeline(
    `${name} names ${hiddenFields.join(', ')}, which are the service's own, or the whole document with them. Name other fields.`,
  );
};

/**
 * Stages that begin with stored documents, with what nobody sees removed where the first could tell of it: behind those
 * that find and sort by an index, and nowhere before a `$group` or `$project` that names other fields.
 */
export const hideFields = (stages: Pipeline): Stage[] => {
  for (const [position, stage] of stages.entries()) {
    const [name, operand] = stageParts(stage);
    const isSafe = !tells(operand);
    if (isSafe && passing.test(name)) continue;
    if (isSafe && (picking.test(name) || (name === '$project' && keeps(operand)))) return [...stages];
    return [...stages.slice(0, position), hide, ...stages.slice(position)];
  }
  return [...stages, hide];
};
