import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Collection, RowSecurity } from '../../../../shared/collections/collection.ts';
import { rightsOf } from '../../../../shared/collections/schema/field-rights.ts';
import { parseSchema } from '../../../../shared/collections/schema/schema.ts';
import {
  fieldProtected,
  hasProtected,
  hasUnreadable,
  hiddenIn,
  mayWriteField,
  namedAt,
  relationOf,
  requireBulkRights,
  requireInsertRights,
  unreadableFor,
  unreadablePaths,
  unusableIn,
  withoutUnreadable,
} from '../../../../shared/documents/access/field-rights.ts';
import type { Document, JsonObject } from '../../../../shared/documents/document.ts';
import type { Caller } from '../../../../shared/projects/project.ts';
import { laterRefusalOf } from '../../../support/data/refusal.ts';
import { ann, bob, typed, users } from '../../../support/data/rules.ts';
import { memory } from '../../../support/fixtures/memory-database.ts';
import { callerOf, codeOf, fill, inMode, secret, stranger } from './world.ts';

vi.mock('../../../../shared/persistence/mongo.ts', async () =>
  (await import('../../../support/fixtures/memory-database.ts')).inMemory(),
);

const isEditor = { $user: { role: 'a' } };
const text = (key: string, rest: object = {}) => ({ key, type: 'String', ...rest });
const object = (key: string, fields: readonly object[]) => ({ key, type: 'Object', fields });
const list = (key: string, fields: readonly object[]) => ({ key, type: 'Array', items: { type: 'Object', fields } });

const things: Collection = {
  ...typed,
  name: 'things',
  schema: parseSchema([
    text('title'),
    text('free', { write: true, read: true }),
    text('secret', { read: 'server', write: 'server' }),
    text('own', { read: 'owner' }),
    text('edited', { read: isEditor, write: isEditor }),
    text('first', { write: 'create' }),
    text('state', { write: { before: { state: 'open' }, after: { state: { $in: ['open', 'done'] } } } }),
    text('never', { write: { before: false } }),
    { key: 'count', type: 'Number', write: { after: { count: { $stored: 'count', plus: 1 } } } },
    object('meta', [text('score', { write: 'server' }), text('note', { read: 'server' })]),
    list('cards', [text('text'), text('answer', { read: 'server' })]),
  ]),
};
const people: Collection = {
  ...users,
  schema: parseSchema([
    text('email', { required: true }),
    text('password', { required: true }),
    text('phone', { read: 'owner' }),
    text('role', { write: 'server' }),
  ]),
};

const at = (caller: Caller, rls: Partial<RowSecurity> = {}, collection = things) =>
  inMode({ ...caller }, rls, collection);
const [editor, guest] = [callerOf({ _id: ann }), callerOf({ _id: bob })];
const record = { _id: ann, role: 'a', emailVerified: false, isAnonymous: false };

beforeEach(() => {
  fill({}, record, [things, people]);
});

test.each<[string, string, string]>([
  ['meta.score', 'meta.score', 'same'],
  ['meta', 'meta.score', 'around score'],
  ['meta.score.x', 'meta.score', 'inside'],
  ['meta.scores', 'meta.score', 'none'],
  ['score', 'meta.score', 'none'],
  ['meta.note', 'meta.score', 'none'],
  ['cards', 'cards.answer', 'around answer through'],
  ['cards.0', 'cards.answer', 'around answer'],
  ['cards.0.answer', 'cards.answer', 'same'],
  ['cards.answer', 'cards.answer', 'same'],
  ['cards.17.answer.x', 'cards.answer', 'inside'],
  ['cards.0.0', 'cards.answer', 'around answer'],
  ['cards.x.answer', 'cards.answer', 'none'],
  ['0.cards', 'cards.answer', 'none'],
  ['own.0', 'own', 'inside'],
  ['cards.1x.answer', 'cards.answer', 'none'],
])('the path %s and the field %s: %s', (path, field, expected) => {
  const { written, read } = rightsOf(things);
  const right = [...written, ...read].find((each) => each.path === field);
  if (!right) throw new Error(`no right for ${field}`);
  const relation = relationOf(path, right);
  const rest =
    relation.kind === 'around' ? ` ${relation.rest.join('.')}${relation.throughArray ? ' through' : ''}` : '';
  expect(relation.kind + rest).toBe(expected);
});

