import { describe, expect, test } from 'vitest';
import type { Collection } from '../../../../shared/collections/collection.ts';
import { parseRules } from '../../../../shared/collections/rules/parse-rules.ts';
import type { RulesInput } from '../../../../shared/collections/rules/rule.ts';
import { parseSchema } from '../../../../shared/collections/schema/schema.ts';
import { AppError } from '../../../../shared/core/errors.ts';

const rls = { enabled: true, mode: 'rules', ownerField: '', trash: 'everyone', requires: 'none' } as const;
const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });

const collection = (name: string, schema: unknown): Collection => ({
  name,
  schema: schema === null ? null : parseSchema(schema),
  rls,
});

const posts = collection('posts', [
  text('title'),
  text('author'),
  { key: 'size', type: 'Number' },
  { key: 'open', type: 'Boolean' },
  { key: 'at', type: 'Date' },
  { key: 'tags', type: 'Array', items: { type: 'String' } },
  { key: 'meta', type: 'Object', fields: [text('owner')] },
  { key: 'cards', type: 'Array', items: { type: 'Object', fields: [text('owner')] } },
  { key: 'parent', type: 'Ref', ref: 'posts' },
  { key: 'by', type: 'Ref', ref: 'users' },
  { key: 'lost', type: 'Ref', ref: 'gone' },
]);
const free = collection('free', null);
const members = collection('members', [text('user'), text('team'), { key: 'post', type: 'Ref', ref: 'posts' }]);
const users = collection('users', [
  text('email', { required: true }),
  text('password', { required: true }),
  text('name'),
  text('role', { write: 'server' }),
  text('nick', { write: true }),
  { key: 'teams', type: 'Array', items: { type: 'String' }, write: 'server' },
]);
const known = new Map([posts, free, members, users].map((each) => [each.name, each]));

const me = { $user: '_id' };
const from = (more: object = {}) => ({ $from: 'members', select: 'team', where: { user: me }, ...more });
const after = (rule: unknown): RulesInput => ({ update: { after: rule } });
const read = (rule: unknown): RulesInput => ({ read: rule });
const many = (count: number, rule: (index: number) => object) => ({
  $or: Array.from({ length: count }, (_, index) => rule(index)),
});
const nested = (levels: number): object => (levels === 0 ? { title: 'a' } : { $not: nested(levels - 1) });

