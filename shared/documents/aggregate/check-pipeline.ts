import { isUsersName } from '../../collections/names.ts';
import { AppError } from '../../core/errors.ts';
import { cutText } from '../../core/text.ts';
import type { JsonObject } from '../document.ts';
import { entriesIn, isJsonObject } from '../values.ts';
import { parseOperand } from './convert-match.ts';
import { countInFacet, countKept, type Kept } from './memory.ts';
import { invalidPipeline, type Stage, stageParts } from './pipeline.ts';

const allowedStages: ReadonlySet<string> = new Set([
  ...['$match', '$project', '$addFields', '$set', '$unset', '$group', '$sort', '$limit', '$skip', '$count', '$unwind'],
  ...['$lookup', '$graphLookup', '$unionWith', '$facet', '$bucket', '$bucketAuto', '$sortByCount', '$replaceRoot'],
  ...['$replaceWith', '$sample', '$geoNear', '$search', '$vectorSearch', '$setWindowFields', '$densify', '$fill'],
  '$redact',
]);

/** All options of joining stages. MongoDB also knows internal ones, and another database as target. */
const joinOptions: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['$lookup', new Set(['from', 'localField', 'foreignField', 'let', 'pipeline', 'as'])],
  ['$unionWith', new Set(['coll', 'pipeline'])],
  [
    '$graphLookup',
    new Set([
      ...['from', 'startWith', 'connectFromField', 'connectToField', 'as', 'maxDepth', 'depthField'],
      'restrictSearchWithMatch',
    ]),
  ],
]);

const maxStages = 50;
const maxDepth = 4;

/** In all conditions together: the planner's work grows with their square and has no time limit. */
const maxConditionKeys = 2000;

interface Counter extends Kept {
  stages: number;
  conditionKeys: number;
  readonly joined: Set<string>;
}

const requireObject = (value: unknown, what: string): JsonObject => {
  if (!isJsonObject(value)) throw invalidPipeline(`${what} must be an object.`);
  return value;
};

const checkCondition = (value: unknown, what: string, tally: Counter): void => {
  tally.conditionKeys += entriesIn(requireObject(value, what)).reduce((sum) => sum + 1, 0);
  if (tally.conditionKeys > maxConditionKeys) {
    throw invalidPipeline(
      `The conditions of the pipeline name more than ${maxConditionKeys} fields and operators. Use $in for long lists of values.`,
    );
  }
};

const checkCollection = (name: unknown, what: string, tally: Counter): void => {
  if (typeof name !== 'string' || name === '') throw invalidPipeline(`${what} must be the name of a collection.`);
  if (isUsersName(name)) {
    throw new AppError('USERS_RESERVED', 'The users collection cannot be joined. Use /api/userAuth.');
  }
  tally.joined.add(name);
};

const checkJoin = (name: string, operand: unknown, at: string, depth: number, tally: Counter): void => {
  if (name === '$unionWith' && typeof operand === 'string') {
    checkCollection(operand, `${at}.$unionWith`, tally);
    return;
  }
  const join = requireObject(operand, `${at}.${name}`);
  if (name !== '$unionWith') countKept(tally, 'keeping', `${at}.${name}`);
  for (const key of Object.keys(join)) {
    if (!joinOptions.get(name)?.has(key)) {
      throw invalidPipeline(`${at}.${name} has an unknown option "${cutText(key, 40)}".`);
    }
  }
  const target = name === '$unionWith' ? 'coll' : 'from';
  checkCollection(join[target], `${at}.${name}.${target}`, tally);
  if (Object.hasOwn(join, 'let')) requireObject(join.let, `${at}.${name}.let`);
  if (Object.hasOwn(join, 'pipeline')) checkStages(join.pipeline, `${at}.${name}.pipeline`, depth + 1, tally);
  if (Object.hasOwn(join, 'restrictSearchWithMatch')) {
    checkCondition(join.restrictSearchWithMatch, `${at}.${name}.restrictSearchWithMatch`, tally);
  }
};

const checkOperand = (name: string, operand: unknown, at: string, depth: number, tally: Counter): void => {
  if (joinOptions.has(name)) {
    checkJoin(name, operand, at, depth, tally);
  } else if (name === '$facet') {
    for (const [key, stages] of Object.entries(requireObject(operand, `${at}.$facet`))) {
      if (Array.isArray(stages)) {
        countInFacet(tally, stages, `${at}.$facet.${cutText(key, 40)}`);
      }
      checkStages(stages, `${at}.$facet.${cutText(key, 40)}`, depth + 1, tally);
    }
  } else if (name === '$match') {
    checkCondition(operand, `${at}.$match`, tally);
  } else if (name === '$vectorSearch') {
    requireObject(operand, `${at}.$vectorSearch`);
  } else if (name === '$geoNear') {
    const near = requireObject(operand, `${at}.$geoNear`);
    if (Object.hasOwn(near, 'query')) checkCondition(near.query, `${at}.$geoNear.query`, tally);
  }
};

const checkStages = (stages: unknown, at: string, depth: number, tally: Counter): void => {
  if (!Array.isArray(stages)) throw invalidPipeline(`${at} must be an array of stages.`);
  if (depth > maxDepth) throw invalidPipeline(`Pipelines may be nested at most ${maxDepth} deep.`);
  tally.stages += stages.length;
  if (tally.stages > maxStages) throw invalidPipeline(`A pipeline may have at most ${maxStages} stages in all.`);
  for (const [position, stage] of stages.entries()) {
    const where = `${at}[${position}]`;
    if (!isJsonObject(stage) || Object.keys(stage).length !== 1) {
      throw invalidPipeline(`${where} must be an object with exactly one key, the name of the stage.`);
    }
    const [name, operand] = stageParts(stage);
    if (!allowedStages.has(name)) {
      throw new AppError(
        'BLOCKED_STAGE',
        `The stage ${cutText(name, 40)} (${where}) is not allowed in an aggregation.`,
      );
    }
    checkOperand(name, operand, where, depth, tally);
  }
};

/**
 * Checks a caller's pipeline before it reaches the database (contract 2, "Aggregation"). Returns it with its
 * Extended JSON parsed, and the names of the joined collections. Throws 400 `INVALID_PIPELINE` if it is not a list
 * of stages, too long or too deep, 400 `BLOCKED_STAGE` for other stages than the allowed ones, 403 `USERS_RESERVED`
 * for a join of `users`.
 */
export const checkPipeline = (value: unknown) => {
  if (!Array.isArray(value) || value.length === 0) {
    throw invalidPipeline('Send {"pipeline": […]} with an array of at least one stage.');
  }
  const tally: Counter = { stages: 0, inFacets: 0, gathering: 0, conditionKeys: 0, keeping: 0, joined: new Set() };
  checkStages(value, 'pipeline', 0, tally);
  const names = { count: 0 };
  return { pipeline: value.map((stage: Stage) => parseOperand(stage, names) as Stage), joined: tally.joined };
};
