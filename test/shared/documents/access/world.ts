import { type Document as MongoDocument, ObjectId } from 'mongodb';
import { expect } from 'vitest';
import type { Collection, RowSecurity } from '../../../../shared/collections/collection.ts';
import type { RulesInput } from '../../../../shared/collections/rules/rule.ts';
import { AppError } from '../../../../shared/core/errors.ts';
import type { AccessContext } from '../../../../shared/documents/access/access.ts';
import { filterReadable, listDecider } from '../../../../shared/documents/access/reading.ts';
import type { Document, JsonObject } from '../../../../shared/documents/document.ts';
import type { Caller } from '../../../../shared/projects/project.ts';
import { matches } from '../../../support/data/mongo-filter.ts';
import { ann, free, typed, users } from '../../../support/data/rules.ts';
import { type MemoryDatabase, memory } from '../../../support/fixtures/memory-database.ts';
import { projectWithKey } from '../../accounts/project.ts';

process.env.ENCRYPTION_KEY = Buffer.alloc(32, 1).toString('base64');

export const project = await projectWithKey('e'.repeat(24));

/** A user as `callers` has it, as the database stores it. One without fields is deleted. */
const storedUser = ({ _id, isAnonymous, ...rest }: JsonObject): readonly MongoDocument[] =>
  isAnonymous === undefined
    ? []
    : [{ ...rest, _id: new ObjectId(String(_id)), ...(isAnonymous === true && { _signIn: { anonymous: 1 } }) }];

/** Fills the database of the project: documents, the caller's record, and the records of the collections. */
export const fill = (
  documents: Readonly<Record<string, readonly MongoDocument[]>>,
  user?: JsonObject,
  collections: readonly Collection[] = [typed, free, users],
): MemoryDatabase => {
  memory.collections.clear();
  memory.sent.length = 0;
  for (const [name, all] of Object.entries(documents)) memory.collections.set(name, all);
  if (user) memory.collections.set('users', storedUser(user));
  const records = collections.map((each) => ({ ...each, projectId: new ObjectId(project.id), state: 'active' }));
  memory.collections.set('collections', records);
  return memory;
};

/** The caller of a request with the publishable key. */
export const callerOf = (user: JsonObject | undefined, rest: Partial<Caller> = {}): Caller => ({
  kind: 'publishable',
  ...(user && { userId: String(user._id) }),
  ...rest,
});

export const secret: Caller = { kind: 'secret' };

/** One of each kind, by name. */
export const callers: Readonly<Record<string, Caller>> = {
  secret,
  'no user': { kind: 'publishable' },
  'a user': { kind: 'publishable', userId: ann },
  'a user with a factor': { kind: 'publishable', userId: ann, mfa: true },
  'a bad token': { kind: 'publishable', hasInvalidToken: true },
};

/** Access to a collection with these rules. */
export const underRules = (
  rules: RulesInput,
  caller: Caller,
  rls: Partial<RowSecurity> = {},
  collection: Collection = typed,
): AccessContext => ({
  project,
  caller,
  collection: { ...collection, rls: { ...collection.rls, rules, ...rls } },
});

/** Access to a collection in a fixed mode, owned by `userId`. */
export const inMode = (caller: Caller, rls: Partial<RowSecurity>, collection: Collection = typed): AccessContext => ({
  project,
  caller,
  collection: {
    ...collection,
    rls: { enabled: true, mode: 'public-read', ownerField: 'userId', trash: 'everyone', requires: 'none', ...rls },
  },
});

/** The code of the error, or the text that the result is, or 'done'. */
export const codeOf = (result: Promise<unknown>): Promise<string> =>
  result.then(
    (value) => (typeof value === 'string' ? value : 'done'),
    (error: unknown) => {
      if (error instanceof AppError) return error.code;
      throw error;
    },
  );

export const [user, stranger] = [callers['a user'], callers['no user']] as [Caller, Caller];

/** A user with a record. */
export const record = { _id: ann, role: 'a', teams: ['a', 'b'], emailVerified: false, isAnonymous: false };

/** An id whose order is that of the number. */
export const idOf = (at: number): ObjectId => new ObjectId(at.toString(16).padStart(24, '0'));

/** The documents that the filter of a list shows. */
export const shownIn = async (read: unknown, documents: readonly Document[], user: JsonObject | undefined = record) => {
  const readable = await filterReadable(underRules({ read }, callerOf(user)), 'list', false);
  const [condition = {}, stages = []] = [readable?.condition, readable?.joins?.stages];
  const shown = memory.joined(documents, stages).map((each) => matches(each, condition));
  return { shown: documents.filter((_each, at) => shown[at]), isJoined: stages.length > 0 };
};

/** The documents that a rule shows in a list, which both ways to decide agree on. */
export const listed = async (read: unknown, documents: readonly Document[]): Promise<readonly number[]> => {
  const { shown } = await shownIn(read, documents);
  const decide = await listDecider(underRules({ read }, callerOf(record)));
  const inMemory = await Promise.all(documents.map(decide));
  expect(documents.filter((_each, at) => inMemory[at])).toEqual(shown);
  return shown.map(({ _id }) => Number(`0x${_id.toHexString()}`));
};
