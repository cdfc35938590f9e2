import type { Collection } from '../../../shared/collections/collection.ts';
import { fieldAt, fieldsOf } from '../../../shared/collections/schema/field-path.ts';
import { isPlainObject } from '../../../shared/core/json.ts';
import {
  fromUserSide,
  literal,
  literalPredicate,
  moment,
  predicate,
  storedPredicate,
  userField,
} from './explain-operand.ts';
import { allOf, type Clause, entriesOf, needsUser, type RuleTree, textOf, UnclearRule } from './rule-tree.ts';

/** A rule's name; `before` and `after` are the halves of `update`. */
export type RuleName =
  | 'read'
  | 'get'
  | 'list'
  | 'create'
  | 'update'
  | 'before'
  | 'after'
  | 'delete'
  | 'readTrash'
  | 'recover'
  | 'purge';

export type Known = Pick<Collection, 'name' | 'schema' | 'rls'>;

/** Whose fields a condition names. */
interface Scope {
  readonly about: 'document' | 'user' | 'element';
  readonly collection: Known | undefined;
  readonly known: readonly Known[];
  /** Follows the name of a field: " of the board that `board` points to". */
  readonly suffix: string;
  /** The path of the array whose elements are compared, with a dot. */
  readonly prefix: string;
  readonly at: string;
  /** False inside `$from`, `$ref` and `$user`, where `$doc` is the outer document. */
  readonly isOwn: boolean;
}

const below = (scope: Scope, key: string | number): Scope => ({ ...scope, at: `${scope.at}.${key}` });

const typeAt = ({ collection, prefix }: Scope, path: string) =>
  collection && fieldAt(fieldsOf(collection), prefix + path);

/** The singular of a collection's name: "board" for `boards`. Names without a plain plural stay unchanged. */
const documentOf = (collection: string | undefined): string => {
  if (collection === undefined) return 'document';
  return /[^s]s$/.test(collection) && !/(?:ie|se|xe|che|she)s$/.test(collection)
    ? collection.slice(0, -1)
    : `document of \`${collection}\``;
};

const pointedAt = (scope: Scope, path: string): string =>
  `the ${documentOf(typeAt(scope, path)?.ref)} that \`${path}\` points to`;

const nameOf = (scope: Scope, path: string): string => {
  if (scope.about === 'user') return `their ${userField(path)}`;
  if (path === '') return 'it';
  return (path === '_id' && scope.about === 'document' ? 'the id' : `\`${path}\``) + scope.suffix;
};

const wordsOf = (scope: Scope, path: string) => {
  const segments = path.split('.');
  const isArray = segments.some((_, at) => typeAt(scope, segments.slice(0, at + 1).join('.'))?.type === 'Array');
  return { isArray, isDate: typeAt(scope, path)?.type === 'Date' };
};

/** The words for a `$doc`, which may lead through one Ref. */
const docOf = (scope: Scope, path: unknown): string => {
  if (typeof path !== 'string') throw new UnclearRule();
  const segments = path.split('.');
  for (let at = 1; at < segments.length && scope.isOwn; at += 1) {
    const head = segments.slice(0, at).join('.');
    if (typeAt(scope, head)?.type === 'Ref') return `\`${segments.slice(at).join('.')}\` of ${pointedAt(scope, head)}`;
  }
  return `\`${path}\`${scope.isOwn ? '' : ' of the document'}`;
};

const clause = (scope: Scope, text: string, more: Partial<Clause> = {}): Clause => ({
  kind: 'clause',
  at: scope.at,
  text,
  needsUser: more.user !== undefined || scope.about === 'user',
  ...more,
});

/** A comparison of the caller's own record, worded about the user. */
const ofUser = (scope: Scope, path: string, words: string): Clause => {
  const user = `${userField(path)} ${words}`;
  return clause(scope, `their ${user}`, { user });
};

const flags: Readonly<Record<string, readonly [yes: string, no: string]>> = {
  emailVerified: ['email is verified', 'email is not verified'],
  isAnonymous: ['account is anonymous', 'account is not anonymous'],
};

