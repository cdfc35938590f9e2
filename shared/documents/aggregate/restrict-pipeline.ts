import { shownIn } from '../../collections/trash-conditions.ts';
import type { JsonObject } from '../document.ts';
import { barrier } from '../read/revealing-condition.ts';
import { convertMatch } from './convert-match.ts';
import { firstStages, tellsOfOthers } from './first-stages.ts';
import { hideFields, hideIn, passing, refuseHidden } from './hide-fields.ts';
import { joinByFields } from './join-by-fields.ts';
import { both, type Pipeline, type Source, type Sources, type Stage, stageParts, withPipelines } from './pipeline.ts';

interface Rewriting extends Sources {
  /** Some source has documents that the caller may not read. */
  readonly hidesDocuments: boolean;
}

/** MongoDB moves conditions that follow these stages into them. */
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

/** Rewrites the operands of the stages of one pipeline; `stored`: its documents come as the collection stores them. */
const rewriteStages = (pipeline: Pipeline, source: Source, stored: boolean, rewriting: Rewriting): Stage[] => {
  let typed = stored;
  let readsOthers = false;
  return pipeline.flatMap((stage): Stage[] => {
    const [name, operand] = stageParts(stage);
    const seesStored = typed;
    // A `$match` after these still sees the schema's types.
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
          ...hideIn((operand as JsonObject).as),
        ];
      default:
        return [stage];
    }
  });
};

/**
 * A pipeline that starts at a collection: what the caller may not see there is left out before anything else happens.
 * Where documents are hidden nothing of the caller's crosses the barrier behind that, so that it cannot choose an index
 * that leads to them; `behind` are stages to run next.
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
  return [...first, ...(source.visibilityFilter ? [barrier] : []), ...behind, ...hideFields(rest)];
};

/**
 * The pipeline as it is run: every collection it reads, joined ones at any depth too, gives only active documents
 * (unless `includeDeleted`) that the caller may read, and strings compared with typed fields in leading `$match` stages
 * are converted. Takes a checked pipeline whose joined collections are all in `sources`. Contract 2, "Aggregation" and
 * "Row security".
 */
export const restrictPipeline = (pipeline: Pipeline, sources: Sources): Stage[] => {
  const hidesDocuments = [sources.main, ...sources.joined.values()].some(
    ({ visibilityFilter }) => visibilityFilter !== undefined,
  );
  return restrictSource(pipeline, sources.main, { ...sources, hidesDocuments });
};
