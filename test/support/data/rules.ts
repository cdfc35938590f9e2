import fc from 'fast-check';
import { ObjectId } from 'mongodb';
import type { Collection } from '../../../shared/collections/collection.ts';
import { parseSchema } from '../../../shared/collections/schema/schema.ts';
import type { JsonObject } from '../../../shared/documents/document.ts';

/*
 * Random documents, callers and access rules, as developers write them. Many documents have one of three ids, to which
 * the rules and Refs point.
 */

export const ids = ['a', 'b', 'c'].map((letter) => letter.repeat(24));
export const [ann = '', bob = ''] = ids;

const rls = { enabled: true, mode: 'rules', ownerField: '', trash: 'everyone', requires: 'none' } as const;
export const typed: Collection = {
  name: 'typed',
  schema: parseSchema([
    { key: 'text', type: 'String' },
    { key: 'other', type: 'String' },
    { key: 'number', type: 'Number' },
    { key: 'limit', type: 'Number' },
    { key: 'flag', type: 'Boolean' },
    { key: 'at', type: 'Date' },
    { key: 'ref', type: 'Ref', ref: 'typed' },
    { key: 'tags', type: 'Array', items: { type: 'String' } },
    { key: 'members', type: 'Array', items: { type: 'Ref', ref: 'users' } },
    {
      key: 'meta',
      type: 'Object',
      fields: [
        { key: 'text', type: 'String' },
        { key: 'number', type: 'Number' },
      ],
    },
    { key: 'cards', type: 'Array', items: { type: 'Object', fields: [{ key: 'text', type: 'String' }] } },
  ]),
  rls,
};
export const free: Collection = { name: 'free', schema: null, rls };
export const users: Collection = {
  name: 'users',
  schema: parseSchema([
    { key: 'email', type: 'String', required: true },
    { key: 'password', type: 'String', required: true },
    { key: 'role', type: 'String', write: 'server' },
    { key: 'level', type: 'Number', write: 'server', default: 1 },
    { key: 'teams', type: 'Array', items: { type: 'String' }, write: 'server' },
  ]),
  rls: { ...rls, enabled: false, mode: 'public-read', ownerField: 'userId' },
};
export const known = new Map([typed, free, users].map((collection) => [collection.name, collection]));

const texts = ['', 'a', 'b', 'ab', 'a.b', '$a', 'é', ...ids];
const numbers = [-1, 0, 1, 2, 2.5];
const dates = ['2026-01-01T00:00:00.000Z', '2026-06-01T00:00:00.000Z'];

const text = fc.constantFrom(...texts);
const number = fc.constantFrom(...numbers);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

export const typedDocument: fc.Arbitrary<JsonObject> = fc.record(
  {
    text: maybe(text),
    other: maybe(text),
    number: maybe(number),
    limit: maybe(number),
    flag: maybe(fc.boolean()),
    at: maybe(fc.constantFrom(...dates).map((date) => new Date(date))),
    ref: maybe(fc.constantFrom(...ids).map((id) => new ObjectId(id))),
    tags: maybe(fc.array(text, { maxLength: 3 })),
    members: maybe(
      fc.array(
        fc.constantFrom(...ids).map((id) => new ObjectId(id)),
        { maxLength: 3 },
      ),
    ),
    meta: maybe(fc.record({ text: maybe(text), number: maybe(number) }, { requiredKeys: [], noNullPrototype: true })),
    cards: maybe(
      fc.array(fc.record({ text: maybe(text) }, { requiredKeys: [], noNullPrototype: true }), { maxLength: 3 }),
    ),
  },
  { requiredKeys: [], noNullPrototype: true },
);

const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  text,
  number,
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.oneof(text, number, fc.constant(null)), { maxLength: 3 }),
  fc.record({ text, number: fc.oneof(number, text) }, { requiredKeys: [], noNullPrototype: true }),
  fc.constantFrom(...ids).map((id) => new ObjectId(id)),
);
export const freeDocument: fc.Arbitrary<JsonObject> = fc.record(
  { text: anyValue, other: anyValue, number: anyValue, limit: anyValue, tags: anyValue, meta: anyValue },
  { requiredKeys: [], noNullPrototype: true },
);

const userOperand = (path: string) => fc.constant({ $user: path });

