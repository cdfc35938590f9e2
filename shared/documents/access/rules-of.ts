import type { Document as MongoDocument } from 'mongodb';
import { allFields, type Collection, hasRules } from '../../collections/collection.ts';
import { type Effect, effectTargets } from '../../collections/effects/effect.ts';
import { parseEffects } from '../../collections/effects/parse-effects.ts';
import { findCollections } from '../../collections/find-collections.ts';
import { usersCollection } from '../../collections/names.ts';
import {
  type FieldRules,
  fixedRules,
  parseCallerRule,
  parseFieldRules,
  parseRules,
} from '../../collections/rules/parse-rules.ts';
import type { RuleNode, Rules } from '../../collections/rules/rule.ts';
import { hasFieldRules, rightsOf } from '../../collections/schema/field-rights.ts';
import { AppError } from '../../core/errors.ts';
import { logFailure } from '../../core/log.ts';
import type { Caller, Project } from '../../projects/project.ts';
import type { JsonObject } from '../document.ts';
import { entriesIn } from '../values.ts';
import { asRuleUser, defaultsOf, findUser } from './bind.ts';

/** The rules of a collection, and the collections that they name. */
interface KnownRules {
  readonly rules: Rules;
  readonly known: ReadonlyMap<string, Collection>;
}

/** Rules that only use these need not read the schema of `users`. */
const ofEveryUser: ReadonlySet<unknown> = new Set(['_id', 'email', 'emailVerified', 'isAnonymous']);

/** The collections that rules may name, as far as their JSON shows. */
const namesIn = (schema: Collection['schema'], rules: unknown): readonly string[] => {
  const names = new Set<string>();
  let followsRefs = false;
  for (const [key, inner] of entriesIn(rules)) {
    if (key === '$from' && typeof inner === 'string') names.add(inner);
    if (key === '$user' && !ofEveryUser.has(inner)) names.add(usersCollection);
    followsRefs ||= key === '$ref' || (key === '$doc' && typeof inner === 'string' && inner.includes('.'));
  }
  if (followsRefs) for (const { ref, items } of allFields(schema ?? [])) names.add(ref ?? items?.ref ?? '');
  names.delete('');
  return [...names];
};

const nothing: Rules = parseRules(
  {
    name: 'none',
    schema: null,
    rls: { enabled: true, mode: 'rules', ownerField: '', trash: 'everyone', requires: 'none' },
  },
  new Map(),
  {},
);

/** Parses rules with the collections that they name. Rules that do not fit become `otherwise`. */
const readWith = async <T>(
  project: Project,
  collection: Collection,
  sent: unknown,
  parse: (known: ReadonlyMap<string, Collection>) => T,
  otherwise: T,
  others: readonly string[] = [],
): Promise<{ readonly rules: T; readonly known: ReadonlyMap<string, Collection> }> => {
  const names = [...namesIn(collection.schema, sent), ...others];
  const known = new Map(await findCollections(project, names)).set(collection.name, collection);
  try {
    return { rules: parse(known), known };
  } catch (error) {
    // A named collection is being deleted or changed. Until this process knows its new state, the rules allow
    // nothing.
    logFailure(
      { message: 'The rules of a collection do not fit', project: project.id, collection: collection.name },
      error,
    );
    return { rules: otherwise, known };
  }
};

const read = (project: Project, collection: Collection): Promise<KnownRules> => {
  const { rules = {} } = collection.rls;
  return readWith(project, collection, rules, (known) => parseRules(collection, known, rules), nothing);
};

/** The rules of a collection's fields, and the collections that they name. */
export interface KnownFieldRules {
  readonly rules: FieldRules;
  readonly known: ReadonlyMap<string, Collection>;
}

const noFieldRules: FieldRules = { write: new Map(), read: new Map() };

const readFields = (project: Project, collection: Collection): Promise<KnownFieldRules> => {
  const { written, read: shown } = rightsOf(collection);
  const sent = [...written.map(({ write }) => write), ...shown.map((right) => right.read)];
  return readWith(project, collection, sent, (known) => parseFieldRules(collection, known), noFieldRules);
};

const readFieldRules = new WeakMap<Collection, Promise<KnownFieldRules>>();

