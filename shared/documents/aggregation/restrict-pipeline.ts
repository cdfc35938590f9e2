import type { Collection } from '../../collections/collection.ts';
import type { JsonObject } from '../document.ts';
import { barrier, mayReveal, searchesText } from '../revealing-condition.ts';
import { convertMatch } from './convert-match.ts';
import { invalidPipeline, type Pipeline, type Stage, stageParts } from './pipeline.ts';

/** A collection that documents are read from; `readFilter` is there where the caller may not read all of them. */
export interface Source {
  readonly collection: Collection;
  readonly readFilter: JsonObject | undefined;
}

/** What a pipeline reads: the collection it runs on, and those it joins by name. */
export interface Sources {
  readonly main: Source;
  readonly joined: ReadonlyMap<string, Source>;
  readonly includeDeleted: boolean;
}

interface Rewriting extends Sources {
  /** Some source has documents that the caller may not read. */
  readonly hidesDocuments: boolean;
}

/** Stages that hand documents on as they are stored, so that a `$match` after them still sees the schema's types. */
const preserving: ReadonlySet<string> = new Set([
  ...['$match', '$sort', '$limit', '$skip', '$sample', '$geoNear', '$search', '$vectorSearch'],
]);

const both = (ours: JsonObject | undefined, theirs: JsonObject): JsonObject => {
  if (!ours) return theirs;
  return Object.keys(theirs).length === 0 ? ours : { $and: [ours, theirs] };
};

const conditionOf = ({ readFilter }: Source, { includeDeleted }: Rewriting): JsonObject | undefined => {
  const active = includeDeleted ? undefined : { isDeleted: { $ne: true } };
  return readFilter ? both(active, readFilter) : active;
};

const requireSilent = (condition: JsonObject, source: Source, where: string): void => {
  if (source.readFilter && mayReveal(condition)) {
    throw invalidPipeline(
      `$expr, $regex and $jsonSchema cannot be used in ${where} of the private collection "${source.collection.name}". Put them into a $match stage that comes later.`,
    );
  }
};

const joinedSource = (name: unknown, { joined }: Rewriting): Source => {
  const source = joined.get(String(name));
  if (!source) throw new Error('A joined collection was not looked up');
  return source;
};

const restrictLookup = (lookup: JsonObject, rewriting: Rewriting): JsonObject => {
  const source = joinedSource(lookup.from, rewriting);
  const pipeline = restrictSource((lookup.pipeline as Pipeline | undefined) ?? [], source, rewriting);
  return lookup.pipeline === undefined && pipeline.length === 0 ? lookup : { ...lookup, pipeline };
};

const restrictUnion = (operand: unknown, rewriting: Rewriting): JsonObject => {
  const union = typeof operand === 'string' ? { coll: operand } : (operand as JsonObject);
  const source = joinedSource(union.coll, rewriting);
  return { ...union, pipeline: restrictSource((union.pipeline as Pipeline | undefined) ?? [], source, rewriting) };
};

const restrictGraph = (graph: JsonObject, rewriting: Rewriting): JsonObject => {
  const source = joinedSource(graph.from, rewriting);
  const theirs = convertMatch(source.collection, (graph.restrictSearchWithMatch as JsonObject | undefined) ?? {});
  requireSilent(theirs, source, 'restrictSearchWithMatch');
  const restrictSearchWithMatch = both(conditionOf(source, rewriting), theirs);
  return Object.keys(restrictSearchWithMatch).length === 0 ? graph : { ...graph, restrictSearchWithMatch };
};

/** Rewrites the operands of the stages of one pipeline; `stored`: its documents come as the collection stores them. */
const rewriteStages = (pipeline: Pipeline, source: Source, stored: boolean, rewriting: Rewriting): Stage[] => {
  let typed = stored;
  return pipeline.flatMap((stage, position): Stage[] => {
    const [name, operand] = stageParts(stage);
    const seesStored = typed;
    typed &&= preserving.has(name);
    switch (name) {
      case '$match': {
        const condition = operand as JsonObject;
        const match: Stage = { $match: seesStored ? convertMatch(source.collection, condition) : condition };
        const staysFirst = position === 0 && searchesText(condition);
        return rewriting.hidesDocuments && !staysFirst && mayReveal(condition) ? [barrier, match] : [match];
      }
      case '$geoNear': {
        const near = operand as JsonObject;
        if (near.query === undefined) return [stage];
        return [{ $geoNear: { ...near, query: convertMatch(source.collection, near.query as JsonObject) } }];
      }
      case '$facet': {
        const facets = Object.entries(operand as Readonly<Record<string, Pipeline>>).map(([key, stages]) => [
          key,
          rewriteStages(stages, source, seesStored, rewriting),
        ]);
        return [{ $facet: Object.fromEntries(facets) }];
      }
      case '$lookup':
        return [{ $lookup: restrictLookup(operand as JsonObject, rewriting) }];
      case '$unionWith':
        return [{ $unionWith: restrictUnion(operand, rewriting) }];
      case '$graphLookup':
        return [{ $graphLookup: restrictGraph(operand as JsonObject, rewriting) }];
      default:
        return [stage];
    }
  });
};

/**
 * A pipeline that starts at a collection: what the caller may not see there is left out before anything else happens.
 */
const restrictSource = (pipeline: Pipeline, source: Source, rewriting: Rewriting): Stage[] => {
  const stages = rewriteStages(pipeline, source, true, rewriting);
  const ours = conditionOf(source, rewriting);
  const [first, ...rest] = stages;
  if (!ours) return stages;
  const [name, operand] = first ? stageParts(first) : ['', undefined];
  switch (name) {
    case '$geoNear': {
      const near = operand as JsonObject;
      const theirs = (near.query as JsonObject | undefined) ?? {};
      requireSilent(theirs, source, '$geoNear.query');
      return [{ $geoNear: { ...near, query: both(ours, theirs) } }, ...rest];
    }
    case '$search':
    case '$vectorSearch':
      return [first as Stage, { $match: ours }, ...rest];
    case '$match': {
      const theirs = operand as JsonObject;
      if (!searchesText(theirs)) break;
      requireSilent(theirs, source, 'the $match with $text');
      return [{ $match: both(ours, theirs) }, ...rest];
    }
  }
  return [{ $match: ours }, ...stages];
};

/**
 * The pipeline as it is run: every collection it reads, joined ones at any depth too, gives only active documents
 * (unless `includeDeleted`) that the caller may read, and strings compared with typed fields in leading `$match` stages
 * are converted. Takes a checked pipeline whose joined collections are all in `sources`. Contract 2, "Aggregation" and
 * "Row security".
 */
export const restrictPipeline = (pipeline: Pipeline, sources: Sources): Stage[] => {
  const hidesDocuments = [sources.main, ...sources.joined.values()].some(({ readFilter }) => readFilter !== undefined);
  return restrictSource(pipeline, sources.main, { ...sources, hidesDocuments });
};