const textTest = fc.oneof(
  text,
  fc.constant(null),
  fc.oneof(userOperand('role'), userOperand('_id'), userOperand('email'), fc.constant({ $doc: 'other' })),
  fc.record({ $ne: fc.oneof(text, fc.constant(null), userOperand('role'), fc.constant({ $doc: 'other' })) }),
  fc.record({ $in: fc.oneof(fc.array(text, { maxLength: 3 }), userOperand('teams')) }),
  fc.record({ $nin: fc.oneof(fc.array(text, { maxLength: 3 }), userOperand('teams')) }),
  fc.record({ $gt: fc.oneof(text, fc.constant({ $doc: 'other' })) }),
  fc.record({ $exists: fc.boolean() }),
  fc.record({
    $startsWith: fc.oneof(fc.constantFrom('a', 'b', 'é'), userOperand('role'), fc.constant({ $doc: 'other' })),
  }),
  fc.record({ $endsWith: fc.oneof(fc.constantFrom('a', 'b'), userOperand('role'), fc.constant({ $doc: 'other' })) }),
  fc.record({
    $contains: fc.oneof(fc.constantFrom('a', '.', '$'), userOperand('role'), fc.constant({ $doc: 'other' })),
  }),
  fc.record({ $gte: text, $lt: text }),
);
const numberTest = fc.oneof(
  number,
  fc.oneof(userOperand('level'), fc.constant({ $doc: 'limit' })),
  fc.record({ $gte: fc.oneof(number, userOperand('level'), fc.constant({ $doc: 'limit' })) }),
  fc.record({ $lt: fc.oneof(number, userOperand('level'), fc.constant({ $doc: 'limit' })) }),
  fc.record({ $nin: fc.array(number, { maxLength: 2 }) }),
);
const everyText = fc.oneof(
  fc.record({ $in: fc.oneof(fc.array(text, { maxLength: 3 }), userOperand('teams')) }),
  fc.record({ $ne: text }),
  fc.record({ $gte: text }),
);

const shared = fc.oneof(
  fc.record({ text: textTest }),
  fc.record({ number: numberTest }),
  fc.record({ _id: fc.oneof(userOperand('_id'), fc.constantFrom(...ids)) }),
  fc.record({
    $user: fc.constantFrom<JsonObject>(
      {},
      { role: 'a' },
      { level: { $gte: 1 } },
      { teams: { $in: ['a'] } },
      { emailVerified: true },
      { isAnonymous: false },
      { $not: { role: 'b' } },
    ),
  }),
);
const typedLeaf = fc.oneof(
  shared,
  fc.record({ flag: fc.oneof(fc.boolean(), fc.record({ $ne: fc.boolean() })) }),
  fc.record({
    at: fc.oneof(
      fc.constantFrom(...dates),
      fc.record({ $lte: fc.constant({ $now: 0 }) }),
      fc.record({ $gt: fc.constantFrom(...dates) }),
    ),
  }),
  fc.record({
    ref: fc.oneof(
      fc.constantFrom(...ids),
      userOperand('_id'),
      fc.record({ $in: fc.array(fc.constantFrom(...ids), { maxLength: 2 }) }),
      fc.constant({ $doc: 'text' }),
    ),
  }),
  fc.record({
    tags: fc.oneof(
      text,
      userOperand('teams'),
      userOperand('role'),
      fc.record({ $all: fc.array(text, { minLength: 1, maxLength: 2 }) }),
      fc.record({ $size: fc.nat(3) }),
      fc.record({ $nin: userOperand('teams') }),
    ),
  }),
  fc.record({ tags: fc.record({ $every: everyText }) }),
  fc.record({ tags: fc.record({ $elemMatch: fc.record({ $gte: text, $lt: text }) }) }),
  fc.record({
    members: fc.oneof(
      userOperand('_id'),
      fc.record({ $ne: userOperand('_id') }),
      fc.record({ $in: fc.array(fc.constantFrom(...ids), { maxLength: 2 }) }),
    ),
  }),
  fc.record({ 'meta.text': textTest }),
  fc.record({ 'meta.number': numberTest }),
  fc.record({ 'cards.text': fc.oneof(text, userOperand('role'), fc.record({ $ne: text })) }),
  fc.record({ cards: fc.record({ $elemMatch: fc.record({ text: fc.oneof(text, fc.record({ $gte: text })) }) }) }),
  fc.record({
    cards: fc.record({
      $every: fc.oneof(
        fc.record({ text: fc.oneof(text, userOperand('role'), fc.record({ $in: userOperand('teams') })) }),
        fc.record({ $or: fc.tuple(fc.record({ text }), fc.constant({ $user: { role: 'a' } })) }),
      ),
    }),
  }),
);
const freeLeaf = fc.oneof(
  shared,
  fc.record({ 'meta.text': textTest }),
  fc.record({ tags: fc.oneof(text, userOperand('_id'), fc.record({ $size: fc.nat(3) })) }),
);

/** A rule as parsed JSON: objects have a prototype. */
const asSent = (rule: JsonObject): JsonObject => JSON.parse(JSON.stringify(rule));

