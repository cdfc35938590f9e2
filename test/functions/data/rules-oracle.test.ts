import fc from 'fast-check';
import { type Document as MongoDocument, ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Collection } from '../../../shared/collections/collection.ts';
import { findProjectByKey } from '../../../shared/collections/find-project-by-key.ts';
import { parseRules } from '../../../shared/collections/rules/parse-rules.ts';
import type { Outcome } from '../../../shared/collections/rules/rule.ts';
import { parseSchema } from '../../../shared/collections/schema/schema.ts';
import { bind } from '../../../shared/documents/access/bind.ts';
import { decide } from '../../../shared/documents/access/decide.ts';
import { filterOf } from '../../../shared/documents/access/filter-of.ts';
import type { JsonObject } from '../../../shared/documents/document.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { newProject } from '../../support/fixtures/project.ts';

/*
 * The database decides a rule for lists and the code decides it for one document. Both must agree on true and false for
 * every document and caller.
 */

const ids = ['a', 'b', 'c'].map((letter) => letter.repeat(24));
const [ann = '', bob = ''] = ids;

const rls = { enabled: true, mode: 'rules', ownerField: '', trash: 'everyone', requires: 'none' } as const;
const typed: Collection = {
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
const free: Collection = { name: 'free', schema: null, rls };
const users: Collection = {
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
const known = new Map([typed, free, users].map((collection) => [collection.name, collection]));

const texts = ['', 'a', 'b', 'ab', 'a.b', '$a', 'é', ...ids];
const numbers = [-1, 0, 1, 2, 2.5];
const dates = ['2026-01-01T00:00:00.000Z', '2026-06-01T00:00:00.000Z'];

const text = fc.constantFrom(...texts);
const number = fc.constantFrom(...numbers);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const typedDocument = fc.record(
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
  fc.array(fc.oneof(text, number), { maxLength: 3 }),
  fc.record({ text, number: fc.oneof(number, text) }, { requiredKeys: [], noNullPrototype: true }),
  fc.constantFrom(...ids).map((id) => new ObjectId(id)),
);
const freeDocument = fc.record(
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

const ruleOf = (leaf: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc.letrec<{ rule: JsonObject }>((tie) => ({
    rule: fc.oneof(
      { depthSize: 'small', maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.record({ $and: fc.array(tie('rule'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ $or: fc.array(tie('rule'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ $not: tie('rule') }),
    ),
  })).rule;

const caller = fc.constantFrom<JsonObject | undefined>(
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

let project: Project;

beforeAll(async () => {
  const made = await newProject([]);
  const found = await findProjectByKey(made.secretKey, 'secret');
  project = (found as { project: Project }).project;
});

const outcomes = async (
  collection: Collection,
  json: unknown,
  user: JsonObject | undefined,
  documents: readonly MongoDocument[],
) => {
  const { list } = parseRules(collection, known, { read: json });
  const binding = { project, caller: { kind: 'publishable' } as const, collection, known, user };
  const bound = await bind(list, binding);
  const decided = new Map<string, Outcome>(
    documents.map((document) => [String(document._id), decide(bound, { document, user })]),
  );
  const idsOf = async (wanted: boolean): Promise<readonly string[]> => {
    const filter = filterOf(bound, user, wanted);
    if (typeof filter === 'boolean') return filter ? [...decided.keys()] : [];
    const found = await onProject(project, (db) =>
      db
        .collection(collection.name)
        .find(filter, { projection: { _id: 1 } })
        .toArray(),
    );
    return found.map(({ _id }) => String(_id));
  };
  return { decided, whenTrue: await idsOf(true), whenFalse: await idsOf(false) };
};

const runs = Number(process.env.RULE_RUNS ?? 250);

describe('a rule as a database filter and as a decision in code', () => {
  test.each([
    ['with a schema', typed, typedDocument, ruleOf(typedLeaf as fc.Arbitrary<JsonObject>)],
    ['without a schema', free, freeDocument, ruleOf(freeLeaf as fc.Arbitrary<JsonObject>)],
  ] as const)('agree on every document %s', async (_title, collection, document, rule) => {
    const seed = Number(process.env.RULE_SEED ?? 0) || Date.now() % 1_000_000;
    const made = fc.sample(document as fc.Arbitrary<JsonObject>, { numRuns: 100, seed });
    const documents = made.map((each, index) => ({ ...each, _id: new ObjectId(ids[index] ?? undefined) }));
    await onProject(project, async (db) => {
      await db.collection(collection.name).deleteMany({});
      await db.collection(collection.name).insertMany(documents);
    });
    await fc.assert(
      fc.asyncProperty(rule, caller, async (json, user) => {
        const { decided, whenTrue, whenFalse } = await outcomes(collection, json, user, documents);
        const by = (outcome: Outcome) =>
          [...decided]
            .filter(([, each]) => each === outcome)
            .map(([id]) => id)
            .sort();
        const show = (ids: readonly string[]) => documents.filter(({ _id }) => ids.includes(String(_id)));
        const differ = (one: readonly string[], two: readonly string[]) =>
          show([...one.filter((id) => !two.includes(id)), ...two.filter((id) => !one.includes(id))]);
        expect(differ(whenTrue, by(true))).toEqual([]);
        expect(differ(whenFalse, by(false))).toEqual([]);
      }),
      { numRuns: runs, seed },
    );
  });
});
