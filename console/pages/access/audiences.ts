import type { Collection } from '../../../shared/collections/collection.ts';
import { halvesOf, isOwnerRule, isSignedIn, readHalves, rulesOf, updateHalves } from './access-kinds.ts';
import { ruleTree } from './rule-clauses.ts';
import { branchesOf } from './rule-tree.ts';

/**
 * Callers that a rule allows, the most public first. `some`: everyone, signed in or not, for a part of the documents.
 * `rule`: users who fit a rule.
 */
const audiences = ['everyone', 'some', 'signedIn', 'rule', 'owner', 'server'] as const;
type Audience = (typeof audiences)[number];

const rankOf = (audience: Audience): number => audiences.indexOf(audience);

/** The most public of several. */
const mostPublic = (several: readonly Audience[]): Audience =>
  several.reduce((one, other) => (rankOf(other) < rankOf(one) ? other : one), 'server');

const leastPublic = (one: Audience, other: Audience): Audience => (rankOf(one) > rankOf(other) ? one : other);

const audienceOf = (rule: unknown, collection: Collection, known: readonly Collection[]): Audience => {
  const { ownerField, requires } = collection.rls;
  if (rule === undefined || rule === false) return 'server';
  // A second factor needs a user.
  if (rule === true) return requires === 'mfa' && collection.rls.enabled ? 'signedIn' : 'everyone';
  if (isSignedIn(rule)) return 'signedIn';
  if (isOwnerRule(rule, ownerField)) return 'owner';
  const tree = ruleTree('', rule, collection, known);
  const isForStrangers = tree && branchesOf(tree).some((clauses) => clauses.every(({ needsUser }) => !needsUser));
  return isForStrangers && requires !== 'mfa' ? 'some' : 'rule';
};

const parts = ['read', 'list', 'create', 'update', 'delete'] as const;

/** Who may read, list, insert, update and delete. */
export type Audiences = Readonly<Record<(typeof parts)[number], Audience>>;

export const audiencesOf = (collection: Collection, known: readonly Collection[]): Audiences => {
  const rules = rulesOf(collection.rls);
  const read = halvesOf(rules.read, readHalves);
  const update = halvesOf(rules.update, updateHalves);
  const of = (rule: unknown) => audienceOf(rule, collection, known);
  const list = of(read ? read.list : rules.read);
  return {
    read: read ? mostPublic([of(read.get), list]) : list,
    list,
    create: of(rules.create),
    // Both halves must hold.
    update: update ? leastPublic(of(update.before ?? true), of(update.after ?? true)) : of(rules.update),
    delete: of(rules.delete),
  };
};

const writes = ['create', 'update', 'delete'] as const;

/** The writes by audience, the most public first: `[['signedIn', ['create']], ['owner', ['update', 'delete']]]`. */
export const writersOf = (access: Audiences): readonly (readonly [Audience, readonly (typeof writes)[number][]])[] =>
  audiences
    .map((audience) => [audience, writes.filter((write) => access[write] === audience)] as const)
    .filter(([, names]) => names.length > 0);

const isPublic = (audience: Audience): boolean => audience === 'everyone' || audience === 'some';

/** What the publishable key may do without a signed-in user. */
export const withoutUser = ({ read, ...access }: Audiences): 'both' | 'reads' | 'writes' | 'none' => {
  const canWrite = writes.some((write) => isPublic(access[write]));
  if (isPublic(read)) return canWrite ? 'both' : 'reads';
  return canWrite ? 'writes' : 'none';
};

/** Sorts the most public first: by writers, then by readers. */
export const publicness = (access: Audiences): number =>
  rankOf(mostPublic(writes.map((write) => access[write]).filter(isPublic))) * audiences.length +
  rankOf(access.read) +
  rankOf(mostPublic(writes.map((write) => access[write]))) / audiences.length;
