import { isPlainObject } from '../../core/json.ts';
import type { Collection } from '../collection.ts';
import { typeAt } from '../schema/field-path.ts';
import { rightsOf } from '../schema/field-rights.ts';
import { parseEntries } from './parse-condition.ts';
import type { RuleNode, Rules, RulesInput } from './rule.ts';
import { invalidRls, type RulePlace } from './rule-scope.ts';

const maxBytes = 8 * 1024;

type ReadRule = (at: string, value: unknown, fallback: boolean, place: RulePlace) => RuleNode;

const ruleReader =
  (collection: Collection, known: ReadonlyMap<string, Collection>): ReadRule =>
  (at, value, fallback, place) => {
    if (value === undefined) return { kind: 'constant', at, outcome: fallback };
    if (typeof value === 'boolean') return { kind: 'constant', at, outcome: value };
    const tally = { comparisons: 0, from: 0, ref: 0 };
    return parseEntries({ place, collection, own: collection, known, at, prefix: '', level: 1, tally }, value);
  };

type UpdateRules = Pick<Rules, 'before' | 'after'>;

const updateRules = (rule: ReadRule, path: string, value: unknown): UpdateRules => {
  const [before, after] = halvesOf(path, value, ['before', 'after']);
  const isSplit = value !== undefined && isHalves(value, ['before', 'after']);
  return {
    before: rule(before.at, before.value, isSplit, { kind: 'write', isStrict: false }),
    after: rule(after.at, after.value, isSplit, { kind: isSplit ? 'after' : 'write', isStrict: true }),
  };
};

/** Parses a condition of an effect, which reads the document like a rule about a write. */
export const parseEffectCondition = (
  collection: Collection,
  known: ReadonlyMap<string, Collection>,
  at: string,
  value: unknown,
  kind: 'write' | 'after',
): RuleNode => ruleReader(collection, known)(at, value, true, { kind, isStrict: true });

/** Throws unless the condition only concerns the caller. */
const requireUserOnly = (at: string, value: unknown, what = 'a field'): void => {
  if (!isPlainObject(value)) throw invalidRls(at, 'must be a condition about the caller ("$user").');
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$user') continue;
    if (key === '$not') requireUserOnly(`${at}.${key}`, inner, what);
    else if ((key === '$and' || key === '$or') && Array.isArray(inner))
      inner.forEach((member, index) => {
        requireUserOnly(`${at}.${key}.${index}`, member, what);
      });
    else if (key !== '$and' && key !== '$or')
      throw invalidRls(`${at}.${key}`, `cannot decide who reads ${what}: only "$user", $and, $or and $not can.`);
  }
};

/** Parses `true`, `false` or a condition about the caller. `at` begins the paths of errors. */
export const parseCallerRule = (
  { at, what }: { readonly at: string; readonly what: string },
  users: Collection,
  known: ReadonlyMap<string, Collection>,
  value: unknown,
): RuleNode => {
  if (typeof value !== 'boolean') requireUserOnly(at, value, what);
  if (Buffer.byteLength(JSON.stringify(value)) > maxBytes) {
    throw invalidRls(at, `must have at most ${maxBytes / 1024} KiB of JSON.`);
  }
  return ruleReader(users, known)(at, value, false, { kind: 'read', isStrict: false });
};

export interface FieldRules {
  readonly write: ReadonlyMap<string, UpdateRules>;
  readonly read: ReadonlyMap<string, RuleNode>;
}

/** Parses the rules of fields; `schema.<field>.write` in errors. */
export const parseFieldRules = (collection: Collection, known: ReadonlyMap<string, Collection>): FieldRules => {
  const rule = ruleReader(collection, known);
  const { written, read } = rightsOf(collection);
  const writes = written.flatMap(({ path, write }) =>
    typeof write === 'object' ? [[path, updateRules(rule, `schema.${path}.write`, write)] as const] : [],
  );
  const reads = read.flatMap((right) => {
    if (typeof right.read !== 'object') return [];
    const at = `schema.${right.path}.read`;
    requireUserOnly(at, right.read);
    return [[right.path, rule(at, right.read, false, { kind: 'read', isStrict: false })] as const];
  });
  return { write: new Map(writes), read: new Map(reads) };
};

const members = ['read', 'create', 'update', 'delete', 'readTrash', 'recover', 'purge'] as const;

/**
 * Parses `rls.rules` and fills in defaults. `known`: all collections of the project by name. Throws 400 `INVALID_RLS`
 * with the path.
 */
export const parseRules = (
  collection: Collection,
  known: ReadonlyMap<string, Collection>,
  input: RulesInput | null | undefined,
): Rules => {
  const given: Readonly<Record<string, unknown>> = isPlainObject(input ?? {}) ? { ...input } : {};
  if (input != null && !isPlainObject(input)) throw invalidRls('rules', 'must be an object.');
  const other = Object.keys(given).find((key) => !members.some((member) => member === key));
  if (other !== undefined) throw invalidRls(`rules.${other}`, `is not known. Rules are ${members.join(', ')}.`);
  if (Buffer.byteLength(JSON.stringify(given)) > maxBytes) {
    throw invalidRls('rules', `must have at most ${maxBytes / 1024} KiB of JSON.`);
  }
  const rule = ruleReader(collection, known);
  const read: RulePlace = { kind: 'read', isStrict: false };
  const write: RulePlace = { kind: 'write', isStrict: false };
  const [get, list] = halvesOf('rules.read', given.read, ['get', 'list']);
  const { before: stored, after } = updateRules(rule, 'rules.update', given.update);
  return {
    get: rule(get.at, get.value, false, read),
    list: rule(list.at, list.value, false, read),
    create: rule('rules.create', given.create, false, { kind: 'write', isStrict: true }),
    before: stored,
    after,
    delete: rule('rules.delete', given.delete, false, write),
    readTrash: rule('rules.readTrash', given.readTrash, true, read),
    recover: given.recover === undefined ? stored : rule('rules.recover', given.recover, false, write),
    purge: rule('rules.purge', given.purge, true, write),
  };
};

const isHalves = (value: unknown, names: readonly [string, string]): value is Readonly<Record<string, unknown>> => {
  if (!isPlainObject(value)) return false;
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => names.includes(key));
};

const halvesOf = (at: string, value: unknown, names: readonly [string, string]) =>
  names.map((name) => (isHalves(value, names) ? { at: `${at}.${name}`, value: value[name] } : { at, value })) as [
    Half,
    Half,
  ];

interface Half {
  readonly at: string;
  readonly value: unknown;
}

/**
 * The fixed modes as rules. For speed, `access.ts` decides them without the engine; a test compares both.
 * The owner is compared as in `create`: an array that contains the id owns nothing.
 */
export const fixedRules = (collection: Collection): Rules => {
  const { mode, ownerField } = collection.rls;
  const yes: RuleNode = { kind: 'constant', at: 'rules', outcome: true };
  const owner: RuleNode = {
    ...{
      kind: 'compare',
      at: 'rules',
      path: ownerField,
      type: typeAt(collection, ownerField)?.type,
      isList: false,
      isStrict: true,
      operator: '$eq',
    },
    operand: { kind: 'user', path: '_id' },
  };
  const signedIn: RuleNode = { kind: 'user', at: 'rules', where: { kind: 'all', of: [] } };
  const read = mode === 'private' ? owner : mode === 'signed-in' ? signedIn : yes;
  return {
    get: read,
    list: read,
    create: signedIn,
    before: owner,
    after: yes,
    delete: owner,
    readTrash: yes,
    recover: owner,
    purge: yes,
  };
};
