import { MinKey } from 'mongodb';
import { hasRules, isPrivate } from '../../collections/collection.ts';
import { shownIn } from '../../collections/trash-conditions.ts';
import type { JsonObject } from '../document.ts';
import { barrier, matching, mayReveal, searchesText } from '../query/condition.ts';
import { isJsonObject } from '../values.ts';
import { convertMatch } from './convert-match.ts';
import { hideFields, hideIn, joinByFields, passing, refuseHidden } from './hide-fields.ts';
import {
  both,
  invalidPipeline,
  type Pipeline,
  type Source,
  type Sources,
  type Stage,
  stageParts,
  withPipelines,
} from './pipeline.ts';

const insteadOf: ReadonlyMap<string, string> = new Map([
  ['$graphLookup', 'Use $lookup with a pipeline, once for each step'],
  ['$vectorSearch', 'Compare vectors in your app'],
  ['$geoNear', 'Use $geoWithin in a $match'],
  ['$text', 'Use $regexMatch in the $expr of a $match'],
  ['$search', 'Use $vectorSearch, which can filter by owner, or $regexMatch in the $expr of a $match'],
]);

/** What an index finds in all documents, before the owner's are selected, would reveal others. */
const tellsOfOthers = (name: string, { collection }: Source): Error =>
  invalidPipeline(
    `${name} cannot search the collection "${collection.name}", some of whose documents are hidden from you. ${insteadOf.get(name)}, or search from your server with the secret key.`,
  );

/** The condition without the part that `$vectorSearch` cannot filter by: its index cannot hold arrays of owners. */
const forVectors = (condition: unknown): unknown => {
  if (Array.isArray(condition)) return condition.map(forVectors);
  if (!isJsonObject(condition)) return condition;
  const kept = Object.entries(condition).filter(([key]) => key !== '$not');
  return Object.fromEntries(kept.map(([key, inner]) => [key, forVectors(inner)]));
};

/** What a stage that reads an index itself may do where documents are hidden. */
const keepWithin = (stage: Stage, source: Source, visibilityFilter: JsonObject): Stage => {
  const [name, operand] = stageParts(stage);
  if (name === '$search') throw tellsOfOthers(name, source);
  if (name === '$match' && searchesText(operand)) throw tellsOfOthers('$text', source);
  if (name === '$geoNear' && mayReveal((operand as JsonObject).query)) {
    throw invalidPipeline(
      `$expr, $regex and $jsonSchema cannot be used in $geoNear.query of the collection "${source.collection.name}". Put them into a $match stage that comes later.`,
    );
  }
  if (hasRules(source.collection.rls) && (name === '$vectorSearch' || name === '$geoNear'))
    throw tellsOfOthers(name, source);
  if (name !== '$vectorSearch') return stage;
  const search = operand as JsonObject;
  return {
    $vectorSearch: {
      ...search,
      filter: both(forVectors(visibilityFilter) as JsonObject, (search.filter as JsonObject | undefined) ?? {}),
    },
  };
};

/** In a private collection a geo index begins with the owner, and is only used with a condition on it. */
const ofAnyOwner = ({ collection: { rls } }: Source): JsonObject | undefined =>
  isPrivate(rls) ? { [rls.ownerField]: { $gte: new MinKey() } } : undefined;

/** The first stages of a pipeline: our condition, inside the first stage if that stage must stay first. */
const firstStages = (
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
  return [matching(ours, source.joins), stages];
};

interface Rewriting extends Sources {
  /** Whether any source has documents or fields that the caller may not read. */
  readonly hidesDocuments: boolean;
}

/** MongoDB moves conditions after these stages into them. */
const readingOthers: ReadonlySet<string> = new Set(['$lookup', '$unionWith', '$graphLookup', '$facet']);

const conditionOf = (
  { collection, visibilityFilter }: Source,
  { includeDeleted }: Rewriting,
): JsonObject | undefined => {
  const shown = shownIn(collection, includeDeleted);
  return visibilityFilter ? both(shown, visibilityFilter) : shown;
};

const joinedSource = (name: unknown, { joined }: Rewriting): Source => {
  const source = joined.get(String(name));
  if (!source) throw new Error('A joined collection was not looked up');
  return source;
};

const restrictLookup = (lookup: JsonObject, rewriting: Rewriting): JsonObject => {
  const source = joinedSource(lookup.from, rewriting);
  const theirs = (lookup.pipeline as Pipeline | undefined) ?? [];
  refuseHidden('$lookup.foreignField', lookup.foreignField);
  if (source.visibilityFilter) {
    const [rest, comparison] = joinByFields(lookup, source.collection.name);
    return { ...rest, pipeline: restrictSource(theirs, source, rewriting, comparison) };
  }
  return { ...lookup, pipeline: restrictSource(theirs, source, rewriting) };
};

