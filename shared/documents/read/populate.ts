import type { ObjectId } from 'mongodb';
import { findCollections } from '../../collections/find-collections.ts';
import type { Document } from '../document.ts';
import type { Visit } from '../row-security.ts';
import { sizeOf } from '../write/document-size.ts';
import { type Measured, PageBudget, Sized } from './page-size.ts';
import { mapRefs, type RefPath, refPaths } from './populate-path.ts';
import { findTargets, type Replacements } from './populate-targets.ts';

/** What to populate, and on whose behalf. */
export interface Population extends Visit {
  readonly paths: readonly string[];
  readonly includeDeleted: boolean;
}

/** What an id takes in an answer, its escaped quotes included, and what `null` does. */
const idBytes = 28;
const nullBytes = 4;

const idsByTarget = (documents: readonly Sized[], refs: readonly RefPath[]): Map<string, Map<string, ObjectId>> => {
  const targets = new Map<string, Map<string, ObjectId>>();
  for (const { segments, target } of refs) {
    const ids = targets.get(target) ?? new Map<string, ObjectId>();
    targets.set(target, ids);
    for (const { document } of documents) mapRefs(document, segments, (id) => ids.set(id.toHexString(), id));
  }
  return targets;
};

/** Everything the documents point at, one query a collection; `undefined` if it is too large for any page. */
const readAll = async (
  { project, caller, includeDeleted }: Population,
  documents: readonly Sized[],
  refs: readonly RefPath[],
): Promise<ReadonlyMap<string, Replacements> | undefined> => {
  const wanted = [...idsByTarget(documents, refs)].filter(([, ids]) => ids.size > 0);
  const collections = await findCollections(
    project,
    wanted.map(([name]) => name),
  );
  const read = await Promise.all(
    wanted.map(async ([name, ids]) => {
      const replacements = await findTargets(project, collections.get(name), caller, [...ids.values()], includeDeleted);
      return [name, replacements] as const;
    }),
  );
  const all = new Map<string, Replacements>();
  for (const [name, replacements] of read) {
    if (!replacements) return undefined;
    all.set(name, replacements);
  }
  return all;
};

/** One document with its references replaced; measured by its parts, because one target may stand in it many times. */
const populated = (
  base: Sized,
  refs: readonly RefPath[],
  targets: ReadonlyMap<string, Replacements>,
): Measured & { readonly document: Document } => {
  const inside: Sized[] = [];
  let nulls = 0;
  const replaceIn = (replacements: Replacements | undefined) => (id: ObjectId) => {
    const replacement = replacements?.(id) ?? null;
    if (replacement === 'id') return id;
    if (replacement === null) nulls += 1;
    else inside.push(replacement);
    return replacement?.document ?? null;
  };
  let { document } = base;
  for (const { segments, target } of refs) {
    document = mapRefs(document, segments, replaceIn(targets.get(target))) as Document;
  }
  return {
    document,
    atMost: inside.reduce((sum, part) => sum + part.atMost, base.atMost),
    exact: () =>
      inside.reduce((sum, part) => sum + part.exact() - 1 - idBytes, base.exact() - nulls * (idBytes - nullBytes)),
  };
};

/**
 * Populates `Ref` fields of a page's documents, as many from its start as fit into a page with what they point at
 * (contract 2, "List"). Where not even the first fits it comes alone, its ids in place. A field that is not a `Ref` →
 * 400 `INVALID_QUERY`.
 */
export const populatePage = async (population: Population, documents: readonly Sized[]): Promise<Document[]> => {
  const refs = refPaths(population.collection, population.paths);
  const [first] = documents;
  if (!first || refs.length === 0) return documents.map(({ document }) => document);
  const targets = await readAll(population, documents, refs);
  if (!targets) {
    if (documents.length === 1) return [first.document];
    return populatePage(population, documents.slice(0, Math.ceil(documents.length / 2)));
  }
  const budget = new PageBudget();
  const page: Document[] = [];
  for (const base of documents) {
    const whole = populated(base, refs, targets);
    if (!budget.add(whole)) break;
    page.push(whole.document);
  }
  return page.length > 0 ? page : [first.document];
};

/** Populates `Ref` fields of one document, whose ids stay where the documents behind them are over 5 MiB of JSON. */
export const populateDocument = async (population: Population, document: Document): Promise<Document> => {
  const [whole = document] = await populatePage(population, [new Sized(document, sizeOf(document))]);
  return whole;
};
