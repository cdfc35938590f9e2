import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { acceptUserInvitation } from '../../../../shared/accounts/users/accept-invitation.ts';
import {
  deleteUserInvitation,
  listUserInvitations,
  sendUserInvitation,
} from '../../../../shared/accounts/users/invitations.ts';
import type { UserRecord } from '../../../../shared/accounts/users/users.ts';
import type { Collection } from '../../../../shared/collections/collection.ts';
import { type CollectionInput, parseCollection } from '../../../../shared/collections/create-collection.ts';
import type { Project } from '../../../../shared/projects/project.ts';
import { laterRefusalOf } from '../../../support/data/refusal.ts';
import { tokenIn, useMemoryAccounts } from '../../../support/fixtures/memory-accounts.ts';

const { state, mongo, mail, time, addUser, setUser, signedIn, mails } = useMemoryAccounts();
const email = 'bob@example.com';
const account = ['email', 'password'].map((key) => ({ key, type: 'String', required: true }));
const usersWith = (...fields: object[]): Collection => parseCollection('users', { schema: [...account, ...fields] });

const text = (key: string, rest: object = {}) => ({ key, type: 'String', ...rest });
const ruled = { enabled: true, mode: 'rules' as const, ownerField: 'owner' };
const collections: Readonly<Record<string, Omit<CollectionInput, 'changes'>>> = {
  tasks: {
    schema: [
      text('title', { maxLength: 10 }),
      text('watcher'),
      text('badge', { write: 'server' }),
      { key: 'count', type: 'Number' },
      { key: 'member', type: 'Ref', ref: 'users' },
      { key: 'parent', type: 'Ref', ref: 'tasks', exists: true },
    ],
    rls: { ...ruled, rules: { read: true, create: { title: { $ne: 'secret' } } } },
  },
  notes: { schema: [text('text'), text('guest')], rls: { enabled: true, mode: 'public-read', ownerField: 'userId' } },
  open: { schema: [text('guest')] },
  closed: { schema: [text('guest')], rls: { ...ruled, rules: { read: true, create: false } } },
  strict: { schema: [text('guest')], rls: { ...ruled, requires: 'mfa', rules: { read: true, create: { $user: {} } } } },
};

let ann: UserRecord;
let bob: UserRecord;
let bearer: Awaited<ReturnType<typeof signedIn>>;
let project: Project;

beforeEach(async () => {
  project = state.project;
  for (const [name, input] of Object.entries(collections)) {
    mongo.insert('collections', {
      ...parseCollection(name, input),
      ...{ _id: new ObjectId(), projectId: new ObjectId(project.id), nameKey: name, slot: name, state: 'active' },
      ...{ createdAt: new Date(time.now), updatedAt: new Date(time.now) },
    });
  }
  ann = addUser({ email: 'ann@example.com', name: 'Ann' });
  bob = addUser({ email });
  bearer = await signedIn(ann);
});

type Invitation = Parameters<typeof sendUserInvitation>[3];
const invitation = (rest: Partial<Invitation> = {}): Invitation => ({
  ...{ email, document: { collection: 'tasks', fields: { title: 'a' } }, userField: 'watcher' },
  ...rest,
});
const to = (collection: string, fields: object = {}) => ({ document: { collection, fields: { ...fields } } });
const send = (rest?: Partial<Invitation>, users = usersWith(text('name')), as = bearer) =>
  sendUserInvitation(project, users, as, invitation(rest));
const refusal = (rest?: Partial<Invitation>) => laterRefusalOf(send(rest));
const token = async (): Promise<string> => {
  const last = (await mails()).findLast(({ template }) => template === 'invitation');
  return last ? tokenIn(last) : '';
};
const accept = async (given?: string, as = bob, of = project) =>
  acceptUserInvitation(of, await signedIn(as), given ?? (await token()));
const documents = (name: string) => mongo.all(name, project.id);
const stored = () => mongo.all('userInvitations');
const notFound = { code: 'INVITATION_NOT_FOUND' };

