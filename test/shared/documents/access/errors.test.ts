import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { RowSecurity } from '../../../../shared/collections/collection.ts';
import { statusOf } from '../../../../shared/core/errors.ts';
import { isClosed, mayReadAll, requireWriteAccess } from '../../../../shared/documents/access/access.ts';
import { requireCallerRule } from '../../../../shared/documents/access/decide-rule.ts';
import {
  filterReadable,
  filterTargets,
  mayListWithoutUser,
  requireGet,
  requireList,
  requireListOf,
} from '../../../../shared/documents/access/reading.ts';
import { checkCallerRule } from '../../../../shared/documents/access/rules-of.ts';
import { requireCreateAccess, requireCreateWithout } from '../../../../shared/documents/access/writing.ts';
import type { JsonObject } from '../../../../shared/documents/document.ts';
import type { Caller } from '../../../../shared/projects/project.ts';
import { laterRefusalOf } from '../../../support/data/refusal.ts';
import { ann, users } from '../../../support/data/rules.ts';
import { memory } from '../../../support/fixtures/memory-database.ts';
import { callers, codeOf, fill, inMode, project, secret, stranger, underRules, user } from './world.ts';

vi.mock('../../../../shared/persistence/mongo.ts', async () =>
  (await import('../../../support/fixtures/memory-database.ts')).inMemory(),
);

const [done, missing, invalid, factor, hidden] = [
  'done',
  '401 TOKEN_MISSING',
  '401 TOKEN_INVALID',
  '403 MFA_REQUIRED',
  '404 DOCUMENT_NOT_FOUND',
];
const denied = '403 RULE_DENIED';
const off = '403 RLS_REQUIRED';
const each = (value: string, rest: Readonly<Record<string, string>> = {}) => ({
  ...Object.fromEntries(Object.keys(callers).map((name) => [name, value])),
  secret: done,
  ...rest,
});

const signedIn = { $user: {} };
/** Row security, and the outcomes for each caller of a list, of getting one document, and of a write or an insert. */
const cases: Readonly<Record<string, readonly [Partial<RowSecurity>, list: object, get: object, write: object]>> = {
  off: [{ enabled: false }, each(done), each(done), each(off)],
  'off, once private': [{ enabled: false, mode: 'private', requires: 'mfa' }, each(done), each(done), each(off)],
  'public-read': [{}, each(done), each(done), each(done, { 'no user': missing, 'a bad token': missing })],
  private: [
    { mode: 'private' },
    ...([1, 2, 3].map(() => each(done, { 'no user': missing, 'a bad token': missing })) as [object, object, object]),
  ],
  'signed-in': [
    { mode: 'signed-in' },
    each(done, { 'no user': missing, 'a bad token': invalid }),
    each(done, { 'no user': missing, 'a bad token': invalid }),
    each(done, { 'no user': missing, 'a bad token': missing }),
  ],
  'public-read with a factor': [
    { requires: 'mfa' },
    ...([1, 2, 3].map(() => each(done, { 'no user': missing, 'a bad token': missing, 'a user': factor })) as [
      object,
      object,
      object,
    ]),
  ],
  'rules true': [
    { mode: 'rules', ownerField: '', rules: { read: true, create: true } },
    each(done, { 'a bad token': invalid }),
    each(done, { 'a bad token': invalid }),
    each(done, { 'a bad token': invalid }),
  ],
  'rules false': [
    { mode: 'rules', ownerField: '' },
    each(done, { 'a bad token': invalid }),
    each(hidden, { 'a bad token': invalid }),
    each(denied, { 'a bad token': invalid }),
  ],
  'rules for users': [
    { mode: 'rules', ownerField: '', rules: { read: signedIn, create: signedIn } },
    ...([1, 2, 3].map(() => each(done, { 'no user': missing, 'a bad token': invalid })) as [object, object, object]),
  ],
  'rules with an owner': [
    { mode: 'rules', rules: { read: true, create: true } },
    each(done, { 'a bad token': invalid }),
    each(done, { 'a bad token': invalid }),
    each(done, { 'no user': missing, 'a bad token': invalid }),
  ],
  'rules with a factor': [
    { mode: 'rules', ownerField: '', requires: 'mfa', rules: { read: true, create: true } },
    ...([1, 2, 3].map(() => each(done, { 'no user': missing, 'a bad token': invalid, 'a user': factor })) as [
      object,
      object,
      object,
    ]),
  ],
};

/** The status and code of the outcome for each caller. */
const outcomes = async (act: (caller: Caller) => Promise<unknown>): Promise<object> => {
  const made = Object.entries(callers).map(async ([name, caller]) => {
    const code = await codeOf(act(caller));
    return [name, code in statusOf ? `${statusOf[code as keyof typeof statusOf]} ${code}` : code];
  });
  return Object.fromEntries(await Promise.all(made));
};

beforeEach(() => {
  fill({});
});

describe.each(Object.entries(cases))('%s', (_name, [rls, list, get, write]) => {
  test('answers each caller who lists', async () => {
    expect(await outcomes((caller) => requireList(inMode(caller, rls)))).toEqual(list);
    expect(await outcomes((caller) => filterReadable(inMode(caller, rls), 'list', false))).toEqual(list);
  });

  test('answers each caller who gets a document', async () => {
    expect(await outcomes((caller) => requireGet(inMode(caller, rls), false))).toEqual(get);
  });

  test('answers each caller who writes', async () => {
    const begin = (caller: Caller) => {
      const context = inMode(caller, rls);
      return rls.mode === 'rules' && caller.kind !== 'secret'
        ? requireCreateAccess(context)
        : Promise.resolve().then(() => requireWriteAccess(context));
    };
    expect(await outcomes(begin)).toEqual(write);
  });

  test('leaves references as ids for callers without a valid token', async () => {
    const kept = Object.entries(list).map(([name, one]) => [name, [missing, invalid].includes(one) ? 'none' : one]);
    const targets = outcomes((caller) => filterTargets(inMode(caller, rls), false));
    expect(await targets).toEqual(Object.fromEntries(kept));
  });
});