/** The rules of a collection's fields. A field whose rule cannot be read is closed to everyone. */
export const fieldRulesOf = (project: Project, collection: Collection): Promise<KnownFieldRules> => {
  if (!hasFieldRules(collection)) return Promise.resolve({ rules: noFieldRules, known: new Map() });
  const reading = readFieldRules.get(collection) ?? readFields(project, collection);
  readFieldRules.set(collection, reading);
  reading.catch(() => readFieldRules.delete(collection));
  return reading;
};

/** A rule about the caller alone; `at` and `what` name it in errors. */
export interface CallerRule {
  readonly at: string;
  readonly what: string;
  readonly value: unknown;
}

/** Throws 400 `INVALID_RLS` if the rule is not valid. */
export const checkCallerRule = async (project: Project, users: Collection, rule: CallerRule): Promise<void> => {
  const known = new Map(await findCollections(project, namesIn(users.schema, rule.value))).set(users.name, users);
  parseCallerRule(rule, users, known, rule.value);
};

/** The parsed rule, and the collections that it names. */
export const callerRuleOf = (project: Project, users: Collection, rule: CallerRule) => {
  const closed: RuleNode = { kind: 'constant', at: rule.at, outcome: false };
  return readWith(project, users, rule.value, (known) => parseCallerRule(rule, users, known, rule.value), closed);
};

const readRules = new WeakMap<Collection, Promise<KnownRules>>();

/**
 * The rules of a collection; those of the other modes are fixed. Reads other collections, at most every 5 s, only if
 * the rules name some.
 */
export const rulesOf = (project: Project, collection: Collection): Promise<KnownRules> => {
  if (!hasRules(collection.rls)) return Promise.resolve({ rules: fixedRules(collection), known: new Map() });
  const reading = readRules.get(collection) ?? read(project, collection);
  readRules.set(collection, reading);
  // A failed read is not cached.
  reading.catch(() => readRules.delete(collection));
  return reading;
};

/** The effects of a collection, and the collections that they name. */
export interface KnownEffects {
  readonly effects: readonly Effect[];
  readonly known: KnownRules['known'];
}

const readEffects = new WeakMap<Collection, Promise<KnownEffects>>();

const unfitEffects = (): AppError =>
  new AppError(
    'EFFECT_REFUSED',
    'An effect of the collection names a field or collection that is being changed. Retry.',
  );

/** The effects of a collection. Reads the collections that they name, at most every 5 s. Throws 409 if they do not fit. */
export const effectsOf = (project: Project, collection: Collection): Promise<KnownEffects> => {
  const { effects = [] } = collection;
  const start = async (): Promise<KnownEffects> => {
    const parse = (known: KnownRules['known']) => parseEffects(collection, known);
    const targets = effectTargets(collection);
    const read = readWith<readonly Effect[] | null>(project, collection, effects, parse, null, targets);
    const { rules, known } = await read;
    if (!rules) throw unfitEffects();
    return { effects: rules, known };
  };
  const reading = readEffects.get(collection) ?? start();
  readEffects.set(collection, reading);
  reading.catch(() => readEffects.delete(collection));
  return reading;
};

const users = new WeakMap<Caller, Promise<JsonObject | undefined>>();

/** Gives rules a record of the caller that was read already. */
export const knowUser = (caller: Caller, record: MongoDocument): void => {
  users.set(caller, Promise.resolve(asRuleUser(record, caller.userId ?? '')));
};

/** A missing value has the default of the schema, unless the record itself is missing. */
const withDefaults = (record: JsonObject | undefined, schema: Collection['schema'] | undefined) =>
  record && 'isAnonymous' in record ? { ...defaultsOf(schema ?? []), ...record } : record;

/** The caller's record for rules, read once per request. `needsRecord` is true if more than the id is needed. */
export const userOf = (
  project: Project,
  caller: Caller,
  known: KnownRules['known'],
  needsRecord: boolean,
): Promise<JsonObject | undefined> => {
  if (!needsRecord) return findUser(project, caller, false);
  const reading = users.get(caller) ?? findUser(project, caller, true);
  users.set(caller, reading);
  // A request may use rules that need the schema of users and rules that do not.
  return reading.then((record) => withDefaults(record, known.get(usersCollection)?.schema));
};