const restrictUnion = (operand: unknown, rewriting: Rewriting): JsonObject => {
  const union = typeof operand === 'string' ? { coll: operand } : (operand as JsonObject);
  const source = joinedSource(union.coll, rewriting);
  return { ...union, pipeline: restrictSource((union.pipeline as Pipeline | undefined) ?? [], source, rewriting) };
};

const restrictGraph = (graph: JsonObject, rewriting: Rewriting): JsonObject => {
  const source = joinedSource(graph.from, rewriting);
  if (source.visibilityFilter) throw tellsOfOthers('$graphLookup', source);
  const { connectFromField, connectToField } = graph;
  refuseHidden('$graphLookup', [connectFromField, connectToField, graph.restrictSearchWithMatch]);
  const theirs = convertMatch(source.collection, (graph.restrictSearchWithMatch as JsonObject | undefined) ?? {});
  const restrictSearchWithMatch = both(conditionOf(source, rewriting), theirs);
  return Object.keys(restrictSearchWithMatch).length === 0 ? graph : { ...graph, restrictSearchWithMatch };
};

/**
 * Rewrites the operands of one pipeline's stages. `stored` is true if its documents come as the collection stores
 * them.
 */
const rewriteStages = (pipeline: Pipeline, source: Source, stored: boolean, rewriting: Rewriting): Stage[] => {
  let typed = stored;
  let readsOthers = false;
  return pipeline.flatMap((stage): Stage[] => {
    const [name, operand] = stageParts(stage);
    const seesStored = typed;
    // A `$match` after these stages still has the schema's types.
    typed &&= passing.test(name);
    const mayMove = readsOthers && rewriting.hidesDocuments;
    readsOthers ||= readingOthers.has(name);
    switch (name) {
      case '$match': {
        const condition = operand as JsonObject;
        const match: Stage = { $match: seesStored ? convertMatch(source.collection, condition) : condition };
        return mayMove ? [barrier, match] : [match];
      }
      case '$geoNear': {
        const near = operand as JsonObject;
        if (near.query === undefined) return [stage];
        return [{ $geoNear: { ...near, query: convertMatch(source.collection, near.query as JsonObject) } }];
      }
      case '$facet':
        return [withPipelines(stage, '', (inner) => rewriteStages(inner, source, seesStored, rewriting))];
      case '$lookup':
        return [{ $lookup: restrictLookup(operand as JsonObject, rewriting) }];
      case '$unionWith':
        return [{ $unionWith: restrictUnion(operand, rewriting) }];
      case '$graphLookup':
        return [
          { $graphLookup: restrictGraph(operand as JsonObject, rewriting) },
          ...hideIn((operand as JsonObject).as, joinedSource((operand as JsonObject).from, rewriting).unreadable),
        ];
      default:
        return [stage];
    }
  });
};

/**
 * A pipeline on a collection: what the caller may not see is removed first. Where documents are hidden, none of the
 * caller's stages cross the barrier after that, so they cannot choose an index that leads to hidden documents.
 * `behind` are the stages to run next.
 */
const restrictSource = (
  pipeline: Pipeline,
  source: Source,
  rewriting: Rewriting,
  behind: readonly Stage[] = [],
): Stage[] => {
  const stages = rewriteStages(pipeline, source, true, rewriting);
  const [first, rest] = firstStages(stages, source, conditionOf(source, rewriting));
  if (rest.length < stages.length) refuseHidden(...stageParts(pipeline[0] ?? {}));
  return [...first, ...(source.visibilityFilter ? [barrier] : []), ...behind, ...hideFields(rest, source.unreadable)];
};

/**
 * The pipeline as it runs: every collection, joined ones at any depth included, yields only active documents (unless
 * `includeDeleted`) that the caller may read, and strings compared with typed fields in leading `$match` stages are
 * converted. Takes a checked pipeline whose joined collections are all in `sources`. Contract 2, "Aggregation" and
 * "Row security".
 */
export const restrictPipeline = (pipeline: Pipeline, sources: Sources): Stage[] => {
  const hidesDocuments = [sources.main, ...sources.joined.values()].some(
    ({ visibilityFilter, unreadable }) => visibilityFilter !== undefined || unreadable.length > 0,
  );
  return restrictSource(pipeline, sources.main, { ...sources, hidesDocuments });
};
