import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { RowSecurity } from '../../../../shared/collections/collection.ts';
import type { RulesInput } from '../../../../shared/collections/rules/rule.ts';
import { AppError } from '../../../../shared/core/errors.ts';
import { filterReadable, filterTargets } from '../../../../shared/documents/access/reading.ts';
import {
  createLooksUp,
  type DocumentWrite,
  decideWrite,
  requireCreate,
  requireCreateAccess,
} from '../../../../shared/documents/access/writing.ts';
import type { Document } from '../../../../shared/documents/document.ts';
import type { Caller } from '../../../../shared/projects/project.ts';
import { laterRefusalOf } from '../../../support/data/refusal.ts';
import { callers, codeOf, fill, inMode, stranger, underRules, user } from './world.ts';

vi.mock('../../../../shared/persistence/mongo.ts', async () =>
  (await import('../../../support/fixtures/memory-database.ts')).inMemory(),
);

beforeEach(() => {
  fill({});
});

const signedIn = { $user: {} };
const _id = new ObjectId();
const changed = { fields: new Set(['text']), to: (document: Document): Document => ({ ...document, text: 'b' }) };
const nothing = async () => undefined;

describe('the errors of rules', () => {
  const namesUser = { $or: [{ text: 'a' }, { text: { $user: 'role' } }] };
  test.each<[string, Caller, RulesInput, string, string]>([
    ['create', user, { create: { text: 'a' } }, 'RULE_DENIED', 'The rule "create" of the collection "typed" does'],
    ['create', stranger, { create: { text: 'a' } }, 'RULE_DENIED', 'The rule "create"'],
    ['create', stranger, { create: namesUser }, 'TOKEN_MISSING', 'This needs a signed-in user'],
    ['create', user, { create: namesUser }, 'RULE_DENIED', 'The rule "create"'],
    ['after', user, { update: { after: { text: 'a' } } }, 'RULE_DENIED', 'The rule "update"'],
  ])('of an insert by %s: %o and %o', async (name, caller, rules, code, message) => {
    const insert = requireCreate(underRules(rules, caller), { text: 'b' }, [name as 'create' | 'after']);
    expect(await laterRefusalOf(insert)).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  test.each<[DocumentWrite, RulesInput, Caller, string]>([
    ['update', { read: false, update: true }, user, '404 Document not found'],
    ['update', { read: true, update: { before: { text: 'b' } } }, user, 'RULE_DENIED "update"'],
    ['update', { read: true, update: { after: { text: 'a' } } }, user, 'RULE_DENIED "update"'],
    ['update', { read: true, update: { after: { text: 'b' } } }, user, 'done'],
    ['upsert', { read: true, update: true, create: { text: 'a' } }, user, 'RULE_DENIED "create"'],
    ['upsert', { read: true, update: true, create: { text: 'b' } }, user, 'done'],
    ['update', { read: true, update: true, create: { text: 'a' } }, user, 'done'],
    ['delete', { read: true, delete: { text: 'b' } }, user, 'RULE_DENIED "delete"'],
    ['delete', { read: true, delete: { text: 'b' }, update: true, purge: false }, stranger, 'RULE_DENIED "delete"'],
    ['recover', { read: true, recover: { text: 'b' } }, user, 'RULE_DENIED "recover"'],
    ['recover', { read: true, update: { before: { text: 'b' } } }, user, 'RULE_DENIED "recover"'],
    ['purge', { read: true, delete: { text: 'b' }, purge: true }, user, 'RULE_DENIED "delete"'],
    ['purge', { read: true, delete: true, purge: { text: 'b' } }, user, 'RULE_DENIED "purge"'],
    ['purge', { read: true, delete: true }, user, 'done'],
  ])('of the write %s: %o', async (operation, rules, caller, expected) => {
    const { require } = await decideWrite(
      underRules(rules, caller),
      operation,
      operation.startsWith('up') ? changed : undefined,
    );
    const made = require({ _id, text: operation.startsWith('up') ? 'c' : 'a' }, nothing).then(
      () => 'done',
      ({ code, message }: AppError) =>
        code === 'DOCUMENT_NOT_FOUND' ? `404 ${message}` : `${code} ${/"\w+"/.exec(message)?.[0]}`,
    );
    expect(await made).toBe(expected);
  });

  test.each<[DocumentWrite, RulesInput]>([
    ['update', { update: { before: signedIn, after: true } }],
    ['update', { update: { before: true, after: signedIn } }],
    ['upsert', { update: true, create: signedIn }],
    ['delete', { delete: signedIn }],
    ['purge', { delete: true, purge: signedIn }],
    ['recover', { recover: signedIn }],
  ])(
    '401 TOKEN_MISSING before the document is looked at, if only a user could be allowed to %s',
    async (write, rules) => {
      const context = underRules({ read: true, ...rules }, stranger);
      expect(await codeOf(decideWrite(context, write, changed))).toBe('TOKEN_MISSING');
    },
  );

  test('401 and 403 for an invalid token and a missing factor', async () => {
    const context = underRules({ read: true, update: true, create: true }, stranger);
    const bad = { ...context, caller: callers['a bad token'] as Caller };
    const withFactor = inMode(user, { ...context.collection.rls, requires: 'mfa' });
    for (const [each, code] of [
      [bad, 'TOKEN_INVALID'],
      [withFactor, 'MFA_REQUIRED'],
    ] as const) {
      expect(await codeOf(decideWrite(each, 'update'))).toBe(code);
      expect(await codeOf(requireCreateAccess(each))).toBe(code);
      expect(await codeOf(filterReadable(each, 'get', false))).toBe(code);
    }
    expect(await codeOf(filterTargets(withFactor, false))).toBe('MFA_REQUIRED');
    const fixed = inMode(callers['a bad token'] as Caller, { mode: 'public-read' });
    expect(await codeOf(decideWrite(fixed, 'update'))).toBe('TOKEN_INVALID');
  });

  test('of an update come in the order of the contract', async () => {
    const rules: RulesInput = { read: { number: 1 }, update: { before: { limit: 1 }, after: { text: 'a' } } };
    const { require } = await decideWrite(underRules(rules, user), 'update', changed);
    const between = () => Promise.reject(new AppError('FIELD_PROTECTED', 'between'));
    expect(await codeOf(require({ _id }, between))).toBe('DOCUMENT_NOT_FOUND');
    expect(await codeOf(require({ _id, number: 1 }, between))).toBe('RULE_DENIED');
    expect(await codeOf(require({ _id, number: 1, limit: 1 }, between))).toBe('FIELD_PROTECTED');
    expect(await codeOf(require({ _id, number: 1, limit: 1 }, nothing))).toBe('RULE_DENIED');
    const settled = { ...changed, to: (document: Document) => ({ ...document, text: 'a' }) };
    expect(await codeOf(require({ _id, number: 1, limit: 1 }, async () => settled))).toBe('done');
  });

  test('a create rule of an upsert sees no stored document, so it decides like that of an insert', async () => {
    const rules = { read: true, update: true, create: { text: 'b' } };
    const { require } = await decideWrite(underRules(rules, user), 'upsert', changed);
    expect(await codeOf(require({ _id, text: 'a' }, nothing))).toBe('done');
  });
});

const look = { text: { $in: { $from: 'typed', select: 'text' } } };

describe('a write is one command', () => {
  const everyone: RulesInput = { read: true, update: true, delete: true };
  test.each<[string, DocumentWrite, RulesInput, Partial<RowSecurity>, boolean, boolean]>([
    ['no rule looks other documents up', 'update', everyone, {}, true, false],
    ['read looks up', 'update', { ...everyone, read: { get: look } }, {}, false, true],
    ['before looks up', 'update', { ...everyone, update: { before: look } }, {}, false, true],
    ['after looks up', 'update', { ...everyone, update: { after: look } }, {}, false, true],
    [
      'after concerns a field that is set',
      'update',
      { ...everyone, update: { after: { text: 'b' } } },
      {},
      false,
      false,
    ],
    ['after concerns other fields', 'update', { ...everyone, update: { after: { number: 1 } } }, {}, true, false],
    ['create concerns a field that is set', 'upsert', { ...everyone, create: { text: 'b' } }, {}, false, false],
    ['readTrash is a condition', 'purge', { ...everyone, readTrash: { text: 'a' } }, {}, false, false],
    ['readTrash is a condition of a deletion', 'delete', { ...everyone, readTrash: { text: 'a' } }, {}, true, false],
    ['owners read the trash', 'recover', everyone, { trash: 'owner', ownerField: 'text' }, false, false],
    ['an update would not be allowed', 'delete', { read: true, delete: true }, {}, true, false],
    ['everyone reads the trash', 'recover', everyone, {}, true, false],
  ])('or not, if %s: %s', async (_title, write, rules, rls, isOne, looksUp) => {
    const decision = await decideWrite(
      underRules(rules, user, rls),
      write,
      write.startsWith('up') ? changed : undefined,
    );
    expect([decision.condition !== undefined, decision.looksUp]).toEqual([isOne, looksUp]);
  });

  test('that finds nothing if a rule is false, and everything if all are true', async () => {
    const decide = (rules: RulesInput) => decideWrite(underRules(rules, user), 'update', changed);
    expect((await decide({ ...everyone, update: { before: false } })).condition).toEqual({ _id: { $in: [] } });
    expect((await decide(everyone)).condition).toEqual({});
  });

  test.each<[unknown, boolean]>([
    [true, false],
    [look, true],
    [{ $ref: { ref: { text: 'a' } } }, true],
    [{ text: { $doc: 'other' } }, false],
    [{ text: { $doc: 'ref.text' } }, true],
    [{ $not: { $or: [{ text: 'a' }, look] } }, true],
    [{ text: { $user: 'role' } }, false],
  ])('an insert under %j depends on other documents: %s', async (create, expected) =>
    expect(await createLooksUp(underRules({ create }, user))).toBe(expected),
  );
});

describe('bugs that the model found', () => {
  test('200 for an update that keeps a field of array elements, under a rule that compares it with $stored', async () => {
    const after = { 'cards.text': { $stored: 'cards.text' }, text: { $stored: 'tags.0' } };
    const context = underRules({ read: true, update: { after } }, user);
    const document = { _id, cards: [{ text: 'a' }, { text: 'b' }], tags: ['a', 'b'] };
    const write = async (changes: object) => {
      const to = (each: Document): Document => ({ ...each, ...changes });
      const { require } = await decideWrite(context, 'update', { fields: new Set(Object.keys(changes)), to });
      return codeOf(require(document, nothing));
    };
    expect(await write({ text: 'a' })).toBe('done');
    expect(await write({ text: 'b' })).toBe('RULE_DENIED');
    expect(await write({ text: 'a', cards: [{ text: 'a' }] })).toBe('RULE_DENIED');
    expect(await write({ text: 'a', cards: [{ text: 'b' }, { text: 'a' }] })).toBe('RULE_DENIED');
  });

  test('200 for a document without an array, under a rule that excludes arrays of the user only', async () => {
    const context = underRules({ read: { $not: { tags: { $every: { $in: { $user: 'teams' } } } } } }, stranger);
    expect(await codeOf(filterReadable(context, 'list', false))).toBe('done');
  });
});