const ruleOf = (leaf: fc.Arbitrary<unknown>): fc.Arbitrary<JsonObject> =>
  fc
    .letrec<{ rule: JsonObject }>((tie) => ({
      rule: fc.oneof(
        { depthSize: 'small', maxDepth: 3, withCrossShrink: true },
        leaf as fc.Arbitrary<JsonObject>,
        fc.record({ $and: fc.array(tie('rule'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ $or: fc.array(tie('rule'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ $not: tie('rule') }),
      ),
    }))
    .rule.map(asSent);

/** The caller's record; `undefined` without a user. */
export const callers = fc.constantFrom<JsonObject | undefined>(
  undefined,
  { _id: ann },
  {
    _id: ann,
    role: 'a',
    level: 1,
    teams: ['a', 'ab'],
    email: 'ann@example.com',
    emailVerified: true,
    isAnonymous: false,
  },
  { _id: bob, role: '', level: 2, teams: [], emailVerified: false, isAnonymous: true },
  { _id: bob, role: null, level: 2, teams: null, emailVerified: false, isAnonymous: false },
);

/** Rules whose value follows from the document and the caller. */
export const typedRule = ruleOf(typedLeaf);
export const freeRule = ruleOf(freeLeaf);

/** Conditions on documents that are looked up. */
const fieldOfTarget = fc.oneof(
  fc.record({ text: fc.oneof(text, userOperand('role'), fc.record({ $in: userOperand('teams') })) }),
  fc.record({ number: fc.oneof(number, userOperand('level'), fc.record({ $gte: number })) }),
  fc.record({ $user: fc.constantFrom<JsonObject>({}, { role: 'a' }, { level: { $gt: 1 } }) }),
  fc.record({ tags: fc.oneof(text, userOperand('role')) }),
);
const targetRule = ruleOf(fieldOfTarget);
const fromRule = (where: fc.Arbitrary<JsonObject>) =>
  fc.oneof(
    fc.record({ $from: fc.constant('typed'), select: fc.constantFrom('text', 'tags', '_id', 'ref'), where }),
    fc.record({ $from: fc.constantFrom('typed', 'free'), select: fc.constantFrom('text', 'other', 'tags') }),
  );
const lookUp = (where: fc.Arbitrary<JsonObject>) => {
  const values = fc.oneof(fc.record({ $in: fromRule(where) }), fc.record({ $nin: fromRule(where) }));
  return fc.oneof(
    fc.record({ $ref: fc.record({ ref: targetRule }) }),
    ...['text', 'tags', 'members', 'ref', 'cards.text'].map((path) => values.map((value) => ({ [path]: value }))),
    fc.record({ tags: fc.record({ $every: values }) }),
  );
};

/** Rules of reads that need other documents too. */
export const readRule = ruleOf(fc.oneof(typedLeaf, lookUp(targetRule)));

const throughRef = fc.oneof(
  fc.record({ text: fc.oneof(fc.constantFrom({ $doc: 'ref.text' }, { $ne: { $doc: 'ref.text' } })) }),
  fc.record({ number: fc.constantFrom({ $doc: 'ref.number' }, { $gte: { $doc: 'ref.number' } }) }),
);
const ofOuter = ruleOf(
  fc.oneof(fieldOfTarget, fc.record({ text: fc.constantFrom({ $doc: 'other' }, { $doc: '_id' }) })),
);
const writeLeaf = fc.oneof(typedLeaf, lookUp(ofOuter), throughRef);

/** Rules of writes, which may read through a Ref. */
export const writeRule = ruleOf(writeLeaf);

const change = fc.oneof(
  ...['text', 'number', 'tags', 'members', 'ref', 'meta', 'meta.text', 'cards', 'cards.text', 'tags.0'].map((path) =>
    fc.constantFrom({ [path]: { $stored: path } }, { [path]: { $ne: { $stored: path } } }),
  ),
  fc.record({ number: number.map((plus) => ({ $stored: 'number', plus })) }),
  fc.record({ number: number.map((plus) => ({ $gte: { $stored: 'limit', plus } })) }),
  fc.record({ tags: fc.oneof(text, userOperand('role')).map((adds) => ({ $stored: 'tags', adds })) }),
  fc.record({ tags: fc.oneof(text, userOperand('role')).map((removes) => ({ $stored: 'tags', removes })) }),
  fc.record({
    members: fc.constantFrom('adds', 'removes').map((key) => ({ $stored: 'members', [key]: { $user: '_id' } })),
  }),
  fc.record({ text: fc.constantFrom('$contains', '$startsWith').map((key) => ({ [key]: { $stored: 'other' } })) }),
  fc.record({ text: fc.constantFrom('$in', '$nin').map((key) => ({ [key]: { $stored: 'tags' } })) }),
  fc.record({ $stored: fc.oneof(fieldOfTarget, fc.record({ text: fc.record({ $in: fromRule(targetRule) }) })) }),
  fc.record({ $only: fc.subarray(['text', 'number', 'tags', 'flag', 'other', 'meta', 'limit']) }),
);

/** Rules of an update's result, which compare it with the document before it. */
export const afterRule = ruleOf(fc.oneof(change, writeLeaf));
