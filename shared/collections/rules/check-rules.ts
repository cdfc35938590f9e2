import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../../core/errors.ts';
import { isPlainObject } from '../../core/json.ts';
import type { Project } from '../../projects/project.ts';
import { type Collection, hasRules, rowSecurityModes } from '../collection.ts';
import { activeCollections } from '../collection-record.ts';
import { effectHints } from '../effects/effect-hints.ts';
import { parseEffects } from '../effects/parse-effects.ts';
import { invalidEffect } from '../effects/parse-expression.ts';
import { usersCollection } from '../names.ts';
import { hasFieldRules, rightsOf } from '../schema/field-rights.ts';
import { isScalar } from '../schema/field-types.ts';
import { schemaConflict } from '../schema/schema-changes.ts';
import { parseFieldRules, parseRules } from './parse-rules.ts';
import {
  indexFields,
  isFalse,
  isTrue,
  lacksIndex,
  type RuleComparison,
  type RuleNode,
  type Rules,
  someNode,
} from './rule.ts';
import { invalidRls } from './rule-scope.ts';

export const byName = (collections: readonly Collection[]): ReadonlyMap<string, Collection> =>
  new Map(collections.map((collection) => [collection.name, collection]));

/**
 * Throws if a rule can mean its two halves as well as a condition on fields of their names, such as
 * `"read": {"list": true}` with a field `list`.
 */
const requireClear = (collection: Collection): void => {
  const { schema, rls, effects = [] } = collection;
  const isField = (name: string): boolean => name === rls.ownerField || (schema ?? []).some(({ key }) => key === name);
  const check = (at: string, rule: unknown, halves: readonly string[], invalid: typeof invalidRls): void => {
    const names = isPlainObject(rule) ? Object.keys(rule) : [];
    if (names.length === 0 || !names.every((name) => halves.includes(name) && isField(name))) return;
    const [name] = names;
    const condition = `{"$and": [{"${name}": …}]}`;
    throw invalid(
      `${at}.${name}`,
      `can mean this half of the rule, or the field of this name. For the field, write ${condition}.`,
    );
  };
  const [reads, writes] = [
    ['get', 'list'],
    ['before', 'after'],
  ];
  if (hasRules(rls)) {
    check('rules.read', rls.rules?.read, reads, invalidRls);
    check('rules.update', rls.rules?.update, writes, invalidRls);
  }
  for (const { path, write } of rightsOf(collection).written) check(`schema.${path}.write`, write, writes, invalidRls);
  for (const [at, { where }] of effects.entries()) check(`effects.${at}.where`, where, writes, invalidEffect);
};

const rulesIn = (collection: Collection, known: ReadonlyMap<string, Collection>): Rules | undefined => {
  requireClear(collection);
  if (hasFieldRules(collection)) parseFieldRules(collection, known);
  if (collection.effects) parseEffects(collection, known);
  return hasRules(collection.rls) ? parseRules(collection, known, collection.rls.rules) : undefined;
};

