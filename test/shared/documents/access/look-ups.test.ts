import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { clock } from '../../../../shared/core/clock.ts';
import { asRuleUser, defaultsOf, findUser } from '../../../../shared/documents/access/bind.ts';
import { filterReadable, mayGet } from '../../../../shared/documents/access/reading.ts';
import { userValues } from '../../../../shared/documents/access/rule-look-ups.ts';
import { effectsOf, knowUser, userOf } from '../../../../shared/documents/access/rules-of.ts';
import type { Document, JsonObject } from '../../../../shared/documents/document.ts';
import { ann, ids, known, typed } from '../../../support/data/rules.ts';
import { memory } from '../../../support/fixtures/memory-database.ts';
import { callerOf, codeOf, fill, idOf, listed, project, record, secret, stranger, underRules } from './world.ts';

vi.mock('../../../../shared/persistence/mongo.ts', async () =>
  (await import('../../../support/fixtures/memory-database.ts')).inMemory(),
);

const sent = () => memory.sent.filter(({ collection }) => collection !== 'collections');

beforeEach(() => {
  fill({}, record);
});

describe('the caller', () => {
  const stored = { _id: new ObjectId(ann), email: 'ann@example.com', password: 'p', role: 'a' };
  test.each<[string, JsonObject, JsonObject]>([
    ['an unverified email counts as missing', {}, { emailVerified: false, isAnonymous: false }],
    [
      'a verified one counts',
      { emailVerified: true },
      { email: stored.email, emailVerified: true, isAnonymous: false },
    ],
    ['only true is verified', { emailVerified: 'yes' }, { emailVerified: false, isAnonymous: false }],
    ['an anonymous user', { _signIn: { anonymous: {} } }, { emailVerified: false, isAnonymous: true }],
    ['one who was anonymous', { _signIn: { provider: 1 } }, { emailVerified: false, isAnonymous: false }],
  ])('%s', (_title, fields, expected) =>
    expect(asRuleUser({ ...stored, ...fields }, ann)).toEqual({ _id: ann, role: 'a', ...expected }),
  );

  test.each<[string, Parameters<typeof findUser>[1], boolean, JsonObject | undefined, number]>([
    ['the secret key is no user', { ...secret, userId: ann }, true, undefined, 0],
    ['no token is no user', stranger, true, undefined, 0],
    ['an id needs no command', callerOf(record), false, { _id: ann }, 0],
    ['a record costs one command', callerOf(record), true, { ...record }, 1],
    ['an id that no user can have costs none', callerOf({ _id: 'ann' }), true, { _id: 'ann' }, 0],
  ])('%s', async (_title, caller, needsRecord, expected, commands) => {
    expect(await findUser(project, caller, needsRecord)).toEqual(expected);
    expect(sent()).toHaveLength(commands);
    for (const { options } of sent()) expect(options).toMatchObject({ readPreference: 'primary', maxTimeMS: 5000 });
  });

  test.each([{ isDeleted: true }, { isDisabled: true }])('keeps only the id if the record has %j', async (state) => {
    memory.collections.set('users', [{ ...stored, ...state }]);
    expect(await findUser(project, callerOf(record), true)).toEqual({ _id: ann });
  });

  test('is read one time per request, and gets the defaults of the schema', async () => {
    const caller = callerOf(record);
    const [one, other] = await Promise.all([
      userOf(project, caller, known, true),
      userOf(project, caller, new Map(), true),
    ]);
    expect(one).toEqual({ ...record, level: 1 });
    expect(other).toEqual(record);
    expect(sent()).toHaveLength(1);
    expect(await userOf(project, callerOf(record), known, false)).toEqual({ _id: ann });
    knowUser(caller, { ...stored, role: 'b' });
    expect(await userOf(project, caller, known, true)).toMatchObject({ _id: ann, role: 'b' });
    expect(sent()).toHaveLength(1);
  });

  test('has no defaults after the deletion of the record', async () =>
    expect(await userOf(project, callerOf({ _id: ids[1] }), known, true)).toEqual({ _id: ids[1] }));

  test('only fields with a default have one', () =>
    expect(defaultsOf(known.get('users')?.schema ?? [])).toEqual({ level: 1 }));

  test.each<[JsonObject | undefined, string, readonly unknown[] | undefined]>([
    [undefined, 'a', undefined],
    [{}, 'a', undefined],
    [{ a: null }, 'a', undefined],
    [{ a: 0 }, 'a', [0]],
    [{ a: '' }, 'a', ['']],
    [{ a: [] }, 'a', []],
    [{ a: [null] }, 'a', []],
    [{ a: [1, null, 2] }, 'a', [1, 2]],
    [{ a: [['b'], 'c'] }, 'a', ['b', 'c']],
    [{ a: [{ b: 1 }, { b: null }, { c: 2 }, { b: [3, 4] }] }, 'a.b', [1, 3, 4, 3, 4]],
    [{ a: [] }, 'a.b', undefined],
    [{ a: [{ c: 1 }] }, 'a.b', undefined],
  ])('%j has at %s the values %j', (user, path, values) => expect(userValues(user, path)).toEqual(values));

  test('costs no command in rules that need the id only', async () => {
    const rules = [{ text: { $user: '_id' } }, { $user: {} }, { number: { $gt: 1 } }, { $not: { $user: {} } }];
    for (const read of rules) await filterReadable(underRules({ read }, callerOf(record)), 'list', true);
    expect(sent()).toEqual([]);
    const more = [
      { text: { $user: 'role' } },
      { $not: { $user: { role: 'a' } } },
      { tags: { $every: { $ne: { $user: 'role' } } } },
    ];
    for (const read of more) await filterReadable(underRules({ read }, callerOf(record)), 'list', true);
    expect(sent()).toHaveLength(3);
  });
});

