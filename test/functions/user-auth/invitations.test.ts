import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { handler as sendUserInvitation } from '../../../functions/user-auth/send-user-invitation.ts';
import { userInvitationRecords } from '../../../shared/accounts/users/invitation-records.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { linkIn, mailAbout, tokenIn } from '../../support/clients/inbox.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newProviderKey } from '../../support/fixtures/mail-project.ts';
import type { CollectionInput } from '../../support/fixtures/project.ts';
import { changeStoredUsers, domainProject } from '../../support/fixtures/stored-users.ts';
import { newCredentials, newUsersProject, site, type UsersProject } from '../../support/fixtures/users.ts';

listenToCommands();

const users: CollectionInput = {
  name: 'users',
  schema: [
    { key: 'email', type: 'String', required: true, unique: true },
    { key: 'password', type: 'String', required: true },
    { key: 'name', type: 'String' },
  ],
};

const adminsOnly = {
  workspace: { $in: { $from: 'members', select: 'workspace', where: { user: { $user: '_id' }, role: 'admin' } } },
};

const members: CollectionInput = {
  name: 'members',
  schema: [
    { key: 'workspace', type: 'String', required: true, maxLength: 40 },
    { key: 'user', type: 'Ref', ref: 'users', required: true },
    { key: 'role', type: 'String', enum: ['admin', 'editor'], default: 'editor' },
    { key: 'approved', type: 'Boolean', write: 'server' },
  ],
  unique: [['workspace', 'user']],
  rls: {
    enabled: true,
    mode: 'rules',
    ownerField: '',
    rules: { read: { user: { $user: '_id' } }, create: { $and: [adminsOnly, { $not: { user: { $user: '_id' } } }] } },
  },
};

/** In the mode rules, with an owner. */
const tasks: CollectionInput = {
  name: 'tasks',
  schema: [
    { key: 'title', type: 'String' },
    { key: 'watcher', type: 'String' },
    { key: 'badge', type: 'String', write: 'server' },
    { key: 'count', type: 'Number' },
    { key: 'watchers', type: 'Array', items: { type: 'String' } },
  ],
  rls: { enabled: true, mode: 'rules', ownerField: 'owner', rules: { read: true, create: { $user: {} } } },
};

const notes: CollectionInput = {
  name: 'notes',
  schema: [
    { key: 'text', type: 'String' },
    { key: 'guest', type: 'String' },
  ],
  rls: { enabled: true, mode: 'public-read', ownerField: 'userId' },
};

const open: CollectionInput = { name: 'open', schema: [{ key: 'guest', type: 'String' }] };

interface Body {
  readonly code?: string;
  readonly errors?: readonly { readonly field: string }[];
  readonly data: { readonly _id: string; readonly collection: string; readonly expiresAt: string };
}

type User = Awaited<ReturnType<UsersProject['newUser']>>;

let project: UsersProject;
let ada: User;

const verified = async (profile: object = {}, of = project): Promise<User> => {
  const user = await of.newUser(profile);
  await changeStoredUsers(of, { email: user.email }, { emailVerified: true });
  return user;
};

const insert = async (collection: string, body: object, of = project): Promise<string> => {
  const answer = await of.api<{ _id: string }>('POST', `/api/data/${collection}`, { body });
  expect(answer.status).toBe(201);
  return answer.body._id;
};

const documents = async (collection: string, filter: object, of = project) =>
  onProject(await domainProject(of), (db) => db.collection(collection).find(filter).toArray());

/** A user who is an admin of a workspace of their own. */
const newAdmin = async () => {
  const user = await verified({ name: 'Ada' });
  const workspace = newCredentials().email;
  const membership = await insert('members', { workspace: workspace.slice(0, 40), user: user.userId, role: 'admin' });
  return { user, workspace: workspace.slice(0, 40), membership };
};

beforeAll(async () => {
  project = await newUsersProject({ collection: users });
  for (const collection of [members, tasks, notes, open]) await project.addCollection(collection);
  ada = await verified({ name: 'Ada' });
});

const invite = (user: Pick<User, 'token'>, body: object, of = project) =>
  of.auth<Body>('POST', 'invitations', { token: user.token, body });
const accept = (user: Pick<User, 'token'>, token: string, of = project) =>
  of.auth<Body>('POST', 'invitations/accept', { token: user.token, body: { token } });