const namesOf = (rights: readonly { readonly path: string }[] | undefined) => rights?.map(({ path }) => path).join(' ');
const always = 'secret meta.note cards.answer';

describe('fields that a caller may not read', () => {
  test.each<[string, Caller, Partial<RowSecurity>, Collection, string | undefined, string | undefined, number]>([
    ['the secret key', secret, {}, things, undefined, undefined, 0],
    ['no user', stranger, {}, things, `secret own edited meta.note cards.answer`, '', 0],
    ['a user without the role', guest, {}, things, `secret edited meta.note cards.answer`, 'own', 1],
    ['a user with the role', editor, {}, things, always, 'own', 1],
    ['a user of a private collection', editor, { mode: 'private' }, things, always, '', 1],
    ['a user of one without row security', editor, { enabled: false, mode: 'private' }, things, always, 'own', 1],
    ['no user, of users', stranger, { enabled: false }, people, 'phone', '', 0],
    ['a user, of users', editor, { enabled: false }, people, '', 'phone', 0],
    ['a user, of users in a private project', editor, { mode: 'private' }, people, '', 'phone', 0],
    ['anyone, without rights', stranger, {}, typed, undefined, undefined, 0],
  ])('%s', async (_who, caller, rls, collection, expected, ofOthers, commands) => {
    const context = at(caller, rls, collection);
    const unreadable = await unreadableFor(context);
    expect([namesOf(unreadable?.always), namesOf(unreadable?.ofOthers)]).toEqual([expected, ofOthers]);
    expect(hasUnreadable(context)).toBe(unreadable !== undefined);
    expect(memory.sent.filter((each) => each.collection === 'users')).toHaveLength(commands);
  });

  test('are empty when all rights allow the caller', async () => {
    const open: Collection = { ...things, name: 'open', schema: parseSchema([text('edited', { read: isEditor })]) };
    expect(await unreadableFor(at(editor, {}, open))).toBeUndefined();
    expect(namesOf((await unreadableFor(at(guest, {}, open)))?.always)).toBe('edited');
  });

  const full = {
    ...{ _id: new ObjectId(), title: 't', secret: 's', own: 'o', edited: 'e', meta: { score: '1', note: 'n' } },
    cards: [{ text: 'x', answer: 'y' }, 'z', [{ answer: 'y' }], {}],
  };
  const shown = { title: 't', edited: 'e', meta: { score: '1' }, cards: [{ text: 'x' }, 'z', [{}], {}] };

  test('are left out, and owners see their own', async () => {
    const unreadable = await unreadableFor(at(editor));
    if (!unreadable) throw new Error('nothing is hidden');
    const [mine, other]: [Document, Document] = [
      { ...full, userId: ann },
      { ...full, userId: bob },
    ];
    expect(withoutUnreadable(unreadable, mine, mine)).toEqual({ _id: full._id, userId: ann, own: 'o', ...shown });
    expect(withoutUnreadable(unreadable, other, other)).toEqual({ _id: full._id, userId: bob, ...shown });
    // A part of a document has the owner of the whole one.
    expect(withoutUnreadable(unreadable, { own: 'o' }, mine)).toEqual({ own: 'o' });
    expect(withoutUnreadable(unreadable, { own: 'o', meta: 'x' }, other)).toEqual({ meta: 'x' });
    const bare = { _id: full._id, meta: null };
    expect(Object.keys(withoutUnreadable(unreadable, bare, bare))).toEqual(['_id', 'meta']);
    expect(Object.keys(withoutUnreadable(unreadable, { title: 't' }, other))).toEqual(['title']);
    expect(namesOf(hiddenIn(unreadable, other))).toBe(`${always} own`);
    expect([unreadable.ownerField, full.meta.note]).toEqual(['userId', 'n']);
  });

  test('of a user are compared by their id', async () => {
    const unreadable = await unreadableFor(at(editor, { enabled: false }, people));
    expect(unreadable?.ownerField).toBe('_id');
    expect([ann, bob].map((id) => unreadable?.isOwn({ _id: new ObjectId(id) }))).toEqual([true, false]);
  });

  const own = { userId: { $user: '_id' } };
  test.each<[unknown, string]>([
    [own, always],
    [true, `${always} own`],
    [false, always],
    [{ $and: [own, { title: 'a' }] }, always],
    [{ $or: [own, { $and: [own, { title: 'a' }] }] }, always],
    [{ $or: [own, { title: 'a' }] }, `${always} own`],
    [{ $and: [{ title: 'b' }, { title: 'a' }] }, `${always} own`],
    [{ userId: { $doc: '_id' } }, `${always} own`],
    [{ $not: own }, `${always} own`],
    [{ userId: { $ne: { $user: '_id' } } }, `${always} own`],
    [{ userId: { $user: 'email' } }, `${always} own`],
    [{ userId: ann }, `${always} own`],
    [{ title: { $user: '_id' } }, `${always} own`],
    [{ $user: {} }, `${always} own`],
  ])('cannot be used in a list under the rule %j: %s', async (read, expected) => {
    const context = at(editor, { mode: 'rules', rules: { read } });
    const unreadable = await unreadableFor(context);
    if (!unreadable) throw new Error('nothing is hidden');
    expect(namesOf(await unusableIn(context, unreadable))).toBe(expected);
  });

  test('cannot be used in lists of other modes', async () => {
    const [open, closed] = [at(editor), at(editor, { mode: 'private' })];
    const usable = async (context: typeof open) => {
      const unreadable = await unreadableFor(context);
      return unreadable && namesOf(await unusableIn(context, unreadable));
    };
    expect([await usable(open), await usable(closed)]).toEqual([`${always} own`, always]);
    expect(await usable(at(editor, { enabled: false, mode: 'private' }))).toBe(`${always} own`);
  });

  test('are named by paths of updates that lead to, into or around them', async () => {
    const paths = ['title', 'own', 'secret.x', 'meta', 'meta.score', 'cards.0', 'cards.0.text', 'edited'];
    const under = async (rls: Partial<RowSecurity>, caller = editor) => [
      ...(await unreadablePaths(at(caller, rls), paths)),
    ];
    expect(await under({})).toEqual(['secret.x', 'meta', 'cards.0']);
    expect(await under({ mode: 'rules' })).toEqual(['own', 'secret.x', 'meta', 'cards.0']);
    expect(await under({}, guest)).toEqual(['secret.x', 'meta', 'cards.0', 'edited']);
    expect(await under({}, secret)).toEqual([]);
  });
});