describe('an invitation', () => {
  test('creates one document with the user who accepts, and works one time', async () => {
    const { _id } = await send({ email: ' Bob@Example.com' });
    expect(await mails()).toMatchObject([{ to: email, template: 'invitation', variables: { inviter: 'Ann' } }]);
    expect(JSON.stringify(stored())).not.toContain(await token());
    expect(stored()[0]).not.toHaveProperty('mfa');
    const accepted = await accept();
    expect(accepted.collection).toBe('tasks');
    expect(documents('tasks')).toMatchObject([
      { _id: new ObjectId(accepted._id), title: 'a', watcher: String(bob._id), owner: String(ann._id) },
    ]);
    expect(stored()).toEqual([]);
    expect(await laterRefusalOf(accept())).toMatchObject(notFound);
    expect(_id).toBeInstanceOf(ObjectId);
  });

  test('gives the document to the user who accepts if that is the owner', async () => {
    await send({ userField: undefined });
    await accept();
    expect(documents('tasks')).toMatchObject([{ owner: String(bob._id) }]);
    await send({ userField: 'member' });
    await accept();
    expect(documents('tasks')[1]).toMatchObject({ member: bob._id, owner: String(ann._id) });
  });

  test('is accepted by one of 20 requests at the same time', async () => {
    await send();
    const given = await token();
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => accept(given)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(documents('tasks')).toHaveLength(1);
  });

  test('404 INVITATION_NOT_FOUND for another token, address, project, an unverified address, and after 7 days', async () => {
    await send({ email: 'other@example.com' });
    await send();
    const given = await token();
    for (const wrong of ['none', 'a'.repeat(43)]) expect(await laterRefusalOf(accept(wrong))).toMatchObject(notFound);
    const carl = addUser({ email: 'carl@example.com' });
    expect(await laterRefusalOf(accept(given, carl))).toMatchObject(notFound);
    const nobody = addUser({ email: undefined });
    expect(await laterRefusalOf(accept(given, nobody))).toMatchObject(notFound);
    setUser(bob, { emailVerified: false });
    expect(await laterRefusalOf(accept(given))).toMatchObject(notFound);
    setUser(bob, { emailVerified: true });
    Object.assign(stored()[1] ?? {}, { projectId: new ObjectId() });
    expect(await laterRefusalOf(accept(given))).toMatchObject(notFound);
    Object.assign(stored()[1] ?? {}, { projectId: new ObjectId(project.id) });
    time.now += 7 * 24 * 3600_000;
    expect(await laterRefusalOf(accept(given))).toMatchObject(notFound);
    time.now -= 1;
    await accept(given);
    expect(stored()).toHaveLength(1);
  });

  test('401 TOKEN_INVALID without an open session', async () => {
    await send();
    const ended = { userId: String(bob._id), sessionId: 'c'.repeat(24), amr: [] };
    const invalid = { code: 'TOKEN_INVALID' };
    expect(await laterRefusalOf(acceptUserInvitation(project, ended, await token()))).toMatchObject(invalid);
    const sender = { ...bearer, sessionId: 'c'.repeat(24) };
    expect(await laterRefusalOf(send({}, usersWith(), sender))).toMatchObject(invalid);
  });

  test('that a request claimed works again a minute later', async () => {
    await send();
    Object.assign(stored()[0] ?? {}, { claimedAt: new Date(time.now) });
    time.now += 59_999;
    expect(await laterRefusalOf(accept())).toMatchObject(notFound);
    time.now += 1;
    await accept();
  });

  test.each<[string, () => unknown]>([
    ['was deleted', () => setUser(ann, { isDeleted: true })],
    ['was disabled', () => setUser(ann, { isDisabled: true })],
  ])('404 INVITATION_NOT_FOUND when its sender %s, and it works again', async (_, act) => {
    await send();
    act();
    expect(await laterRefusalOf(accept())).toMatchObject(notFound);
    expect([documents('tasks'), stored()[0]?.claimedAt]).toEqual([[], undefined]);
    setUser(ann, { isDeleted: undefined, isDisabled: undefined });
    await accept();
  });

  test('404 INVITATION_NOT_FOUND when the document exists already, and an outage is returned', async () => {
    await send();
    mongo.insert('tasks', { _id: stored()[0]?.documentId }, project.id);
    expect(await laterRefusalOf(accept())).toMatchObject(notFound);
    await send({ document: { collection: 'tasks', fields: { title: 'b' } } });
    mongo.state.replies = { insert: { ok: 0, code: 13, errmsg: 'down' } };
    expect(await laterRefusalOf(accept())).toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    expect(stored().map((one) => one.claimedAt)).toEqual([undefined, undefined]);
  });

  test('of a sender with a second factor inserts with it', async () => {
    expect(await refusal({ ...to('strict'), userField: 'guest' })).toMatchObject({ code: 'MFA_REQUIRED' });
    const strong = await signedIn(ann, ['pwd', 'mfa']);
    await send({ ...to('strict'), userField: 'guest' }, usersWith(), strong);
    expect(stored()[0]).toMatchObject({ mfa: true });
    await accept();
    expect(documents('strict')).toMatchObject([{ guest: String(bob._id) }]);
  });
});