const list = (user: Pick<User, 'token'>) =>
  project.auth<{ data: readonly unknown[] }>('GET', 'invitations', { token: user.token });
const withdraw = (user: Pick<User, 'token'>, id: string) =>
  project.auth<Body>('DELETE', `invitations/${id}`, { token: user.token });

const notFound = { status: 404, body: { code: 'INVITATION_NOT_FOUND' } };
const toTask = (email: string, more: object = {}) => ({
  email,
  document: { collection: 'tasks', fields: { title: 'a' } },
  userField: 'watcher',
  ...more,
});

/** Sends an invitation and returns the token in its email. */
const sent = async (user: Pick<User, 'token'>, body: { readonly email: string }) => {
  const answer = await invite(user, body);
  expect(answer).toMatchObject({ status: 202 });
  // A user who signed up also got a verification.
  const mail = await mailAbout(body.email, /invites you/);
  return { id: answer.body.data._id, mail, token: tokenIn(mail) };
};

describe('an invitation', () => {
  test('202, an email, and 201 that creates the document with the user who accepts', async () => {
    const { user, workspace } = await newAdmin();
    const guest = await verified();
    const document = { collection: 'members', fields: { workspace, role: 'editor' } };
    const before = Date.now();
    const answer = await invite(user, { email: ` ${guest.email.toUpperCase()} `, document, userField: 'user' });
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 202,
      body: {
        success: true,
        message: expect.any(String),
        data: { _id: expect.stringMatching(/^[0-9a-f]{24}$/), expiresAt: expect.any(String) },
      },
    });
    const days = (Date.parse(answer.body.data.expiresAt) - before) / 86_400_000;
    expect(Math.round(days)).toBe(7);
    const mail = await mailAbout(guest.email, /invites you/);
    expect(mail.subject).toBe('Ada invites you to test project');
    expect(linkIn(mail).href).toMatch(`${site}/invitations/accept?token=`);
    const accepted = await accept(guest, tokenIn(mail));
    expect(accepted).toMatchObject({ status: 201, body: { data: { collection: 'members' } } });
    const [made] = await documents('members', { _id: new ObjectId(accepted.body.data._id) });
    expect(made).toMatchObject({ workspace, role: 'editor', user: new ObjectId(guest.userId) });
    expect(await accept(guest, tokenIn(mail))).toMatchObject(notFound);
  });

  test('gives the owner field to the user who accepts, and otherwise makes the inviter the owner', async () => {
    const guest = await verified();
    const own = await sent(ada, { ...toTask(guest.email), userField: undefined } as { email: string });
    const { body } = await accept(guest, own.token);
    expect(await documents('tasks', { _id: new ObjectId(body.data._id) })).toMatchObject([{ owner: guest.userId }]);
    const other = await verified();
    const { token } = await sent(ada, toTask(other.email));
    const accepted = await accept(other, token);
    expect(await documents('tasks', { _id: new ObjectId(accepted.body.data._id) })).toMatchObject([
      { owner: ada.userId, watcher: other.userId },
    ]);
  });

  test('works in a fixed mode, whose inviter becomes the owner', async () => {
    const guest = await verified();
    const document = { collection: 'notes', fields: { text: 'hi' } };
    const { token } = await sent(ada, { email: guest.email, document, userField: 'guest' } as { email: string });
    const { body } = await accept(guest, token);
    expect(await documents('notes', { _id: new ObjectId(body.data._id) })).toMatchObject([
      { userId: ada.userId, guest: guest.userId, text: 'hi' },
    ]);
  });

  test('its email has no text of the inviter that mail programs would link, and no name that is hidden', async () => {
    const loud = await verified({ name: `<b>Eve</b> https://evil.example x@evil.example ${'e'.repeat(100)}` });
    const { email } = newCredentials();
    const { mail } = await sent(loud, toTask(email));
    expect(mail.subject).not.toMatch(/evil|</);
    expect(mail.subject.replace(' invites you to test project', '').length).toBeLessThanOrEqual(64);
    expect(mail.text.match(/https?:\/\/\S+/g)).toEqual([linkIn(mail).href]);
    const nameless = await verified();
    const other = newCredentials();
    expect((await sent(nameless, toTask(other.email))).mail.subject).toBe('Someone invites you to test project');
  });

  test('its list shows the inviter’s own until they expire, and 200 withdraws one', async () => {
    const [one, other] = [await verified(), await verified()];
    const { email } = newCredentials();
    const { id, token } = await sent(one, toTask(email));
    expect((await list(one)).body.data).toEqual([
      {
        _id: id,
        email,
        document: { collection: 'tasks', fields: { title: 'a' } },
        expiresAt: expect.any(String),
      },
    ]);
    expect((await list(other)).body.data).toEqual([]);
    const expired = await sent(one, toTask(newCredentials().email));
    await userInvitationRecords.updateOne({ _id: new ObjectId(expired.id) }, { $set: { expiresAt: new Date() } });
    expect((await list(one)).body.data).toMatchObject([{ _id: id }]);
    expect(await withdraw(other, id)).toMatchObject(notFound);
    expect(await withdraw(one, id)).toMatchObject({ status: 200, body: { data: { _id: id } } });
    expect(await withdraw(one, id)).toMatchObject(notFound);
    expect((await list(one)).body.data).toEqual([]);
    const guest = await verified();
    await changeStoredUsers(project, { email: guest.email }, { email });
    expect(await accept(guest, token)).toMatchObject(notFound);
  });

  test('is kept as a hash, and its fields are sealed', async () => {
    const { email } = newCredentials();
    const { id, token } = await sent(ada, toTask(email));
    const stored = await userInvitationRecords.findOne({ _id: new ObjectId(id) });
    expect(JSON.stringify(stored)).not.toContain(token);
    expect(JSON.stringify(stored)).not.toContain('title');
  });
});