const compareUser = (scope: Scope, path: string, operator: string, value: unknown): Clause => {
  const flag = flags[path];
  if (flag && typeof value === 'boolean' && (operator === '$eq' || operator === '$ne')) {
    const user = flag[value === (operator === '$eq') ? 0 : 1];
    return clause(scope, `their ${user}`, { user });
  }
  if (!isPlainObject(value)) return ofUser(scope, path, literalPredicate(operator, value, wordsOf(scope, path)));
  return ofUser(scope, path, operandPredicate(scope, path, operator, value).words);
};

/** The words for a look-up in another collection, after `$in` and `$nin`. */
const fromPredicate = (scope: Scope, path: string, operator: string, value: Readonly<Record<string, unknown>>) => {
  const { $from: name, select, where } = value;
  if (typeof name !== 'string' || typeof select !== 'string' || (operator !== '$in' && operator !== '$nin'))
    throw new UnclearRule();
  const collection = scope.known.find((each) => each.name === name);
  const inner: Scope = {
    ...below(scope, 'where'),
    about: 'document',
    collection,
    suffix: '',
    prefix: '',
    isOwn: false,
  };
  const isAll = where === undefined || (isPlainObject(where) && Object.keys(where).length === 0);
  const tree = isAll ? undefined : treeIn(inner, where);
  const which = tree ? ` for which ${textOf(tree)}` : '';
  const selected = select === '_id' ? 'id' : `\`${select}\``;
  const of = `the ${selected} of ${operator === '$in' ? 'a' : 'any'} document of \`${name}\`${which}`;
  const words = predicate(operator === '$in' ? '$eq' : '$ne', of, wordsOf(scope, path));
  return { words, needsUser: tree !== undefined && needsUser(tree) };
};

/** A single user value after `$in` counts as a list of one. */
const forOne = ({ known }: Scope, operator: string, path: unknown): string => {
  const users = known.find(({ name }) => name === 'users');
  const isOne =
    typeof path === 'string' &&
    (path === '_id' || path === 'email' || (users && fieldAt(fieldsOf(users), path)?.type !== 'Array'));
  if (!isOne) return operator;
  return operator === '$in' ? '$eq' : operator === '$nin' ? '$ne' : operator;
};

const operandPredicate = (scope: Scope, path: string, operator: string, value: Readonly<Record<string, unknown>>) => {
  const words = wordsOf(scope, path);
  const [key] = Object.keys(value);
  switch (key) {
    case '$user': {
      const single = forOne(scope, operator, value.$user);
      return { words: predicate(single, `their ${userField(value.$user)}`, words), needsUser: true };
    }
    case '$doc':
      return { words: predicate(operator, docOf(scope, value.$doc), words), needsUser: false };
    case '$stored': {
      const isUser = isPlainObject(value.adds) || isPlainObject(value.removes);
      return { words: storedPredicate(operator, path, value, words), needsUser: isUser };
    }
    case '$now':
      return { words: predicate(operator, moment(value.$now), { ...words, isDate: true }), needsUser: false };
    case '$from':
      return fromPredicate(scope, path, operator, value);
    default:
      throw new UnclearRule();
  }
};

const compare = (scope: Scope, path: string, operator: string, value: unknown): Clause => {
  if (operator === '$elemMatch' || operator === '$every') return elements(scope, path, operator, value);
  if (scope.about === 'user') return compareUser(scope, path, operator, value);
  const name = nameOf(scope, path);
  if (!isPlainObject(value)) return clause(scope, `${name} ${literalPredicate(operator, value, wordsOf(scope, path))}`);
  const { words, needsUser: isOfUser } = operandPredicate(scope, path, operator, value);
  const isUserSide = '$user' in value && path !== '';
  const { isArray } = wordsOf(scope, path);
  const user = isUserSide ? fromUserSide(forOne(scope, operator, value.$user), name, value.$user, isArray) : undefined;
  return clause(scope, `${name} ${words}`, { needsUser: isOfUser, ...(user !== undefined && { user }) });
};

const operators = /^\$(?:eq|ne|gte?|lte?|n?in|exists|contains|startsWith|endsWith|all|size|elemMatch|every)$/;

