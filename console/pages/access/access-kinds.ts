import type { Collection } from '../../../shared/collections/collection.ts';
import type { RulesInput } from '../../../shared/collections/rules/rule.ts';
import { isPlainObject } from '../../../shared/core/json.ts';
import { explainRule } from './explain-rule.ts';
import type { RuleName } from './rule-clauses.ts';

export const accessKinds = ['server', 'public', 'signed-in', 'owner', 'rules'] as const;
export type AccessKind = (typeof accessKinds)[number];

/** Row security as it is, or would be, saved. */
export type Access = Pick<Collection['rls'], 'enabled' | 'mode' | 'ownerField' | 'rules'>;

export const signedIn = { $user: {} } as const;

export const isSignedIn = (rule: unknown): boolean => JSON.stringify(rule) === JSON.stringify(signedIn);

export const ownerRule = (ownerField: string) => ({ [ownerField]: { $user: '_id' } });

export const isOwnerRule = (rule: unknown, ownerField: string): boolean =>
  ownerField !== '' && JSON.stringify(rule) === JSON.stringify(ownerRule(ownerField));

/** The halves of a rule that has two; `undefined` for a single rule. */
export const halvesOf = (rule: unknown, names: readonly string[]): Readonly<Record<string, unknown>> | undefined => {
  if (!isPlainObject(rule)) return undefined;
  const keys = Object.keys(rule);
  return keys.length > 0 && keys.every((key) => names.includes(key)) ? rule : undefined;
};

export const readHalves = ['get', 'list'] as const;
export const updateHalves = ['before', 'after'] as const;

const noRules: RulesInput = { read: false, create: false, update: false, delete: false };

const allowsNothing = ({ read = false, create = false, update = false, delete: remove = false }: RulesInput): boolean =>
  [read, create, update, remove].every((rule) => rule === false);

/** The card for a collection's row security. */
export const kindOf = ({ enabled, mode, rules }: Access): AccessKind => {
  if (!enabled || mode === 'public-read') return 'public';
  if (mode === 'private') return 'owner';
  if (mode === 'signed-in') return mode;
  return allowsNothing(rules ?? {}) ? 'server' : 'rules';
};

/** The rules in effect, those of the fixed modes included. */
export const rulesOf = ({ enabled, mode, ownerField, rules }: Access): RulesInput => {
  if (!enabled) return { ...noRules, read: true };
  if (mode === 'rules') return { ...noRules, ...rules };
  const owner = ownerRule(ownerField);
  const read = mode === 'private' ? owner : mode === 'signed-in' ? signedIn : true;
  return { read, create: signedIn, update: owner, delete: owner };
};

export const accessRows = ['read', 'create', 'update', 'delete'] as const;
type AccessRow = (typeof accessRows)[number];

/** What each kind of request may do, in sentences; `undefined` while a rule is not complete. */
export const accessLines = (
  rls: Access,
  collection: Pick<Collection, 'name' | 'schema'>,
  known: readonly Collection[],
): Readonly<Record<AccessRow, readonly string[] | undefined>> => {
  const rules = rulesOf(rls);
  const owned = { ...collection, rls: { ...rls, trash: 'everyone', requires: 'none' } } as const;
  const say = (name: RuleName, rule: unknown) => {
    const sentences = explainRule(name, rule, owned, known);
    return sentences.length > 0 ? sentences : undefined;
  };
  const both = (parts: readonly (readonly string[] | undefined)[]) =>
    parts.every((part) => part !== undefined) ? parts.flat() : undefined;
  const read = halvesOf(rules.read, readHalves);
  const update = halvesOf(rules.update, updateHalves);
  return {
    read: read ? both([say('get', read.get ?? false), say('list', read.list ?? false)]) : say('read', rules.read),
    create: say('create', rules.create),
    update: update
      ? both([say('before', update.before ?? true), say('after', update.after ?? true)])
      : say('update', rules.update),
    delete: say('delete', rules.delete),
  };
};