describe('sending an invitation', () => {
  test.each<[string, object]>([
    ['email', { email: 'x' }],
    ['email', { email: undefined }],
    ['document', { document: undefined }],
    ['document.other', { document: { collection: 'tasks', fields: {}, other: 1 } }],
    ['document.fields', { document: { collection: 'tasks', fields: [] } }],
    ['document.collection', { document: { collection: 1, fields: {} } }],
    ['subject', { subject: 'Buy this' }],
    ['userField', { userField: 'none' }],
    ['userField', { userField: 'count' }],
    ['userField', { userField: 'watchers' }],
    ['userField', { userField: 'watchers.0' }],
    ['userField', { userField: '_id' }],
    ['userField', { document: { collection: 'open', fields: {} }, userField: undefined }],
    ['document.fields.watcher', { document: { collection: 'tasks', fields: { watcher: 'f'.repeat(24) } } }],
    ['document.fields.owner', { document: { collection: 'tasks', fields: { owner: 'f'.repeat(24) } } }],
    ['document.fields._id', { document: { collection: 'tasks', fields: { _id: 'f'.repeat(24) } } }],
    ['document.fields._pos', { document: { collection: 'tasks', fields: { _pos: 1 } } }],
    ['count', { document: { collection: 'tasks', fields: { count: 'x' } } }],
  ])('400 VALIDATION_FAILED naming %s for %j', async (field, more) => {
    const answer = await invite(ada, toTask('guest@example.com', more));
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ field }] } });
  });

  test('400 INVALID_BODY for a field name that no document may have', async () => {
    const document = { collection: 'tasks', fields: { $where: '1' } };
    expect(await invite(ada, toTask('guest@example.com', { document }))).toMatchObject({
      status: 400,
      body: { code: 'INVALID_BODY' },
    });
  });

  test('400 SITE_URL_REQUIRED without a site', async () => {
    const other = await newUsersProject({ collection: users, settings: { siteUrl: null }, owner: project.developer });
    await other.addCollection(tasks);
    const user = await verified({}, other);
    expect(await invite(user, toTask('guest@example.com'), other)).toMatchObject({
      status: 400,
      body: { code: 'SITE_URL_REQUIRED' },
    });
  });

  test('401 TOKEN_MISSING without a user, and 401 TOKEN_INVALID after the session has ended', async () => {
    const body = toTask('guest@example.com');
    const anyone = await project.auth('POST', 'invitations', { body });
    expect(anyone).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
    const user = await verified();
    const headers = { 'x-refresh-token': user.refreshToken };
    expect((await project.auth('POST', 'logout', { headers })).status).toBe(200);
    const refused = { status: 401, body: { code: 'TOKEN_INVALID' } };
    expect(await invite(user, body)).toMatchObject(refused);
    expect(await accept(user, 'x'.repeat(43))).toMatchObject(refused);
  });

  test('403 EMAIL_NOT_VERIFIED for an inviter without a verified address', async () => {
    const user = await project.newUser();
    expect(await invite(user, toTask('guest@example.com'))).toMatchObject({
      status: 403,
      body: { code: 'EMAIL_NOT_VERIFIED' },
    });
  });

  test('403 RULE_DENIED when create is false for every user', async () => {
    const { user, workspace } = await newAdmin();
    const document = { collection: 'members', fields: { workspace } };
    const stranger = await invite(ada, { email: 'guest@example.com', document, userField: 'user' });
    expect(stranger).toMatchObject({ status: 403, body: { code: 'RULE_DENIED' } });
    const foreign = { collection: 'members', fields: { workspace: `${workspace.slice(1)}x` } };
    expect(await invite(user, { email: 'guest@example.com', document: foreign, userField: 'user' })).toMatchObject({
      status: 403,
      body: { code: 'RULE_DENIED' },
    });
  });

  test('403 NOT_OWNER when the owner field would be given away in a fixed mode', async () => {
    const document = { collection: 'notes', fields: {} };
    for (const userField of [undefined, 'userId']) {
      const answer = await invite(ada, { email: 'guest@example.com', document, userField });
      expect(answer).toMatchObject({ status: 403, body: { code: 'NOT_OWNER' } });
    }
  });

  test('403 FIELD_PROTECTED for a field of the server, in fields and as userField', async () => {
    const refused = { status: 403, body: { code: 'FIELD_PROTECTED' } };
    const document = { collection: 'tasks', fields: { badge: 'gold' } };
    expect(await invite(ada, toTask('guest@example.com', { document }))).toMatchObject(refused);
    expect(await invite(ada, toTask('guest@example.com', { userField: 'badge' }))).toMatchObject(refused);
  });

  test('403 RLS_REQUIRED for a collection without row security', async () => {
    const document = { collection: 'open', fields: {} };
    expect(await invite(ada, { email: 'guest@example.com', document, userField: 'guest' })).toMatchObject({
      status: 403,
      body: { code: 'RLS_REQUIRED' },
    });
  });

  test.each([
    [403, 'USERS_RESERVED', 'users'],
    [404, 'COLLECTION_NOT_FOUND', 'nothing'],
    [404, 'COLLECTION_NOT_FOUND', '$cmd'],
  ])('%i %s for the collection %s', async (status, code, collection) => {
    const document = { collection, fields: {} };
    expect(await invite(ada, toTask('guest@example.com', { document }))).toMatchObject({ status, body: { code } });
  });

  test('413 BODY_TOO_LARGE for more than 16 KiB', async () => {
    const document = { collection: 'tasks', fields: { title: 'x'.repeat(17_000) } };
    expect(await invite(ada, toTask('guest@example.com', { document }))).toMatchObject({
      status: 413,
      body: { code: 'BODY_TOO_LARGE' },
    });
  });

  test('429 RATE_LIMITED for the 21st of a user and day: of 50 parallel ones 20 are sent', async () => {
    const user = await verified();
    const answers = await inParallel(50, () => invite(user, toTask(newCredentials().email)));
    expect(tally(answers)).toEqual({ 202: 20, 429: 30 });
    expect(answers.find(({ status }) => status === 429)).toMatchObject({ body: { code: 'RATE_LIMITED' } });
    expect((await list(user)).body.data).toHaveLength(20);
  });

  test('sends the same commands and the same response whether or not the address has an account', async () => {
    const guest = await verified();
    const run = (email: string) => () =>
      invoke(sendUserInvitation, { key: project.publishableKey, token: ada.token, body: toTask(email) });
    await run(newCredentials().email)();
    const [known, unknown] = [await commandsOf(run(guest.email)), await commandsOf(run(newCredentials().email))];
    expect(known.toSorted()).toEqual(unknown.toSorted());
    const [one, other] = [await invite(ada, toTask(guest.email)), await invite(ada, toTask(newCredentials().email))];
    expect(one.status).toBe(other.status);
    expect(Object.keys(one.body.data)).toEqual(Object.keys(other.body.data));
  });
});

