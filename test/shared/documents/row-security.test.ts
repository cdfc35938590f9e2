import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { type Collection, rowSecurityModes } from '../../../shared/collections/collection.ts';
import { fixedRules } from '../../../shared/collections/rules/parse-rules.ts';
import { parseSchema } from '../../../shared/collections/schema/schema.ts';
import { isTrashed } from '../../../shared/collections/trash-conditions.ts';
import {
  isSameOwner,
  mayRead,
  mayWrite,
  ownedBy,
  ownerValue,
  requireWriteAccess,
  visibilityFilter,
  writeFilter,
} from '../../../shared/documents/access/access.ts';
import { bind } from '../../../shared/documents/access/bind.ts';
import { decide } from '../../../shared/documents/access/decide.ts';
import { filterOf } from '../../../shared/documents/access/filter-of.ts';
import { present } from '../../../shared/documents/document.ts';
import type { Caller, Project } from '../../../shared/projects/project.ts';
import { refusalOf } from '../../support/data/refusal.ts';
import { everything, owned, ownedPrivately } from './collections.ts';

const secret: Caller = { kind: 'secret' };
const anyone: Caller = { kind: 'publishable' };
const ann: Caller = { kind: 'publishable', userId: 'ann' };
const annsFilter = { userId: { $eq: 'ann', $not: { $type: 'array' } } };
const _id = new ObjectId();

describe('writing', () => {
  test.each<[string, string, Collection, Caller]>([
    ['RLS_REQUIRED', 'a publishable key without row security', everything, anyone],
    ['RLS_REQUIRED', 'a user without row security', everything, ann],
    ['TOKEN_MISSING', 'a publishable key without a user', owned, anyone],
    ['TOKEN_MISSING', 'a publishable key without a user, privately', ownedPrivately, anyone],
  ])('%s for %s', (code, _who, collection, caller) => {
    expect(refusalOf(() => requireWriteAccess({ collection, caller })).code).toBe(code);
    expect(refusalOf(() => writeFilter({ collection, caller })).code).toBe(code);
  });

  test.each<[string, Collection, Caller, unknown]>([
    ['everything without row security to the secret key', everything, secret, {}],
    ['everything under row security to the secret key', ownedPrivately, secret, {}],
    ['own documents to a user', owned, ann, annsFilter],
  ])('is allowed: %s', (_what, collection, caller, filter) =>
    expect(writeFilter({ collection, caller })).toEqual(filter),
  );
});

describe('reading', () => {
  test('TOKEN_MISSING for a private collection without a user', () => {
    expect(refusalOf(() => visibilityFilter({ collection: ownedPrivately, caller: anyone }, false)).code).toBe(
      'TOKEN_MISSING',
    );
    expect(mayRead({ collection: ownedPrivately, caller: anyone }, { _id })).toBe(false);
  });

  test.each<[string, Collection, Caller, unknown]>([
    ['all without row security', everything, anyone, undefined],
    ['all of a public-read collection', owned, anyone, undefined],
    ['all of a private one with the secret key', ownedPrivately, secret, undefined],
    ['own documents of a private one with a user', ownedPrivately, ann, annsFilter],
  ])('gives %s', (_what, collection, caller, filter) => {
    expect(visibilityFilter({ collection, caller }, false)).toEqual(filter);
    expect(visibilityFilter({ collection, caller }, true)).toEqual(filter);
  });

  const ownTrash: Collection = { ...owned, rls: { ...owned.rls, trash: 'owner' } };
  const active = { isDeleted: { $ne: true } };

  test.each<[string, Collection, Caller, unknown]>([
    ['active ones and the own trash to a user', ownTrash, ann, { $or: [active, annsFilter] }],
    ['active ones to an anonymous caller', ownTrash, anyone, active],
    ['all to the secret key', ownTrash, secret, undefined],
    ['all when row security is off', { ...ownTrash, rls: { ...ownTrash.rls, enabled: false } }, anyone, undefined],
    ['own documents of a private one', { ...ownTrash, rls: { ...ownTrash.rls, mode: 'private' } }, ann, annsFilter],
  ])('gives, when only owners see trashed documents and they are requested, %s', (_what, collection, caller, filter) =>
    expect(visibilityFilter({ collection, caller }, true)).toEqual(filter),
  );

  test('needs no filter when only owners see trashed documents and they are not requested', () =>
    expect(visibilityFilter({ collection: ownTrash, caller: ann }, false)).toBeUndefined());

  test.each<[unknown, boolean, boolean]>([
    ['ann', true, true],
    ['bob', true, false],
    [['ann'], true, false],
    [undefined, true, false],
    ['bob', false, true],
  ])(
    'of a document with owner %j, trashed: %s, by ann, when only owners see trashed documents, is allowed: %s',
    (userId, isDeleted, may) =>
      expect(mayRead({ collection: ownTrash, caller: ann }, { _id, userId, isDeleted })).toBe(may),
  );
});