/** A condition on all elements of an array, or on one. */
const elements = (scope: Scope, path: string, operator: string, value: unknown): Clause => {
  const entries = entriesOf(value);
  const isTests = entries.every(([key]) => operators.test(key));
  const inner: Scope = { ...scope, about: 'element', suffix: '', prefix: `${scope.prefix}${path}.` };
  const element: Scope = isTests ? { ...inner, prefix: `${inner.prefix}0` } : inner;
  const tree = isTests ? testsOf(element, '', entries) : treeIn(element, value);
  const text = textOf(tree);
  const name = nameOf(scope, path);
  const isEvery = operator === '$every';
  const told = isTests
    ? isEvery
      ? `every element of ${name} ${text.replace(/^it /, '')}`
      : `${name} has an element that ${text.replace(/^it /, '')}`
    : isEvery
      ? `for every element of ${name}, ${text}`
      : `${name} has an element for which ${text}`;
  return clause(scope, told, { needsUser: needsUser(tree) });
};

const testsOf = (scope: Scope, path: string, entries: readonly (readonly [string, unknown])[]): RuleTree =>
  allOf(entries.map(([operator, value]) => compare(below(scope, operator), path, operator, value)));

const fieldIn = (scope: Scope, path: string, value: unknown): RuleTree => {
  const [first] = isPlainObject(value) ? Object.keys(value) : [];
  if (!isPlainObject(value) || (first !== undefined && !operators.test(first)))
    return compare(scope, path, '$eq', value);
  return testsOf(scope, path, entriesOf(value));
};

const listIn = (scope: Scope, value: unknown): readonly RuleTree[] => {
  if (!Array.isArray(value) || value.length === 0) throw new UnclearRule();
  return value.map((each, place) => treeIn(below(scope, place), each));
};

const entryIn = (scope: Scope, key: string, value: unknown): RuleTree => {
  switch (key) {
    case '$and':
      return allOf(listIn(scope, value));
    case '$or':
      return { kind: 'any', of: listIn(scope, value) };
    case '$not':
      return { kind: 'not', of: treeIn(scope, value) };
    case '$user': {
      if (isPlainObject(value) && Object.keys(value).length === 0)
        return clause(scope, 'they are signed in', { user: '' });
      const collection = scope.known.find(({ name }) => name === 'users');
      return treeIn({ ...scope, about: 'user', collection, suffix: '', prefix: '', isOwn: false }, value);
    }
    case '$ref':
      return allOf(
        entriesOf(value).map(([path, where]) => {
          const ref = typeAt(scope, path)?.ref;
          const collection = scope.known.find(({ name }) => name === ref);
          const suffix = ` of ${pointedAt(scope, path)}${scope.suffix}`;
          const inner: Scope = { ...below(scope, path), collection, suffix, prefix: '', isOwn: false };
          const tree = treeIn(inner, where);
          return tree.kind === 'all' || tree.kind === 'any' ? { ...tree, at: inner.at } : tree;
        }),
      );
    case '$stored':
      return was(treeIn(scope, value));
    case '$only': {
      if (!Array.isArray(value)) throw new UnclearRule();
      const fields = value.map((field) => `\`${literal(field).slice(1, -1)}\``);
      return clause(scope, fields.length === 0 ? 'no field changes' : `no field changes except ${fields.join(', ')}`);
    }
    default:
      if (key.startsWith('$')) throw new UnclearRule();
      return fieldIn(scope, key, value);
  }
};

/** The same for the document before the update. */
const was = (tree: RuleTree): RuleTree => {
  if (tree.kind === 'clause') {
    const { user: _user, ...rest } = tree;
    return { ...rest, text: `before the update, ${tree.text}` };
  }
  return tree.kind === 'not' ? { ...tree, of: was(tree.of) } : { ...tree, of: tree.of.map(was) };
};

const treeIn = (scope: Scope, value: unknown): RuleTree =>
  allOf(entriesOf(value).map(([key, inner]) => entryIn(below(scope, key), key, inner)));

/** The tree of a condition in words; `undefined` if it is not complete. `at` is its path, such as `rules.read`. */
export const ruleTree = (
  at: string,
  rule: unknown,
  collection: Known,
  known: readonly Known[] = [],
): RuleTree | undefined => {
  const scope: Scope = { about: 'document', collection, known, suffix: '', prefix: '', at, isOwn: true };
  try {
    return treeIn(scope, rule);
  } catch (error) {
    if (error instanceof UnclearRule) return undefined;
    throw error;
  }
};