describe('accepting an invitation', () => {
  test('of 50 parallel requests one gets 201, and one document is created', async () => {
    const guest = await verified();
    const { token } = await sent(ada, toTask(guest.email));
    const answers = await inParallel(50, () => accept(guest, token));
    expect(tally(answers)).toEqual({ 201: 1, 404: 49 });
    expect(await documents('tasks', { watcher: guest.userId })).toHaveLength(1);
  });

  test('201 uses up this invitation and no other', async () => {
    const [inviter, first, second] = [await verified(), await verified(), await verified()];
    const kept = await sent(inviter, toTask(first.email));
    const { token } = await sent(inviter, toTask(second.email));
    expect(await accept(second, token)).toMatchObject({ status: 201 });
    expect((await list(inviter)).body.data).toMatchObject([{ _id: kept.id }]);
    expect(await accept(first, kept.token)).toMatchObject({ status: 201 });
  });

  test('404 INVITATION_NOT_FOUND for an unknown, malformed or expired token, and one of another project', async () => {
    const guest = await verified();
    const { token, id } = await sent(ada, toTask(guest.email));
    // The address has an invitation, so only the token is wrong.
    for (const wrong of ['x'.repeat(43), 'x', '']) expect(await accept(guest, wrong)).toMatchObject(notFound);
    const other = await newUsersProject({ collection: users, owner: project.developer });
    const there = await verified({}, other);
    await changeStoredUsers(other, { email: there.email }, { email: guest.email });
    expect(await accept(there, token, other)).toMatchObject(notFound);
    await userInvitationRecords.updateOne({ _id: new ObjectId(id) }, { $set: { expiresAt: new Date() } });
    expect(await accept(guest, token)).toMatchObject(notFound);
    expect(await documents('tasks', { watcher: guest.userId })).toEqual([]);
  });

  test('400 VALIDATION_FAILED without a token, and with other members', async () => {
    for (const [field, body] of [
      ['token', {}],
      ['token', { token: { $ne: '' } }],
      ['userId', { token: 'x', userId: 'x' }],
    ] as const) {
      const answer = await project.auth('POST', 'invitations/accept', { token: ada.token, body });
      expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ field }] } });
    }
  });

  test('404 INVITATION_NOT_FOUND for another address, which uses nothing up, and for an unverified one', async () => {
    const [guest, thief] = [await project.newUser(), await verified()];
    const { token } = await sent(ada, toTask(guest.email));
    expect(await accept(thief, token)).toMatchObject(notFound);
    expect(await accept(guest, token)).toMatchObject(notFound);
    await changeStoredUsers(project, { email: guest.email }, { emailVerified: true });
    expect(await accept(guest, token)).toMatchObject({ status: 201 });
  });

  test('404 INVITATION_NOT_FOUND while the inviter has lost the right, and 201 when they have it again', async () => {
    const { user, workspace, membership } = await newAdmin();
    const guest = await verified();
    const document = { collection: 'members', fields: { workspace } };
    const { token } = await sent(user, { email: guest.email, document, userField: 'user' } as { email: string });
    const role = (value: string) => project.api('PATCH', `/api/data/members/${membership}`, { body: { role: value } });
    expect((await role('editor')).status).toBe(200);
    expect(await accept(guest, token)).toMatchObject(notFound);
    expect((await role('admin')).status).toBe(200);
    expect(await accept(guest, token)).toMatchObject({ status: 201 });
  });

  test('404 INVITATION_NOT_FOUND when create is false with the user who accepts', async () => {
    const { user, workspace } = await newAdmin();
    const document = { collection: 'members', fields: { workspace } };
    const { token } = await sent(user, { email: user.email, document, userField: 'user' } as { email: string });
    expect(await accept(user, token)).toMatchObject(notFound);
  });

  test('404 INVITATION_NOT_FOUND when the inviter is disabled', async () => {
    const [inviter, guest] = [await verified(), await verified()];
    const { token } = await sent(inviter, toTask(guest.email));
    await changeStoredUsers(project, { email: inviter.email }, { isDisabled: true });
    expect(await accept(guest, token)).toMatchObject(notFound);
    await changeStoredUsers(project, { email: inviter.email }, { isDisabled: false });
    expect(await accept(guest, token)).toMatchObject({ status: 201 });
  });

  test('404 INVITATION_NOT_FOUND when the fields are no longer valid', async () => {
    const name = 'changing';
    const schema = [
      { key: 'title', type: 'String' },
      { key: 'watcher', type: 'String' },
    ];
    await project.addCollection({ ...tasks, name, schema });
    const guest = await verified();
    const document = { collection: name, fields: { title: 'long' } };
    const { token } = await sent(ada, toTask(guest.email, { document }));
    const stricter = schema.map((field) => (field.key === 'title' ? { ...field, maxLength: 2 } : field));
    const path = `/api/projects/${project.id}/collections/${name}`;
    expect((await project.developer.dashboard('PUT', path, { schema: stricter })).status).toBe(200);
    expect(await accept(guest, token)).toMatchObject(notFound);
  });

  test('409 DUPLICATE_VALUE for a membership that exists, and the invitation stays', async () => {
    const { user, workspace } = await newAdmin();
    const guest = await verified();
    const document = { collection: 'members', fields: { workspace } };
    const { token } = await sent(user, { email: guest.email, document, userField: 'user' } as { email: string });
    const there = await insert('members', { workspace, user: guest.userId });
    expect(await accept(guest, token)).toMatchObject({ status: 409, body: { code: 'DUPLICATE_VALUE' } });
    await project.api('DELETE', `/api/data/members/${there}?permanent=true`);
    expect(await accept(guest, token)).toMatchObject({ status: 201 });
  });

  test('404 INVITATION_NOT_FOUND and no second document when the request that created it was interrupted', async () => {
    const guest = await verified();
    const { token, id } = await sent(ada, toTask(guest.email));
    const before = await userInvitationRecords.findOne({ _id: new ObjectId(id) });
    expect(await accept(guest, token)).toMatchObject({ status: 201 });
    if (!before) throw new Error('The invitation is not stored');
    await userInvitationRecords.insertOne({ ...before, claimedAt: new Date(Date.now() - 120_000) });
    expect(await accept(guest, token)).toMatchObject(notFound);
    expect(await documents('tasks', { watcher: guest.userId })).toHaveLength(1);
  });
});