test.each<[string, unknown, JsonObject, boolean]>([
  ['one of a list equals an element', { tags: { $user: 'teams' } }, { tags: ['c', 'b'] }, true],
  ['none does', { tags: { $user: 'teams' } }, { tags: ['c'] }, false],
  ['none may', { tags: { $ne: { $user: 'teams' } } }, { tags: ['c', 'b'] }, false],
  ['none may, and none does', { tags: { $ne: { $user: 'teams' } } }, { tags: ['c'] }, true],
  ['a single value', { tags: { $user: 'role' } }, { tags: ['c', 'a'] }, true],
  ['a single value in a list', { text: { $in: { $user: 'role' } } }, { text: 'a' }, true],
  ['an empty text is equal', { text: { $user: 'level' } }, { text: '' }, true],
  ['an empty text is part of none', { text: { $contains: { $user: 'level' } } }, { text: 'a' }, false],
  ['a text is part of another', { text: { $contains: { $user: 'role' } } }, { text: 'bab' }, true],
  [
    'an empty text is not known to be no part',
    { $not: { text: { $endsWith: { $user: 'level' } } } },
    { text: 'a' },
    false,
  ],
  [
    'values of two documents',
    { tags: { $every: { $in: { $from: 'free', select: 'text' } } } },
    { tags: ['x', 'y'] },
    true,
  ],
  ['one more value', { tags: { $every: { $in: { $from: 'free', select: 'text' } } } }, { tags: ['x', 'z'] }, false],
  ['a date is a value', { at: { $in: { $from: 'free', select: 'at' } } }, { at: new Date(5) }, true],
  ['another date is not', { at: { $in: { $from: 'free', select: 'at' } } }, { at: new Date(6) }, false],
  ['an id is a value', { ref: { $in: { $from: 'free', select: '_id' } } }, { ref: idOf(7) }, true],
  [
    'an id is a value of a text',
    { text: { $in: { $from: 'free', select: '_id' } } },
    { text: idOf(7).toHexString() },
    true,
  ],
  ['another id is not', { ref: { $in: { $from: 'free', select: '_id' } } }, { ref: idOf(8) }, false],
])('%s: %j of %j', async (_title, rule, fields, expected) => {
  fill(
    { free: [{ _id: idOf(7), at: new Date(5), text: 'x' }, { _id: idOf(6), at: null, text: 'y' }, { _id: idOf(5) }] },
    { ...record, level: '' },
  );
  const document = { _id: idOf(1), ...fields };
  expect(await listed(rule, [document])).toEqual(expected ? [1] : []);
  expect(await mayGet(underRules({ read: rule }, callerOf(record)), document)).toBe(expected);
});