const refused: readonly [title: string, rules: unknown, at: string, of?: Collection][] = [
  ['a list in place of the rules', [], 'rules'],
  ['a rule of another name', { write: true }, 'rules.write'],
  ['a rule called __proto__', JSON.parse('{"__proto__": true}'), 'rules.__proto__'],
  ['more than 8 KiB', read(many(50, (index) => ({ title: `${index}`.padEnd(170, 'ü') }))), 'rules'],
  ['null', read(null), 'rules.read'],
  ['a text', read('all'), 'rules.read'],
  ['a list', read([{ title: 'a' }]), 'rules.read'],
  ['an empty object', read({}), 'rules.read'],
  ['an empty object in $or', read({ $or: [{ title: 'a' }, {}] }), 'rules.read.$or.1'],
  ['null in a half', read({ get: null, list: true }), 'rules.read.get'],
  ['null in a half, without a schema', read({ get: null }), 'rules.read.get', free],
  ['a text in a half, without a schema', { update: { before: 'x' } }, 'rules.update.before', free],
  ['an empty half', { update: { before: true, after: {} } }, 'rules.update.after'],
  ['true inside a condition', read({ $or: [true] }), 'rules.read.$or.0'],
  ['an unknown field', read({ $or: [{ title: 'a' }, { team: me }] }), 'rules.read.$or.1.team'],
  ['an unknown nested field', read({ 'meta.team': 'a' }), 'rules.read.meta.team'],
  ['a field inside a scalar', read({ 'title.x': 'a' }), 'rules.read.title.x'],
  ['a hidden field', read({ _rev: 1 }), 'rules.read._rev'],
  ['isDeleted', read({ isDeleted: false }), 'rules.read.isDeleted'],
  ['deletedAt', read({ deletedAt: null }), 'rules.read.deletedAt'],
  ['an impossible path', read({ 'a..b': 1 }), 'rules.read.a..b', free],
  ['an unknown key', read({ $nor: [{ title: 'a' }] }), 'rules.read.$nor'],
  ['$expr', read({ $expr: true }), 'rules.read.$expr'],
  ['$where', read({ $where: 'true' }), 'rules.read.$where', free],
  ['$regex', read({ title: { $regex: '^a' } }), 'rules.read.title.$regex'],
  ['an unknown operator', read({ title: { $type: 'string' } }), 'rules.read.title.$type'],
  ['an object as a value', read({ meta: { owner: 'a' } }), 'rules.read.meta'],
  ['an object as a value, without a schema', read({ a: {} }), 'rules.read.a', free],
  ['a value of another type', read({ size: '1' }), 'rules.read.size'],
  ['a malformed id', read({ parent: 'x' }), 'rules.read.parent'],
  ['a number as a Date', read({ at: { $gt: 1 } }), 'rules.read.at.$gt'],
  ['a range of null', read({ size: { $gt: null } }), 'rules.read.size.$gt'],
  ['$in without a list', read({ title: { $in: 'a' } }), 'rules.read.title.$in'],
  ['a list in $in', read({ title: { $in: [['a']] } }), 'rules.read.title.$in.0'],
  ['an operand in a list', read({ author: { $in: [me] } }), 'rules.read.author.$in.0'],
  ['$contains of a Number', read({ size: { $contains: '1' } }), 'rules.read.size.$contains'],
  ['an empty $startsWith', read({ title: { $startsWith: '' } }), 'rules.read.title.$startsWith'],
  ['$exists of a number', read({ title: { $exists: 1 } }), 'rules.read.title.$exists'],
  ['a negative $size', read({ tags: { $size: -1 } }), 'rules.read.tags.$size'],
  ['an empty $and', read({ $and: [] }), 'rules.read.$and'],
  ['an object in $or', read({ $or: { title: 'a' } }), 'rules.read.$or'],
  ['51 members of $or', read(many(51, () => ({ title: 'a' }))), 'rules.read.$or'],
  [
    '101 comparisons',
    read({ $and: many(4, () => many(34, () => ({ open: true }))).$or }),
    'rules.read.$and.2.$or.32.open',
  ],
  ['too many levels', read(nested(9)), 'rules.read.$not.$not.$not.$not.$not.$not.$not.$not'],
  ['an unknown operand', read({ author: { $me: '_id' } }), 'rules.read.author.$me'],
  ['two operands', read({ author: { $user: '_id', $doc: 'title' } }), 'rules.read.author.$doc'],
  ['an operand after $exists', read({ title: { $exists: me } }), 'rules.read.title.$exists'],
  ['an operand after $size', read({ tags: { $size: me } }), 'rules.read.tags.$size'],
  ['an operand after $all', read({ tags: { $all: me } }), 'rules.read.tags.$all'],
  ['an operand in $elemMatch', read({ tags: { $elemMatch: { $eq: me } } }), 'rules.read.tags.$elemMatch.$eq'],
  ['$user in $elemMatch', read({ cards: { $elemMatch: { $user: {} } } }), 'rules.read.cards.$elemMatch.$user'],
  ['$user that is no text', read({ author: { $user: ['_id'] } }), 'rules.read.author'],
  ['$user: password', read({ author: { $user: 'password' } }), 'rules.read.author'],
  ['$user: a hidden field', read({ author: { $user: '_signIn' } }), 'rules.read.author'],
  ['$user: an unknown field', read({ author: { $user: 'club' } }), 'rules.read.author'],
  ['$user: a field that users set', read({ author: { $user: 'name' } }), 'rules.read.author'],
  ['$user: below _id', read({ author: { $user: '_id.x' } }), 'rules.read.author'],
  ['$user with a field that users set', read({ $user: { name: 'a' } }), 'rules.read.$user.name'],
  ['$user with $ref', read({ $user: { $ref: { by: { role: 'a' } } } }), 'rules.read.$user.$ref'],
  ['$user with $doc', read({ $user: { role: { $doc: 'title' } } }), 'rules.read.$user.role'],
  ['a list of the user as a value', read({ author: { $user: 'teams' } }), 'rules.read.author'],
  ['a list of the user in a range', read({ tags: { $gt: { $user: 'teams' } } }), 'rules.read.tags.$gt'],
  ['$doc of an unknown field', read({ title: { $doc: 'x' } }), 'rules.read.title'],
  ['$doc that is no text', read({ title: { $doc: 1 } }), 'rules.read.title'],
  ['$doc through a Ref in read', read({ title: { $doc: 'parent.title' } }), 'rules.read.title'],
  ['$doc through a Ref in readTrash', { readTrash: { title: { $doc: 'parent.title' } } }, 'rules.readTrash.title'],
  ['$doc through a Ref, unknown', { create: { title: { $doc: 'parent.x' } } }, 'rules.create.title'],
  ['$doc through two Refs', { create: { title: { $doc: 'parent.parent.title' } } }, 'rules.create.title'],
  ['$doc to what users set', { create: { title: { $doc: 'by.name' } } }, 'rules.create.title'],
  ['$doc to an address', { create: { title: { $doc: 'by.email' } } }, 'rules.create.title'],
  ['$doc through a lost Ref', { create: { title: { $doc: 'lost.title' } } }, 'rules.create.title'],
  ['$doc in $every', read({ tags: { $every: { $ne: { $doc: 'title' } } } }), 'rules.read.tags.$every.$ne'],
  ['$doc in $ref', read({ $ref: { parent: { title: { $doc: 'title' } } } }), 'rules.read.$ref.parent.title'],
  ['$stored in read', read({ title: { $stored: 'title' } }), 'rules.read.title'],
  ['$stored in create', { create: { title: { $stored: 'title' } } }, 'rules.create.title'],
  ['$stored in a rule for both', { update: { title: { $stored: 'title' } } }, 'rules.update.title'],
  ['$stored in before', { update: { before: { title: { $stored: 'title' } } } }, 'rules.update.before.title'],
  [
    '$stored in $every',
    after({ tags: { $every: { $ne: { $stored: 'title' } } } }),
    'rules.update.after.tags.$every.$ne',
  ],
  [
    'the key $stored in $every',
    after({ cards: { $every: { $stored: { title: 'a' } } } }),
    'rules.update.after.cards.$every.$stored',
  ],
  ['$only in $every', after({ cards: { $every: { $only: ['cards'] } } }), 'rules.update.after.cards.$every.$only'],
  ['$ref in $every', read({ cards: { $every: { $ref: { parent: { open: true } } } } }), 'rules.read.cards.$every.$ref'],
  ['$stored with two changes', after({ size: { $stored: 'size', plus: 1, adds: 1 } }), 'rules.update.after.size'],
  ['plus of a text', after({ size: { $stored: 'size', plus: '1' } }), 'rules.update.after.size.plus'],
  ['adds of a list', after({ tags: { $stored: 'tags', adds: ['a'] } }), 'rules.update.after.tags.adds'],
  ['an unknown part of $stored', after({ size: { $stored: 'size', minus: 1 } }), 'rules.update.after.size.minus'],
  ['the key $stored in before', { update: { before: { $stored: { open: true } } } }, 'rules.update.before.$stored'],
  ['the key $stored in $stored', after({ $stored: { $stored: { open: true } } }), 'rules.update.after.$stored.$stored'],
  ['$only in create', { create: { $only: ['title'] } }, 'rules.create.$only'],
  ['$only of a path', after({ $only: ['meta.owner'] }), 'rules.update.after.$only'],
  ['$only of an unknown field', after({ $only: ['x'] }), 'rules.update.after.$only'],
  ['$every on what is no Array', read({ title: { $every: { $eq: 'a' } } }), 'rules.read.title.$every'],
  ['$every without a schema', read({ tags: { $every: { $eq: 'a' } } }), 'rules.read.tags.$every', free],
  ['an empty $every', read({ tags: { $every: {} } }), 'rules.read.tags.$every'],
  ['$now of a text', read({ at: { $lt: { $now: '1' } } }), 'rules.read.at.$lt'],
  ['$now of a String', read({ title: { $lt: { $now: 0 } } }), 'rules.read.title.$lt'],
  ['$from after $eq', read({ title: from() }), 'rules.read.title'],
  ['$from of an unknown collection', read({ title: { $in: from({ $from: 'teams' }) } }), 'rules.read.title.$in.$from'],
  ['$from of users', read({ title: { $in: from({ $from: 'users' }) } }), 'rules.read.title.$in.$from'],
  ['$from of no collection', read({ title: { $in: from({ $from: '$cmd' }) } }), 'rules.read.title.$in.$from'],
  ['$from without select', read({ title: { $in: from({ select: undefined }) } }), 'rules.read.title.$in.select'],
  ['$from of an unknown field', read({ title: { $in: from({ select: 'x' }) } }), 'rules.read.title.$in.select'],
  ['$from of a hidden field', read({ title: { $in: from({ select: '_rev' }) } }), 'rules.read.title.$in.select'],
  ['$from with an unknown part', read({ title: { $in: from({ limit: 1 }) } }), 'rules.read.title.$in.limit'],
  ['$from by an unknown field', read({ title: { $in: from({ where: { x: 1 } }) } }), 'rules.read.title.$in.where.x'],
  [
    '$from in $from',
    read({ title: { $in: from({ where: { team: { $in: from() } } }) } }),
    'rules.read.title.$in.where.team.$in',
  ],
  [
    '$ref in $from',
    read({ title: { $in: from({ where: { $ref: { post: { open: true } } } }) } }),
    'rules.read.title.$in.where.$ref',
  ],
  [
    '$doc in $from of read',
    read({ title: { $in: from({ where: { team: { $doc: 'title' } } }) } }),
    'rules.read.title.$in.where.team',
  ],
  ['four $from', read(many(4, () => ({ title: { $in: from() } }))), 'rules.read.$or.3.title.$in'],
  ['four $ref', read(many(4, () => ({ $ref: { parent: { open: true } } }))), 'rules.read.$or.3.$ref.parent'],
  ['$ref of no Ref', read({ $ref: { title: { open: true } } }), 'rules.read.$ref.title'],
  ['$ref into a lost collection', read({ $ref: { lost: { open: true } } }), 'rules.read.$ref.lost'],
  ['$ref without a condition', read({ $ref: { parent: {} } }), 'rules.read.$ref.parent'],
  ['$ref of nothing', read({ $ref: {} }), 'rules.read.$ref'],
  ['$ref in $ref', read({ $ref: { parent: { $ref: { parent: { open: true } } } } }), 'rules.read.$ref.parent.$ref'],
  ['$ref to what users set', read({ $ref: { by: { name: 'a' } } }), 'rules.read.$ref.by.name'],
  ['$ref to an address', read({ $ref: { by: { email: 'a' } } }), 'rules.read.$ref.by.email'],
  ['$ref without a schema', read({ $ref: { parent: { open: true } } }), 'rules.read.$ref.parent', free],
];