const _id = new ObjectId();
const look = { text: { $in: { $from: 'typed', select: 'text' } } };

describe('what a list could contain', () => {
  test.each<[unknown, JsonObject, string]>([
    [true, { text: 'b' }, 'done'],
    [{ text: 'a' }, { text: 'a' }, 'done'],
    [{ text: 'a' }, { text: 'b' }, 'RULE_DENIED'],
    [{ text: 'a', number: 1 }, { text: 'a' }, 'done'],
    [{ text: 'a', $not: { number: 1 } }, { text: 'a' }, 'done'],
    [{ text: { $user: '_id' } }, { text: 'a' }, 'RULE_DENIED'],
    [false, { text: 'a' }, 'RULE_DENIED'],
  ])('under %j with %j: %s', async (read, values, code) => {
    expect(await codeOf(requireListOf(underRules({ read }, user), values))).toBe(code);
    expect(await codeOf(requireListOf(underRules({ read }, secret), values))).toBe('done');
    expect(await codeOf(requireListOf(inMode(user, { mode: 'private' }), values))).toBe('done');
  });

  test.each<[unknown, JsonObject, boolean]>([
    [true, {}, true],
    [false, {}, false],
    [{ text: 'a' }, { text: 'a' }, true],
    [{ text: 'a' }, { text: 'b' }, false],
    [signedIn, {}, false],
    [look, { text: 'a' }, false],
    [{ $or: [{ text: 'a' }, signedIn] }, { text: 'a' }, true],
  ])('under %j everyone sees %j live: %s', async (read, fields, expected) => {
    fill({ typed: [{ _id, text: 'a' }] });
    const context = underRules({ read }, user);
    expect(await mayListWithoutUser(context, { _id, ...fields })).toBe(expected);
  });

  test('a field whose value is not known yet counts as one that the create rule allows', async () => {
    const context = underRules({ create: { text: 'a', number: 1 } }, user);
    expect(await codeOf(requireCreateWithout(context, { text: 'a' }, 'number'))).toBe('done');
    expect(await codeOf(requireCreateWithout(context, { text: 'b' }, 'number'))).toBe('RULE_DENIED');
    expect(await codeOf(requireCreateWithout(context, { text: 'b', number: 1 }, 'text'))).toBe('done');
  });
});

describe('a rule about the caller', () => {
  const rule = (value: unknown) => ({ at: 'directory.find', what: 'the directory', value });
  const record = { _id: ann, role: 'a', emailVerified: false, isAnonymous: false };

  test.each<[string, unknown, Caller, string, number]>([
    ['true', true, stranger, 'done', 0],
    ['false', false, stranger, 'RULE_DENIED', 0],
    ['false', false, user, 'RULE_DENIED', 0],
    ['any user', signedIn, stranger, 'TOKEN_MISSING', 0],
    ['any user', signedIn, user, 'done', 0],
    ['a role', { $user: { role: 'a' } }, user, 'done', 1],
    ['another role', { $user: { role: 'b' } }, user, 'RULE_DENIED', 1],
    ['a missing field', { $user: { level: { $ne: 2 } } }, user, 'done', 1],
  ])('that allows %s', async (_what, value, caller, code, commands) => {
    fill({}, record);
    expect(await codeOf(requireCallerRule(project, users, { ...caller }, rule(value)))).toBe(code);
    expect(memory.sent.filter(({ collection }) => collection === 'users')).toHaveLength(commands);
  });

  test('403 RULE_DENIED names the rule', async () => {
    const refusal = await laterRefusalOf(requireCallerRule(project, users, user, rule(false)));
    expect(refusal.message).toBe('The rule "directory.find" of the project does not allow this.');
  });

  test('400 INVALID_RLS if it concerns documents', async () => {
    expect(await codeOf(checkCallerRule(project, users, rule({ role: 'a' })))).toBe('INVALID_RLS');
    expect(await codeOf(checkCallerRule(project, users, rule({ $user: { role: 'a' } })))).toBe('done');
  });
});

test.each<[Partial<RowSecurity>, Readonly<Record<string, readonly [isClosed: boolean, readsAll: boolean]>>]>([
  [
    { enabled: false, mode: 'private' },
    { 'no user': [false, true], 'a user': [false, true] },
  ],
  [{}, { 'no user': [false, true], 'a user': [false, true] }],
  [{ mode: 'private' }, { secret: [false, true], 'no user': [true, false], 'a user': [false, false] }],
  [{ mode: 'signed-in' }, { secret: [false, true], 'no user': [true, true], 'a user': [false, true] }],
  [{ mode: 'rules' }, { secret: [false, true], 'no user': [false, false], 'a user': [false, false] }],
  [
    { requires: 'mfa' },
    { secret: [false, true], 'no user': [true, true], 'a user': [true, true], 'a user with a factor': [false, true] },
  ],
])('under %j a collection is closed to a caller, or open as a whole', (rls, expected) => {
  for (const [name, outcome] of Object.entries(expected)) {
    const context = inMode(callers[name] as Caller, rls);
    expect([name, isClosed(context), mayReadAll(context)]).toEqual([name, ...outcome]);
  }
});
