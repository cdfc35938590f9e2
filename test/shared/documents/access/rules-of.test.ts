import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { RowSecurity } from '../../../../shared/collections/collection.ts';
import { parseSchema } from '../../../../shared/collections/schema/schema.ts';
import { filterReadable, mayGet, requireGet, requireList } from '../../../../shared/documents/access/reading.ts';
import { effectsOf, fieldRulesOf, rulesOf } from '../../../../shared/documents/access/rules-of.ts';
import { matches } from '../../../support/data/mongo-filter.ts';
import { ann, bob, typed } from '../../../support/data/rules.ts';
import { memory } from '../../../support/fixtures/memory-database.ts';
import { type callerOf, codeOf, fill, idOf, inMode, project, stranger, underRules, user } from './world.ts';

vi.mock('../../../../shared/persistence/mongo.ts', async () =>
  (await import('../../../support/fixtures/memory-database.ts')).inMemory(),
);

beforeEach(() => {
  fill({});
});

test.each<[unknown, readonly string[]]>([
  [true, []],
  [{ text: 'a', 'meta.text': 'b.c' }, []],
  [{ text: { $user: '_id' } }, []],
  [{ text: { $user: 'email' } }, []],
  [{ flag: { $user: 'emailVerified' } }, []],
  [{ text: { $user: 'role' } }, ['users']],
  [{ $user: { role: 'a' } }, ['users']],
  [{ text: { $in: { $from: 'free', select: 'text' } } }, ['free']],
  [{ $ref: { ref: { text: 'a' } } }, ['typed', 'users']],
  [{ text: { $doc: 'other' } }, []],
  [{ text: { $doc: 'ref.text' } }, ['typed', 'users']],
  [{ text: { $doc: 5 } }, []],
  [{ text: { $in: { $from: 5, select: 'text' } } }, []],
])('the rule %j reads the collections %j', async (rule, names) => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  // Collections are cached for 5 s in each project.
  const other = { ...project, id: new ObjectId().toHexString() };
  await rulesOf(other, underRules({ update: rule }, user).collection);
  expect(memory.sent.map(({ filter }) => filter.name.$in)).toEqual(names.length > 0 ? [names] : []);
});

test('rules are read one time per collection, those of fields only if there are some, and failures are not kept', async () => {
  const rule = { text: { $in: { $from: 'free', select: 'text' } } };
  const schema = parseSchema([
    { key: 'text', type: 'String', write: rule },
    { key: 'sum', type: 'Number' },
  ]);
  const effects = [{ when: rule, set: { sum: 1 } }];
  const { collection } = underRules({ read: rule }, user);
  for (const [read, of] of [
    [rulesOf, collection],
    [fieldRulesOf, { ...typed, schema }],
    [effectsOf, { ...typed, schema, effects }],
  ] as const) {
    const other = { ...project, id: new ObjectId().toHexString() };
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    vi.spyOn(memory, 'collection').mockImplementationOnce(() => {
      throw new Error('down');
    });
    await expect(read(other, of)).rejects.toThrow('down');
    const again = read(other, of);
    expect(read(other, of)).toBe(again);
    await again.catch(() => undefined);
  }
  const plain = { ...typed, schema: parseSchema([{ key: 'text', type: 'String' }]) };
  expect((await fieldRulesOf(project, plain)).known.size).toBe(0);
  expect((await rulesOf(project, inMode(user, {}).collection)).known.size).toBe(0);
});

describe('reads of the trash', () => {
  const [mine, others] = [ann, bob].map((userId, at) => ({ _id: idOf(at), userId, isDeleted: true }));
  const active = { _id: idOf(2), userId: bob };
  const documents = [mine, others, active].flatMap((each) => each ?? []);

  test.each<
    [Partial<RowSecurity>, ReturnType<typeof callerOf>, shown: readonly number[], withoutTrash: readonly number[]]
  >([
    [{ rules: { read: true } }, user, [0, 1, 2], [0, 1, 2]],
    [{ rules: { read: true, readTrash: false } }, user, [2], [0, 1, 2]],
    [{ trash: 'owner', rules: { read: true } }, user, [0, 2], [0, 1, 2]],
    [{ trash: 'owner', rules: { read: true } }, stranger, [2], [0, 1, 2]],
    [{ trash: 'owner', rules: { read: true, readTrash: false } }, user, [2], [0, 1, 2]],
    [{ rules: { read: { userId: bob } } }, user, [1, 2], [1, 2]],
    [{ rules: { read: false } }, user, [], []],
    [{ mode: 'public-read', trash: 'owner' }, user, [0, 2], [0, 1, 2]],
    [{ mode: 'public-read' }, stranger, [0, 1, 2], [0, 1, 2]],
    [{ mode: 'private' }, user, [0], [0]],
  ])('under %j by %o', async (rls, caller, shown, withoutTrash) => {
    const context = inMode(caller, { mode: 'rules', ...rls });
    const listed = async (half: 'get' | 'list', withTrash: boolean) => {
      const readable = await filterReadable(context, half, withTrash);
      expect(readable === undefined || readable.condition !== undefined).toBe(true);
      return documents.flatMap((each, at) => (!readable || matches(each, readable.condition) ? [at] : []));
    };
    expect(await listed('list', true)).toEqual(shown);
    expect(await listed('get', true)).toEqual(shown);
    expect(await listed('list', false)).toEqual(withoutTrash);
    const got = await Promise.all(documents.map((each) => mayGet(context, each)));
    expect(got.flatMap((each, at) => (each ? [at] : []))).toEqual(shown);
  });
});

test('needs no filter if nothing is hidden', async () => {
  expect(await filterReadable(underRules({ read: true }, user), 'list', true)).toBeUndefined();
  expect(await filterReadable(inMode(user, {}), 'list', true)).toBeUndefined();
});

test.each<[Partial<RowSecurity>, string]>([
  [{ mode: 'rules', rules: { read: true } }, 'TOKEN_INVALID'],
  [{ mode: 'signed-in' }, 'TOKEN_INVALID'],
  [{ mode: 'signed-in', enabled: false }, 'done'],
  [{ mode: 'rules', enabled: false }, 'done'],
])('under %j an invalid token beside a publishable key: %s, and beside a secret key nothing', async (rls, code) => {
  const [bad, withSecret] = [
    { ...stranger, hasInvalidToken: true } as const,
    { kind: 'secret', hasInvalidToken: true } as const,
  ];
  for (const act of [requireList, (c: Parameters<typeof requireList>[0]) => requireGet(c, true)]) {
    expect(await codeOf(act(inMode(bad, rls)))).toBe(code);
    expect(await codeOf(act(inMode(withSecret, rls)))).toBe('done');
  }
  expect(await codeOf(filterReadable(inMode(bad, rls), 'get', true))).toBe(code);
  expect(await codeOf(filterReadable(inMode(withSecret, rls), 'get', true))).toBe('done');
});