describe('the sender of an invitation', () => {
  test.each([
    ['Ann', text('name'), 'Ann'],
    ['Ann', text('name', { read: 'server' }), 'Someone'],
    ['https://evil.example', text('name'), 'https evil example'],
    [undefined, text('name'), 'Someone'],
    [7, { key: 'name', type: 'Number' }, 'Someone'],
    ['', text('name'), 'Someone'],
  ])('with the name %j of %j is shown as %s', async (name, field, shown) => {
    setUser(ann, { name });
    await send({}, usersWith(field, text('other', { read: 'server' })));
    const { inviter = '' } = (await mails()).at(-1)?.variables ?? {};
    if (shown === 'https evil example') expect(inviter).not.toContain('://');
    else expect(inviter).toBe(shown);
  });

  test.each([{ emailVerified: false }, { email: undefined }])('403 EMAIL_NOT_VERIFIED with %j', async (change) => {
    setUser(ann, change);
    expect(await refusal()).toMatchObject({ code: 'EMAIL_NOT_VERIFIED' });
  });

  test('400 SITE_URL_REQUIRED without a site', async () => {
    project = { ...project, siteUrl: null };
    expect(await refusal()).toMatchObject({ code: 'SITE_URL_REQUIRED' });
  });

  test('429 RATE_LIMITED after 20 a day, and an email that was not queued does not count', async () => {
    mail.down = true;
    expect(await refusal()).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(stored()).toEqual([]);
    mail.down = false;
    for (let left = 20; left > 0; left--) await send();
    expect(await refusal()).toMatchObject({ code: 'RATE_LIMITED' });
    mail.down = true;
    time.now += 12 * 3600_000;
    bearer = await signedIn(ann);
    await refusal();
    expect(stored()).toHaveLength(20);
  });

  test('lists and withdraws their own pending invitations, newest first', async () => {
    const { _id: first } = await send();
    const { _id: second } = await send({ ...to('notes', { text: 'b' }), userField: 'guest' });
    const other = await signedIn(addUser());
    await send({}, usersWith(), other);
    mongo.insert('userInvitations', { ...stored()[0], _id: new ObjectId(), tokenHash: 'x', projectId: new ObjectId() });
    const listed = await listUserInvitations(project, bearer);
    expect(listed.map(({ _id }) => _id)).toEqual([second, first].map(String));
    expect(listed[0]).toMatchObject({ email, document: { collection: 'notes', fields: { text: 'b' } } });
    for (const id of ['malformed', String(new ObjectId())]) {
      expect(await laterRefusalOf(deleteUserInvitation(project, bearer, id))).toMatchObject(notFound);
    }
    expect(await laterRefusalOf(deleteUserInvitation(project, other, String(first)))).toMatchObject(notFound);
    const elsewhere = { ...project, id: 'b'.repeat(24) };
    expect(await laterRefusalOf(deleteUserInvitation(elsewhere, bearer, String(first)))).toMatchObject(notFound);
    await deleteUserInvitation(project, bearer, String(first));
    expect((await listUserInvitations(project, bearer)).map(({ _id }) => _id)).toEqual([String(second)]);
    time.now += 7 * 24 * 3600_000;
    expect(await listUserInvitations(project, bearer)).toEqual([]);
  });
});

describe('an invitation is rejected', () => {
  test.each<[string, Partial<Invitation>, string, string | undefined]>([
    ['to a malformed address', { email: 'none' }, 'VALIDATION_FAILED', 'email'],
    ['to the accounts', to('users'), 'USERS_RESERVED', undefined],
    ['to a reserved name', to('system'), 'COLLECTION_NOT_FOUND', undefined],
    ['to an unknown collection', to('none'), 'COLLECTION_NOT_FOUND', undefined],
    ['without a field for the user', { ...to('open'), userField: undefined }, 'VALIDATION_FAILED', 'userField'],
    ['with a path', { userField: 'title.x' }, 'VALIDATION_FAILED', 'userField'],
    ['with a field of the service', { userField: '_id' }, 'VALIDATION_FAILED', 'userField'],
    ['with an unknown field', { userField: 'none' }, 'VALIDATION_FAILED', 'userField'],
    ['with a number', { userField: 'count' }, 'VALIDATION_FAILED', 'userField'],
    ['with a Ref to other documents', { userField: 'parent' }, 'VALIDATION_FAILED', 'userField'],
    ['that gives away a document of its owner', { ...to('notes'), userField: undefined }, 'NOT_OWNER', undefined],
    ['with the user already', to('tasks', { watcher: 'x' }), 'VALIDATION_FAILED', 'document.fields.watcher'],
    ['with an owner', to('tasks', { owner: 'x' }), 'VALIDATION_FAILED', 'document.fields.owner'],
    ['with an id', to('tasks', { _id: 'x' }), 'VALIDATION_FAILED', 'document.fields._id'],
    ['with a path below the user', to('tasks', { 'watcher.x': 'x' }), 'VALIDATION_FAILED', 'document.fields.watcher.x'],
    ['with a field of the server', to('tasks', { badge: 'x' }), 'FIELD_PROTECTED', undefined],
    ['whose user is set by the server', { userField: 'badge' }, 'FIELD_PROTECTED', undefined],
    ['with a value that does not fit', to('tasks', { title: 'x'.repeat(11) }), 'VALIDATION_FAILED', 'title'],
    ['that its rule forbids', to('tasks', { title: 'secret' }), 'RULE_DENIED', undefined],
    ['to a collection that nobody may write', { ...to('closed'), userField: 'guest' }, 'RULE_DENIED', undefined],
    ['to a collection without row security', { ...to('open'), userField: 'guest' }, 'RLS_REQUIRED', undefined],
    ['with a reference to nothing', to('tasks', { parent: 'f'.repeat(24) }), 'VALIDATION_FAILED', 'parent'],
  ])('%s', async (_, rest, code, field) => {
    const { errors, ...refused } = await refusal(rest);
    expect(refused).toMatchObject({ code });
    if (field !== undefined) expect(errors?.[0]).toMatchObject({ field });
    expect([stored(), await mails()]).toEqual([[], []]);
  });
});