describe('values of other documents', () => {
  const from = (where: object = {}) => ({ $from: 'free', select: 'text', where });
  const texts = ['a', 'b', 'c'].map((text, at): Document => ({ _id: idOf(at), text }));
  const shownBy = (rule: unknown) => listed(rule, texts);

  test('are those of active documents, read from the primary in the order of their ids', async () => {
    fill({
      free: [
        { _id: idOf(9), text: 'a' },
        { _id: idOf(8), text: ['b', ['c'], { d: 1 }, null] },
        { _id: idOf(7), text: 'c', isDeleted: true },
      ],
    });
    expect(await shownBy({ text: { $in: from() } })).toEqual([0, 1]);
    expect(await shownBy({ text: { $nin: from() } })).toEqual([2]);
    for (const { options } of sent())
      expect(options).toMatchObject({ readPreference: 'primary', sort: { _id: 1 }, projection: { text: 1 } });
  });

  test('are empty when the condition is false for the caller, not unknown', async () => {
    fill({ free: texts }, record);
    const isB = { $user: { role: 'b' } };
    expect(await shownBy({ text: { $in: from(isB) } })).toEqual([]);
    expect(await shownBy({ text: { $nin: from(isB) } })).toEqual([0, 1, 2]);
    expect(await shownBy({ text: { $nin: from({ other: { $user: 'email' } }) } })).toEqual([]);
    expect(await shownBy({ text: { $in: from({ $or: [isB, { text: { $user: 'role' } }] }) } })).toEqual([0]);
    expect(await shownBy({ text: { $nin: from({ $or: [isB, { text: 'b' }] }) } })).toEqual([0, 2]);
  });

  test('for one document are those of its own values', async () => {
    fill({ free: texts }, record);
    const context = underRules(
      { read: { $and: [{ text: { $in: from() } }, { tags: { $nin: from() } }] } },
      callerOf(record),
    );
    expect(await mayGet(context, { _id: idOf(1), text: 'a', tags: ['x', 'y'] })).toBe(true);
    expect(await mayGet(context, { _id: idOf(1), text: 'a', tags: ['x', 'b'] })).toBe(false);
    expect(sent()[0]?.filter).toEqual({ $and: [{ isDeleted: { $ne: true } }, { text: { $in: ['a'] } }] });
    memory.sent.length = 0;
    expect(await mayGet(context, { _id: idOf(1), text: null, tags: ['x'] })).toBe(false);
    expect(await mayGet(context, { _id: idOf(1) })).toBe(false);
    expect(sent().map(({ filter }) => JSON.stringify(filter).includes('"x"'))).toEqual([true]);
  });
});

describe('targets of references', () => {
  const rule = { $ref: { ref: { number: { $gte: 2 } } } };
  const targets = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ _id: idOf(at), number: Math.min(at, 2) }));
  const sources = [0, 1, 2, 3].map((at): Document => ({ _id: idOf(at), ref: idOf(at), text: 'x' }));

  test('that are trashed or missing fulfil nothing, and a condition that is unknown for them neither', async () => {
    fill(
      {
        typed: [
          { _id: idOf(2), number: 2, isDeleted: true },
          { _id: idOf(3), number: 3 },
        ],
      },
      record,
    );
    expect(await listed(rule, sources)).toEqual([3]);
    const open = { $ref: { ref: { $or: [{ number: 3 }, { text: { $user: 'email' } }] } } };
    expect(await listed(open, sources)).toEqual([3]);
    expect(await listed({ $not: open }, sources)).toEqual([0, 1, 2]);
    const never = { $ref: { ref: { $user: { role: 'b' } } } };
    expect(await listed({ $not: never }, sources)).toEqual([0, 1, 2, 3]);
  });

  test('cost one command each for one document', async () => {
    fill({ typed: targets(4) });
    const context = underRules({ read: rule }, callerOf(record));
    expect(await mayGet(context, sources[2] as Document)).toBe(true);
    expect(await mayGet(context, { _id: idOf(9), ref: idOf(2).toHexString() })).toBe(false);
    expect(await mayGet(context, { _id: idOf(9) })).toBe(false);
    expect(sent()).toMatchObject([{ options: { limit: 1, readPreference: 'primary', sort: { _id: 1 } } }]);
  });
});

test('`$now` is the time of the decision plus the milliseconds', async () => {
  vi.spyOn(clock, 'now').mockReturnValue(1000);
  const context = (ms: number) => underRules({ read: { at: { $lte: { $now: ms } } } }, callerOf(record));
  expect(await mayGet(context(0), { _id: idOf(1), at: new Date(1000) })).toBe(true);
  expect(await mayGet(context(-1), { _id: idOf(1), at: new Date(1000) })).toBe(false);
  expect(await mayGet(context(500), { _id: idOf(1), at: new Date(1500) })).toBe(true);
});

describe('rules that name a collection that is being deleted', () => {
  const read = { text: { $in: { $from: 'gone', select: 'text' } } };

  test('allow nothing', async () => {
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const context = underRules({ read: { $or: [{ text: 'a' }, read] } }, callerOf(record));
    expect(await mayGet(context, { _id: idOf(1), text: 'a' })).toBe(false);
  });

  test('409 EFFECT_REFUSED for effects', async () => {
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const effects = [{ on: 'create', if: read, set: { text: 'x' } }];
    expect(await codeOf(effectsOf(project, { ...typed, effects }))).toBe('EFFECT_REFUSED');
    expect(await codeOf(effectsOf(project, typed))).toBe('done');
  });
});
