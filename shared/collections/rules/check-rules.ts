import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../../core/errors.ts';
import type { Project } from '../../projects/project.ts';
import { type Collection, hasRules } from '../collection.ts';
import { activeCollections } from '../collection-record.ts';
import { hasFieldRules, rightsOf } from '../schema/field-rights.ts';
import { schemaConflict } from '../schema/schema-changes.ts';
import { parseFieldRules, parseRules } from './parse-rules.ts';
import { indexFields, type Rules } from './rule.ts';

/** The collections of a project by name. */
export const byName = (collections: readonly Collection[]): ReadonlyMap<string, Collection> =>
  new Map(collections.map((collection) => [collection.name, collection]));

const rulesIn = (collection: Collection, known: ReadonlyMap<string, Collection>): Rules | undefined => {
  if (hasFieldRules(collection)) parseFieldRules(collection, known);
  return hasRules(collection.rls) ? parseRules(collection, known, collection.rls.rules) : undefined;
};

/** Why a collection's rules are none, among these collections; `undefined` if they are. */
const misfit = (collection: Collection, known: ReadonlyMap<string, Collection>): AppError | undefined => {
  try {
    rulesIn(collection, known);
    return undefined;
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_RLS') return error;
    throw error;
  }
};

/** Refuses a change of the collections after which a rule of these names what is not there (409). */
const requireStillFit = (checked: readonly Collection[], before: readonly Collection[], now: readonly Collection[]) => {
  const [knownBefore, knownNow] = [byName(before), byName(now)];
  for (const collection of checked) {
    const error = misfit(collection, knownNow);
    const old = knownBefore.get(collection.name);
    if (!error || (old && misfit(old, knownBefore))) continue;
    throw schemaConflict(
      `A rule of the collection "${collection.name}" would not hold any more: ${error.message} Change that rule first.`,
      [{ field: `${collection.name}: ${error.errors?.[0]?.field ?? 'rules'}`, message: error.message }],
      error,
    );
  }
};

const fieldRulesOf = (collection: Collection): unknown => {
  const { written, read } = rightsOf(collection);
  return [
    ...written.filter(({ write }) => typeof write === 'object').map(({ path, write }) => [path, write]),
    ...read.filter((right) => typeof right.read === 'object').map((right) => [right.path, right.read]),
  ];
};

const keepsFieldRules = (before: Collection, now: Collection): boolean =>
  isDeepStrictEqual(fieldRulesOf(before), fieldRulesOf(now));

/**
 * Checks a collection's rules, and those of the other collections against its schema, before it is saved. Returns the
 * collection with the indexes that its rules need. 400 `INVALID_RLS`; 409 `SCHEMA_CONFLICT` if the rules of another
 * collection, or its own that the edit leaves as they are, name what the edit removes. `isNew`: nothing can name it yet.
 * Costs one command if rules are in it, or if it is edited.
 */
export const checkRules = async (project: Project, collection: Collection, isNew: boolean): Promise<Collection> => {
  if (isNew && !hasRules(collection.rls) && !hasFieldRules(collection)) return collection;
  const before = await activeCollections(project);
  const others = before.filter(({ name }) => name !== collection.name);
  const now = [...others, collection];
  if (!isNew) {
    const own = before.find(({ name }) => name === collection.name);
    const keepsRules =
      own && isDeepStrictEqual(own.rls.rules, collection.rls.rules) && keepsFieldRules(own, collection);
    requireStillFit(keepsRules ? now : others, before, now);
  }
  const rules = rulesIn(collection, byName(now));
  return rules ? { ...collection, ruleIndexes: indexFields(rules.list) } : collection;
};

/** Refuses to delete a collection that the rules of another one name: 409 `SCHEMA_CONFLICT`. */
export const requireUnnamed = async (project: Project, name: string): Promise<void> => {
  const all = await activeCollections(project);
  const others = all.filter((other) => other.name !== name);
  requireStillFit(others, all, others);
};
