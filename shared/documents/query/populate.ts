import { ObjectId } from 'mongodb';
import type { Collection, ValueType } from '../../collections/collection.ts';
import { findCollections } from '../../collections/find-collections.ts';
import { isPosition, shown, typeAt } from '../../collections/schema/field-path.ts';
import { AppError } from '../../core/errors.ts';
import type { JsonText } from '../../core/json.ts';
import type { AccessContext } from '../access/access.ts';
import type { Document } from '../document.ts';
import { type Measured, PageBudget } from '../page-size.ts';
import { isJsonObject } from '../values.ts';
import type { Row } from './find-rows.ts';
import type { ListQuery } from './list-query.ts';
import { findTargets, type Replacements } from './populate-targets.ts';

/** A `Ref` field to populate: its path, and the collection that it refers to. */
interface RefPath {
  readonly segments: readonly string[];
  readonly target: string;
}

/** The collection that a field refers to, arrays of references included. */
const targetOf = (field: ValueType | undefined): string | undefined => {
  if (field?.type === 'Array') return targetOf(field.items);
  return field?.ref;
};

/** Looks up the fields to populate in the schema. Throws 400 `INVALID_QUERY` for one that is not a `Ref`. */
export const refPaths = (collection: Collection, paths: readonly string[]): readonly RefPath[] =>
  paths.map((path) => {
    const target = targetOf(typeAt(collection, path));
    if (target === undefined) {
      throw new AppError('INVALID_QUERY', `"${shown(path)}" cannot be populated: it is not a Ref field of the schema.`);
    }
    return { segments: path.split('.'), target };
  });

/** Copies a value and replaces every reference at the end of a path, through arrays too. */
export const mapRefs = (value: unknown, segments: readonly string[], replace: (id: ObjectId) => unknown): unknown => {
  const [segment, ...rest] = segments;
  if (Array.isArray(value)) {
    if (segment === undefined || !isPosition(segment)) return value.map((item) => mapRefs(item, segments, replace));
    return value.map((item, index) => (index === Number(segment) ? mapRefs(item, rest, replace) : item));
  }
  if (segment === undefined) return value instanceof ObjectId ? replace(value) : value;
  if (!isJsonObject(value) || !Object.hasOwn(value, segment)) return value;
  return { ...value, [segment]: mapRefs(value[segment], rest, replace) };
};

/** What to populate, and for whom. */
interface Population extends AccessContext {
  readonly query: Pick<ListQuery, 'populate' | 'includeDeleted'>;
}

/** Ids, 24 hex characters each, by the collection that they refer to. */
type Pointed = ReadonlyMap<string, ReadonlySet<string>>;

/** The ids at these paths of the documents. */
const pointedBy = (rows: readonly Row[], refs: readonly RefPath[]): Pointed => {
  const pointed = new Map<string, Set<string>>();
  for (const { segments, target } of refs) {
    const found = pointed.get(target) ?? new Set<string>();
    pointed.set(target, found);
    for (const { document } of rows) mapRefs(document, segments, (id) => found.add(id.toHexString()));
  }
  return pointed;
};

type Targets = ReadonlyMap<string, Replacements>;

/** All referenced documents, one query per collection; `undefined` if they are too large for a page. */
const readAll = async (
  { project, caller, query: { includeDeleted } }: Population,
  pointed: Pointed,
): Promise<Targets | undefined> => {
  const wanted = [...pointed].filter(([, ids]) => ids.size > 0);
  const collections = await findCollections(
    project,
    wanted.map(([name]) => name),
  );
  const read = await Promise.all(
    wanted.map(async ([name, ids]) => {
      const collection = collections.get(name);
      if (!collection) return [name, () => null] as const;
      return [name, await findTargets({ project, collection, caller }, [...ids], includeDeleted)] as const;
    }),
  );
  const all = new Map<string, Replacements>();
  for (const [name, replacements] of read) {
    if (!replacements) return undefined;
    all.set(name, replacements);
  }
  return all;
};

/** The bytes of an id in a response, with its escaped quotes, and of `null`. */
const idBytes = 28;
const nullBytes = 4;

/**
 * A document with its references replaced. Its size is added up from its parts, because a target may occur many
 * times.
 */
const populated = (
  base: Row,
  refs: readonly RefPath[],
  targets: Targets,
): Measured & { readonly document: Document } => {
  const inside: Row[] = [];
  let nulls = 0;
  const replaceIn = (replacements: Replacements | undefined) => (id: ObjectId) => {
    const replacement = replacements?.(id.toHexString()) ?? null;
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

/** As many documents of a page as fit with their references; at least the first. */
const populatedDocuments = async (
  population: Population,
  rows: readonly Row[],
  refs: readonly RefPath[],
): Promise<Document[]> => {
  const targets = await readAll(population, pointedBy(rows, refs));
  if (!targets) {
    if (rows.length <= 1) return rows.map(({ document }) => document);
    return populatedDocuments(population, rows.slice(0, Math.ceil(rows.length / 2)), refs);
  }
  const page: Document[] = [];
  const budget = new PageBudget();
  for (const row of rows) {
    const each = populated(row, refs, targets);
    if (!budget.add(each)) break;
    page.push(each.document);
  }
  return page.length > 0 ? page : rows.slice(0, 1).map(({ document }) => document);
};

/**
 * Populates `Ref` fields of the documents of a page, as many as fit with their references (contract 2, "List"). If
 * not even the first fits, it comes alone, with its ids. Throws 400 `INVALID_QUERY` for a field that is not a `Ref`.
 */
export const populateRows = async (
  population: Population,
  rows: readonly Row[],
): Promise<readonly (Document | JsonText)[]> => {
  const refs = refPaths(population.collection, population.query.populate);
  if (refs.length === 0) return rows.map(({ text }) => text);
  return populatedDocuments(population, rows, refs);
};