const failure = (rules: unknown, of: Collection): AppError | undefined => {
  try {
    parseRules(of, known, rules as RulesInput);
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
};

describe('rules', () => {
  test.each<[string, unknown, string, Collection?]>(refused)(
    '400 INVALID_RLS with its path: %s',
    (_title, rules, at, of = posts) => {
      const error = failure(rules, of);
      expect(error?.code).toBe('INVALID_RLS');
      expect(error?.errors?.[0]?.field).toBe(at);
      expect(error?.message).toMatch(new RegExp(`^${at.replace(/[$.]/g, '\\$&')} `));
    },
  );

  test('400 INVALID_RLS names the owner field when a rule names an unknown field', () => {
    const owned: Collection = { ...posts, rls: { ...rls, ownerField: 'userId' } };
    expect(failure(read({ owner: me }), owned)?.message).toContain('The owner is the field "userId".');
  });

  test.each<[string, RulesInput, Collection?]>([
    ['constants', { read: true, create: false, update: { before: true, after: false } }],
    ['halves', { read: { get: { author: me }, list: false }, update: { after: { title: { $stored: 'title' } } } }],
    ['a field of users with write', read({ $or: [{ author: { $user: 'role' } }, { author: { $user: 'nick' } }] })],
    ['lists of the user', read({ $or: [{ tags: { $user: 'teams' } }, { author: { $in: { $user: 'teams' } } }] })],
    ['three $from', read(many(3, () => ({ title: { $in: from() } })))],
    ['three $ref', read(many(3, () => ({ $ref: { by: { role: 'a' } } })))],
    ['$doc in $from of a write', { create: { title: { $in: from({ where: { team: { $doc: 'title' } } }) } } }],
    ['$doc through a Ref in a write', { purge: { title: { $doc: 'parent.title' } } }],
    ['$every with an operand', read({ cards: { $every: { owner: me } } })],
    ['any field without a schema', read({ constructor: me, 'a.b': { $gt: 1 } }), free],
  ])('are taken: %s', (_title, rules, of = posts) => {
    expect(failure(rules, of)).toBeUndefined();
  });

  test('have defaults that allow nothing', () => {
    const { get, list, create, before, after: then, delete: remove } = parseRules(posts, known, {});
    for (const rule of [get, list, create, before, then, remove]) {
      expect(rule).toMatchObject({ kind: 'constant', outcome: false });
    }
  });
});