test('deleting the inviter’s account removes their invitations', async () => {
  const [inviter, guest] = [await verified(), await verified()];
  const { token, id } = await sent(inviter, toTask(guest.email));
  const { status } = await project.auth('DELETE', 'account', {
    token: inviter.token,
    body: { password: inviter.password },
  });
  expect(status).toBe(200);
  expect(await userInvitationRecords.countDocuments({ _id: new ObjectId(id) })).toBe(0);
  expect(await accept(guest, token)).toMatchObject(notFound);
});

test('a template with the key invitation replaces the email of a project with its own mail key', async () => {
  const settings = { providerApiKey: newProviderKey() };
  const own = await newUsersProject({ collection: users, settings, owner: project.developer });
  await own.addCollection(tasks);
  await own.developer.dashboard('POST', `/api/projects/${own.id}/mail/templates`, {
    ...{ name: 'Ours', key: 'invitation', subject: 'Join {{siteName}}' },
    text: 'By {{inviter}}: {{link}}',
  });
  const user = await verified({ name: 'Ada' }, own);
  const { email } = newCredentials();
  expect(await invite(user, toTask(email), own)).toMatchObject({ status: 202 });
  const mail = await mailAbout(email, /./);
  expect(mail.subject).toBe('Join test project');
  expect(mail.text).toMatch(/^By Ada: https:/);
});

test('a created document reaches the changes feed', async () => {
  await project.addCollection({ ...tasks, name: 'watched', changes: true });
  const guest = await verified();
  const document = { collection: 'watched', fields: { title: 'a' } };
  const { token } = await sent(ada, toTask(guest.email, { document }));
  const accepted = await accept(guest, token);
  await eventually(async () => {
    const feed = await project.api<{ data: { changes: readonly { _id: string }[] } }>(
      'GET',
      '/api/data/watched/changes?since=0',
    );
    expect(feed.body.data.changes.map(({ _id }) => _id)).toEqual([accepted.body.data._id]);
  });
});