const misfit = (collection: Collection, known: ReadonlyMap<string, Collection>): AppError | undefined => {
  try {
    rulesIn(collection, known);
    return undefined;
  } catch (error) {
    if (error instanceof AppError && (error.code === 'INVALID_RLS' || error.code === 'INVALID_EFFECT')) return error;
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
    const what = error.code === 'INVALID_EFFECT' ? 'effect' : 'rule';
    throw schemaConflict(
      `${what === 'rule' ? 'A rule' : 'An effect'} of the collection "${collection.name}" would no longer be valid: ${error.message} Change that ${what} first.`,
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

/** The fields of users by which the directory can be filtered. */
export const directoryIndexes = ({ directory }: Pick<Project, 'directory'>, users: Collection): readonly string[] =>
  users.name === usersCollection && directory
    ? (users.schema ?? []).flatMap(({ key, type }) => (directory.fields.includes(key) && isScalar(type) ? [key] : []))
    : [];

/**
 * Validates a collection's rules and effects, and those of other collections against its schema. Returns the
 * collection with the indexes that its rules need. Throws 400 `INVALID_RLS`, `INVALID_EFFECT`, 409 `SCHEMA_CONFLICT` if
 * existing ones name something that the edit removes. `isNew`: none can name it yet. One query if there are rules or
 * effects, or if it is an edit.
 */
export const checkRules = async (project: Project, collection: Collection, isNew: boolean): Promise<Collection> => {
  const shown = directoryIndexes(project, collection);
  const indexed = (rules?: Rules): Collection => {
    const fields = [...new Set([...(rules ? indexFields(rules.list) : []), ...shown])];
    return rules || fields.length > 0 ? { ...collection, ruleIndexes: fields } : collection;
  };
  if (isNew && !hasRules(collection.rls) && !hasFieldRules(collection) && !collection.effects) return indexed();
  const before = await activeCollections(project);
  const others = before.filter(({ name }) => name !== collection.name);
  const now = [...others, collection];
  if (!isNew) {
    const own = before.find(({ name }) => name === collection.name);
    const keepsRules =
      own &&
      isDeepStrictEqual(own.rls.rules, collection.rls.rules) &&
      isDeepStrictEqual(own.effects, collection.effects) &&
      keepsFieldRules(own, collection);
    requireStillFit(keepsRules ? now : others, before, now);
  }
  return indexed(rulesIn(collection, byName(now)));
};

/** Throws 409 `SCHEMA_CONFLICT` if rules of another collection name this one. */
export const requireUnnamed = async (project: Project, name: string): Promise<void> => {
  const all = await activeCollections(project);
  const others = all.filter((other) => other.name !== name);
  requireStillFit(others, all, others);
};

type Known = ReadonlyMap<string, Collection>;

const anyUserCreates = (collection: Collection, known: Known): boolean => {
  const { rls } = collection;
  if (!rls.enabled) return false;
  if (rls.mode !== 'rules') return rowSecurityModes.includes(rls.mode);
  return isTrue(parseRules(collection, known, rls.rules).create);
};

const everyRule = (rules: Rules): readonly RuleNode[] => [
  ...[rules.get, rules.list, rules.create, rules.before, rules.after, rules.delete],
  ...[rules.readTrash, rules.recover, rules.purge],
];

const comparisonsOf = (rules: Rules): readonly RuleComparison[] => {
  const found: RuleComparison[] = [];
  for (const rule of everyRule(rules)) {
    someNode(rule, (node) => {
      if (node.kind === 'compare') found.push(node);
      return false;
    });
  }
  return found;
};

/** The first comparison per key, so that each hint is given once. */
const firstOf = (
  comparisons: readonly RuleComparison[],
  key: (comparison: RuleComparison) => string | undefined,
): ReadonlyMap<string, string> => {
  const first = new Map<string, string>();
  for (const comparison of comparisons) {
    const value = key(comparison);
    if (value !== undefined && !first.has(value)) first.set(value, comparison.at);
  }
  return first;
};

const openSources = (comparisons: readonly RuleComparison[], known: Known): readonly string[] => {
  const sources = firstOf(comparisons, ({ operand }) => (operand.kind === 'from' ? operand.collection : undefined));
  return [...sources].flatMap(([name, at]) => {
    const source = known.get(name);
    if (!source || !anyUserCreates(source, known)) return [];
    return `${at} looks values up in "${name}" ($from), into which any user can insert: a user could give themselves the right.`;
  });
};

/** JSON bodies have no dates, so only declared fields are compared as dates. */
const timesOfTexts = (comparisons: readonly RuleComparison[]): readonly string[] => {
  const undated = firstOf(comparisons, ({ operand, type, at }) =>
    operand.kind === 'now' && type === undefined ? at : undefined,
  );
  return [...undated.values()].map(
    (at) =>
      `${at} compares a field that no schema declares with the time ($now). Dates in it are stored as texts, which are never equal to, before or after a time. Declare the field as a Date.`,
  );
};

const hintsOf = (collection: Collection, known: Known): readonly string[] => {
  const { rules: input } = collection.rls;
  const rules = parseRules(collection, known, input);
  const comparisons = comparisonsOf(rules);
  const isSplit = isPlainObject(input?.read) && 'list' in input.read;
  const list = isSplit ? 'rules.read.list' : 'rules.read';
  return [
    ...openSources(comparisons, known),
    ...timesOfTexts(comparisons),
    ...(lacksIndex(rules.list)
      ? [
          `${list} has a branch that compares no field by equality or $in, so no index finds what it allows: lists read hidden documents too, and take longer the more there are.`,
        ]
      : []),
    ...(collection.feed?.on && isFalse(rules.list) && !isFalse(rules.get)
      ? [
          'rules.read allows single documents (get) but no lists, so the changes feed reports every change to users as a deletion. Write a rule for list, or turn the feed off.',
        ]
      : []),
  ];
};

/** Returns hints on saved rules and effects, each beginning with a path. Costs one query. */
export const ruleHints = async (project: Project, name: string): Promise<readonly string[]> => {
  const known = byName(await activeCollections(project));
  const collection = known.get(name);
  if (!collection) return [];
  return [...(hasRules(collection.rls) ? hintsOf(collection, known) : []), ...effectHints(collection, known)];
};
