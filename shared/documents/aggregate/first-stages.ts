import { MinKey } from 'mongodb';
import { isPrivate } from '../../collections/collection.ts';
import type { JsonObject } from '../document.ts';
import { mayReveal, searchesText } from '../read/revealing-condition.ts';
import { isJsonObject } from '../write/schema-values.ts';
import { both, invalidPipeline, type Source, type Stage, stageParts } from './pipeline.ts';

const insteadOf: ReadonlyMap<string, string> = new Map([
  ['$graphLookup', 'Use $lookup with a pipeline, once for each step'],
  ['$text', 'Use $regexMatch in the $expr of a $match'],
  ['$search', 'Use $vectorSearch, which can filter by owner, or $regexMatch in the $expr of a $match'],
]);

/** What an index finds in all documents before the owner's are picked tells of the others. */
export const tellsOfOthers = (name: string, { collection }: Source): Error =>
  invalidPipeline(
    `${name} cannot search the collection "${collection.name}", some of whose documents are hidden from you. ${insteadOf.get(name)}, or search from your server with the secret key.`,
  );

/** The condition without what `$vectorSearch` cannot filter by: its index holds no arrays of owners. */
const forVectors = (condition: unknown): unknown => {
  if (Array.isArray(condition)) return condition.map(forVectors);
  if (!isJsonObject(condition)) return condition;
  const kept = Object.entries(condition).filter(([key]) => key !== '$not');
  return Object.fromEntries(kept.map(([key, inner]) => [key, forVectors(inner)]));
};

/** What a stage that reads an index by itself may do where documents are hidden. */
const keepWithin = (stage: Stage, source: Source, visibilityFilter: JsonObject): Stage => {
  const [name, operand] = stageParts(stage);
  if (name === '$search') throw tellsOfOthers(name, source);
  if (name === '$match' && searchesText(operand)) throw tellsOfOthers('$text', source);
  if (name === '$geoNear' && mayReveal((operand as JsonObject).query)) {
    throw invalidPipeline(
      `$expr, $regex and $jsonSchema cannot be used in $geoNear.query of the collection "${source.collection.name}". Put them into a $match stage that comes later.`,
    );
  }
  if (name !== '$vectorSearch') return stage;
  const search = operand as JsonObject;
  return {
    $vectorSearch: {
      ...search,
      filter: both(forVectors(visibilityFilter) as JsonObject, (search.filter as JsonObject | undefined) ?? {}),
    },
  };
};

/** The index of a place begins with the owner in a private collection, and is used where there is a condition on it. */
const ofAnyOwner = ({ collection: { rls } }: Source): JsonObject | undefined =>
  isPrivate(rls) ? { [rls.ownerField]: { $gte: new MinKey() } } : undefined;

/** The stages that a pipeline begins with: our condition, inside the first stage where that must be the first. */
export const firstStages = (
  stages: readonly Stage[],
  source: Source,
  ours: JsonObject | undefined,
): readonly [first: readonly Stage[], rest: readonly Stage[]] => {
  const { visibilityFilter } = source;
  const [given = {}, ...rest] = stages;
  const first = visibilityFilter ? keepWithin(given, source, visibilityFilter) : given;
  const [name, operand] = stageParts(first);
  const within = (condition: JsonObject | undefined, theirs: unknown) =>
    condition ? both(condition, (theirs as JsonObject | undefined) ?? {}) : theirs;
  if (name === '$geoNear') {
    const near = operand as JsonObject;
    const query = within(visibilityFilter ? undefined : ofAnyOwner(source), within(ours, near.query));
    return [[{ $geoNear: { ...near, ...(query === undefined ? {} : { query }) } }], rest];
  }
  if (!ours) return [[], stages];
  if (name === '$search' || name === '$vectorSearch') return [[first, { $match: ours }], rest];
  if (name === '$match' && searchesText(operand)) return [[{ $match: within(ours, operand) }], rest];
  return [[{ $match: ours }], stages];
};
