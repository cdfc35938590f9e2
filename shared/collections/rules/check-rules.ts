import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../../core/errors.ts';
import type { Project } from '../../projects/project.ts';
import { type Collection, hasRules } from '../collection.ts';
import { activeCollections } from '../collection-record.ts';
import { hasFieldRules, rightsOf } from '../schema/field-rights.ts';
import { schemaConflict } from '../schema/schema-changes.ts';
import { parseFieldRules, parseRules } from './parse-rules.ts';
import { indexFields, type Rules } from './rule.ts';

export const byName = (collections: readonly Collection[]): ReadonlyMap<string, Collection> =>
  new Map(collections.map((collection) => [collection.name, collection]));

const rulesIn = (collection: Collection, known: ReadonlyMap<string, Collection>): Rules | undefined => {
  if (hasFieldRules(collection)) parseFieldRules(collection, known);
  return hasRules(collection.rls) ? parseRules(collection, known, collection.rls.rules) : undefined;
};

/** Returns the error of invalid rules, if any. */
const misfit = (collection: Collection, known: ReadonlyMap<string, Collection>): AppError | undefined => {
  try {
    rulesIn(collection, known);
    return undefined;
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_RLS') return error;
    throw error;
  }
};

/** Throws 409 if a rule that was valid before would become invalid. */
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
 * Validates a collection's rules, and other collections' rules against its schema. Returns the collection with the
 * indexes that its rules need. Throws 400 `INVALID_RLS`, 409 `SCHEMA_CONFLICT` if existing rules name something that
 * the edit removes. `isNew`: no rule can name it yet. One query if there are rules, or if it is an edit.
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

/** Throws 409 `SCHEMA_CONFLICT` if rules of another collection name this one. */
export const requireUnnamed = async (project: Project, name: string): Promise<void> => {
  const all = await activeCollections(project);
  const others = all.filter((other) => other.name !== name);
  requireStillFit(others, all, others);
};