describe('fields that a caller may not set', () => {
  const insert = async (sent: JsonObject, caller = editor, made = sent) => {
    try {
      await requireInsertRights(at(caller), sent, made);
      return 'done';
    } catch (error) {
      return (error as { errors?: { field: string }[] }).errors?.map(({ field }) => field).join(' ');
    }
  };

  test.each<[JsonObject, string]>([
    [{ title: 'a', free: 'a', own: 'a', cards: [{ answer: 'a' }] }, 'done'],
    [{ secret: 'a' }, 'secret'],
    [{ secret: null }, 'secret'],
    [{ secret: 'a', meta: { score: '1' }, title: 'a' }, 'secret meta.score'],
    [{ meta: { note: 'a' } }, 'done'],
    [{ meta: null }, 'done'],
    [{ meta: [{ score: '1' }] }, 'done'],
    [{ 'meta.score': '1' }, 'meta.score'],
    [{ 'secret.x': '1' }, 'secret'],
    [{ 'title.x': '1', 'meta.note': '1' }, 'done'],
    [{ first: 'a' }, 'done'],
    [{ edited: 'a' }, 'done'],
    [{ state: 'open' }, 'done'],
    [{ state: 'closed' }, 'state'],
  ])('in an insert of %j: %s', async (sent, expected) => {
    expect(await insert(sent)).toBe(expected);
    expect(await insert(sent, secret)).toBe('done');
    if (expected === 'done') expect(await codeOf(requireBulkRights(at(editor), [sent], [sent]))).toBe('done');
  });

  test('depend on the caller, and on the document as it would be stored', async () => {
    expect(await insert({ edited: 'a' }, guest)).toBe('edited');
    expect(await insert({ edited: 'a' }, stranger)).toBe('edited');
    expect(await insert({ state: 'closed' }, editor, { state: 'open' })).toBe('done');
    expect([secret, editor].map((caller) => hasProtected(at(caller)))).toEqual([false, true]);
    expect(hasProtected(at(editor, {}, typed))).toBe(false);
  });

  test('403 FIELD_PROTECTED names the fields, and the item of a bulk insert', async () => {
    const one = await laterRefusalOf(requireInsertRights(at(editor), { secret: 'a', meta: { score: '1' } }, {}));
    expect(one).toEqual({
      code: 'FIELD_PROTECTED',
      message: 'secret is not yours to set. Leave it out.',
      errors: ['secret', 'meta.score'].map((field) => ({ field, message: `${field} is not yours to set` })),
    });
    const bodies = [{ title: 'a' }, { title: 'b' }, { secret: 'a' }, { state: 'x' }];
    const many = await laterRefusalOf(requireBulkRights(at(editor), bodies, bodies));
    expect(many).toEqual({
      code: 'FIELD_PROTECTED',
      message: 'secret is not yours to set (item 2). Leave it out.',
      errors: [
        { index: 2, field: 'secret', message: 'secret is not yours to set' },
        { index: 3, field: 'state', message: 'state is not yours to set' },
      ],
    });
    expect(await codeOf(requireBulkRights(at(secret), bodies, bodies))).toBe('done');
    expect(await codeOf(requireBulkRights(at(editor), [{ state: 'open' }], []))).toBe('FIELD_PROTECTED');
    const full = Array.from({ length: 101 }, () => ({ secret: 'a' }));
    const bounded = await laterRefusalOf(requireBulkRights(at(editor), full, full));
    expect([bounded.errors?.length, fieldProtected(full.map((_, index) => `f${index}`)).errors?.length]).toEqual([
      100, 100,
    ]);
  });

  test.each<[string, Caller, JsonObject, JsonObject | undefined, boolean]>([
    ['secret', editor, {}, {}, false],
    ['first', editor, {}, undefined, true],
    ['first', editor, {}, {}, true],
    ['first', editor, {}, { first: null }, true],
    ['first', editor, {}, { first: '' }, false],
    ['first', editor, {}, { first: 'a' }, false],
    ['edited', editor, {}, {}, true],
    ['edited', guest, {}, {}, false],
    ['state', editor, { state: 'done' }, { state: 'open' }, true],
    ['state', editor, { state: 'closed' }, { state: 'open' }, false],
    ['state', editor, { state: 'open' }, { state: 'done' }, false],
    ['state', editor, { state: 'open' }, undefined, true],
    ['never', editor, { never: 'a' }, {}, false],
    ['never', editor, { never: 'a' }, undefined, true],
    ['count', editor, { count: 3 }, { count: 2 }, true],
    ['count', editor, { count: 3 }, { count: 3 }, false],
  ])('%s, in an update by %o to %j from %j: %s', async (path, caller, made, stored, expected) => {
    const right = rightsOf(things).written.find((each) => each.path === path);
    if (!right) throw new Error(`no right for ${path}`);
    expect(await mayWriteField(at(caller), right, made, stored)).toBe(expected);
  });

  test('include those whose rule does not fit any more', async () => {
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const broken: Collection = {
      ...things,
      name: 'broken',
      schema: parseSchema([text('a', { write: { a: { $in: { $from: 'gone', select: 'x' } } }, read: isEditor })]),
    };
    const context = at(editor, {}, broken);
    const [right] = rightsOf(broken).written;
    if (!right) throw new Error('no right');
    expect(await mayWriteField(context, right, { a: 'x' }, undefined)).toBe(false);
    expect(namesOf((await unreadableFor(context))?.always)).toBe('a');
  });
});

test.each<[unknown, string, unknown]>([
  [{ a: { b: 1 } }, 'a.b', 1],
  [{ a: { b: null } }, 'a.b', null],
  [{ a: null }, 'a.b', undefined],
  [{ a: [{ b: 1 }] }, 'a.b', undefined],
  [{}, 'toString', undefined],
  ['x', 'a', undefined],
])('%j names at %s: %s', (body, path, value) => expect(namedAt(body, path.split('.'))).toBe(value));