test('disabled row security hides nothing in any stored mode', () => {
  const off: Collection = { ...ownedPrivately, rls: { ...ownedPrivately.rls, enabled: false } };
  expect(off.rls.mode).toBe('private');
  expect(visibilityFilter({ collection: off, caller: anyone }, false)).toBeUndefined();
  expect(mayRead({ collection: off, caller: anyone }, { _id })).toBe(true);
});

describe('a fetched document', () => {
  test.each<[unknown, boolean]>([
    ['ann', true],
    ['bob', false],
    [['ann'], false],
    [{ $eq: 'ann' }, false],
    [null, false],
    [undefined, false],
  ])('of owner %j belongs to ann: %s', (userId, own) => {
    const document = { _id, userId };
    expect(mayRead({ collection: ownedPrivately, caller: ann }, document)).toBe(own);
    expect(mayWrite({ collection: ownedPrivately, caller: ann }, document)).toBe(own);
    expect(mayRead({ collection: owned, caller: ann }, document)).toBe(true);
    expect(mayWrite({ collection: ownedPrivately, caller: secret }, document)).toBe(true);
  });

  test('does not belong to an anonymous caller when it has no owner', () =>
    expect(mayWrite({ collection: owned, caller: anyone }, { _id })).toBe(false));

  test('has default system fields and is active when they are missing', () => {
    expect(present({ _id, a: 1 })).toEqual({ _id, a: 1, isDeleted: false, deletedAt: null });
    expect(isTrashed({ _id })).toBe(false);
  });

  test.each<[unknown, boolean]>([
    [true, true],
    [false, false],
    ['true', false],
    [1, false],
    [null, false],
  ])('with isDeleted %j is trashed: %s', (isDeleted, trashed) => expect(isTrashed({ _id, isDeleted })).toBe(trashed));
});

describe('an owner field that references users', () => {
  const hex = 'a'.repeat(24);
  const [id, other] = [new ObjectId(hex), new ObjectId('b'.repeat(24))];
  const referenced: Collection = {
    ...ownedPrivately,
    schema: parseSchema([{ key: 'userId', type: 'Ref', ref: 'users' }]),
  };
  const caller: Caller = { kind: 'publishable', userId: hex };

  test.each<[unknown, boolean]>([
    [id, true],
    [new ObjectId(hex), true],
    [other, false],
    [hex, false],
    [[id], false],
    [undefined, false],
  ])('of %s belongs to the user: %s', (userId, own) => {
    expect(mayRead({ collection: referenced, caller }, { _id, userId })).toBe(own);
    expect(mayWrite({ collection: referenced, caller }, { _id, userId })).toBe(own);
    expect(isSameOwner(userId, id)).toBe(own);
    expect(isSameOwner(id, userId)).toBe(own);
  });

  test('is compared as an id, or as a text if it cannot be an id', () => {
    const filter = { userId: { $eq: id, $not: { $type: 'array' } } };
    expect(visibilityFilter({ collection: referenced, caller }, false)).toEqual(filter);
    expect(writeFilter({ collection: referenced, caller })).toEqual(filter);
    expect(ownerValue(referenced, 'ann')).toBe('ann');
    expect(ownerValue(ownedPrivately, hex)).toBe(hex);
  });
});

test('an operator sent as a user id stays a value', () =>
  expect(ownedBy('userId', '$ne')).toEqual({ userId: { $eq: '$ne', $not: { $type: 'array' } } }));

describe('a fixed mode equals its rules', () => {
  const modes = rowSecurityModes.filter((mode) => mode !== 'rules');
  const documents = [{ userId: 'ann' }, { userId: 'bob' }, { userId: ['ann'] }, { userId: null }, {}].map((fields) => ({
    _id,
    ...fields,
  }));

  test.each(modes.flatMap((mode) => [ann, anyone].map((caller) => [mode, caller.userId ?? 'nobody', caller] as const)))(
    'in mode %s for %s',
    async (mode, _who, caller) => {
      const collection: Collection = { ...owned, rls: { ...owned.rls, mode } };
      const rules = fixedRules(collection);
      const user = caller.userId === undefined ? undefined : { _id: caller.userId };
      const binding = { project: {} as Project, caller, collection, known: new Map(), user };
      const [read, write] = await Promise.all([bind(rules.list, binding), bind(rules.before, binding)]);
      const visits = { collection, caller };
      const isOpen = mode === 'public-read' || caller.userId !== undefined;
      if (isOpen) {
        const filter = filterOf(read, user);
        expect(filter === true ? undefined : filter).toEqual(visibilityFilter(visits, false));
      } else expect(refusalOf(() => visibilityFilter(visits, false)).code).toBe('TOKEN_MISSING');
      for (const document of documents) {
        if (isOpen) expect(decide(read, { document, user }) === true).toBe(mayRead(visits, document));
        expect(decide(write, { document, user }) === true).toBe(mayWrite(visits, document));
      }
    },
  );
});
