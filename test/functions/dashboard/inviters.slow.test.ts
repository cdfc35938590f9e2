import { randomBytes } from 'node:crypto';
import { Collection, MongoNetworkError, ObjectId } from 'mongodb';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { scopesOfRole } from '../../../shared/accounts/developers/scopes.ts';
import { verifyPersonalToken } from '../../../shared/accounts/developers/tokens.ts';
import { resetPassword } from '../../../shared/accounts/email-proofs.ts';
import { addressKeyOf, issueTokens } from '../../../shared/accounts/email-tokens.ts';
import { verifyDashboardToken } from '../../../shared/accounts/tokens.ts';
import { clock, dayAt } from '../../../shared/core/clock.ts';
import { createInvitation } from '../../../shared/members/invitations.ts';
import { countIn, peek } from '../../../shared/persistence/counters.ts';
import { developerScope, itemKey, ownerKeyOf } from '../../../shared/persistence/item-keys.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import * as kinds from '../../../shared/persistence/table-keys.ts';
import { findOwnedProject } from '../../../shared/projects/find-project.ts';
import type { InvitationRecord, ProjectRecord } from '../../../shared/projects/project.ts';
import { call, inParallel } from '../../support/clients/client.ts';
import { mailAbout, tokenIn } from '../../support/clients/inbox.ts';
import { logIn } from '../../support/fixtures/developers.ts';
import { accept, idOf, invitationFor, invite, newMember, newPersonalToken } from '../../support/fixtures/members.ts';
import { type Developer, newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';

const newAddress = (): string => `invited-${randomBytes(8).toString('hex')}@example.com`;

afterEach(() => {
  vi.restoreAllMocks();
});

const openIn = async ({ id }: TestProject): Promise<readonly InvitationRecord[]> => {
  const record = await onControl((db) => db.collection<ProjectRecord>('projects').findOne({ _id: new ObjectId(id) }));
  return record?.invitations ?? [];
};

describe('the open invitations of a member who may no longer invite', () => {
  const refused = { status: 404, body: { code: 'INVITATION_NOT_FOUND' } };

  const memberPath = async (developer: Developer, of: TestProject) =>
    `/api/projects/${of.id}/members/${await idOf(developer)}`;
  const ways: readonly [string, (inviter: Developer, of: TestProject) => Promise<unknown>][] = [
    ['was removed', async (inviter, of) => of.developer.dashboard('DELETE', await memberPath(inviter, of))],
    ['has left', async (inviter, of) => inviter.dashboard('DELETE', await memberPath(inviter, of))],
    [
      'is a viewer',
      async (inviter, of) => of.developer.dashboard('PATCH', await memberPath(inviter, of), { role: 'viewer' }),
    ],
    [
      'deleted the account',
      (inviter) => inviter.dashboard('DELETE', '/api/auth/account', { password: inviter.password }),
    ],
  ];

  test.each(ways)('404 when the inviter %s; invitations of other members stay', async (_how, end) => {
    const of = await newProject();
    const inviter = await newMember(of, 'admin');
    const [friend, other] = await Promise.all([newDeveloper(), newDeveloper()]);
    expect((await invite(of, friend.email, 'admin', inviter)).status).toBe(201);
    const token = tokenIn(await mailAbout(friend.email, /invited/));
    const stays = await invitationFor(of, other.email, 'viewer');
    expect(await end(inviter, of)).toMatchObject({ body: { success: true } });
    expect(await openIn(of)).toMatchObject([{ email: other.email }]);
    expect(await accept(friend, token)).toMatchObject(refused);
    expect((await accept(other, stays)).status).toBe(200);
  });

  test('200 for an invitation of an admin whose role is set to admin again', async () => {
    const of = await newProject();
    const inviter = await newMember(of, 'admin');
    const friend = await newDeveloper();
    await invite(of, friend.email, 'viewer', inviter);
    const token = tokenIn(await mailAbout(friend.email, /invited/));
    await of.developer.dashboard('PATCH', await memberPath(inviter, of), { role: 'admin' });
    expect((await accept(friend, token)).status).toBe(200);
  });

  test.each<[string, string]>([
    ['DELETE', 'PROJECT_NOT_FOUND'],
    ['PATCH', 'ROLE_REQUIRED'],
  ])('an invitation is rejected when the inviter loses the role while inviting (%s): %s', async (method, code) => {
    const of = await newProject();
    const inviter = await newMember(of, 'admin');
    const id = await idOf(inviter);
    const owned = await findOwnedProject(id, of.id);
    if (!owned) throw new Error('No member');
    await of.developer.dashboard(
      method,
      await memberPath(inviter, of),
      method === 'PATCH' ? { role: 'viewer' } : undefined,
    );
    await expect(
      createInvitation(owned, { developerId: id, personalToken: undefined }, { email: newAddress(), role: 'admin' }),
    ).rejects.toMatchObject({ code });
    expect(await openIn(of)).toEqual([]);
  });

  test('no invitation is left when the inviter sends 50 while being removed', async () => {
    const of = await newProject();
    const inviter = await newMember(of, 'admin');
    const path = await memberPath(inviter, of);
    const sending = inParallel(50, () => invite(of, newAddress(), 'admin', inviter));
    expect((await of.developer.dashboard('DELETE', path)).status).toBe(200);
    await sending;
    expect(await openIn(of)).toEqual([]);
  });
});

/** The reactions of a developer to a stolen session or token. */
const recoveries: Readonly<Record<string, (victim: Developer, developerId: string) => Promise<unknown>>> = {
  'a password reset': async ({ email }, developerId) => {
    const place = { scope: developerScope, kind: 'reset', addressKey: addressKeyOf(email) } as const;
    const { token } = await issueTokens(place, email, developerId);
    return resetPassword(developerAccounts, { token }, 'a new password', { ip: '192.0.2.1', userAgent: 'test' });
  },
  'a change of password that ends tokens': ({ dashboard, password: currentPassword }) =>
    dashboard('PUT', '/api/auth/change-password', { currentPassword, newPassword: 'a new password', endTokens: true }),
};

describe.each(Object.entries(recoveries))('%s of the inviter', (_name, recover) => {
  test('404 for invitations sent with a session and a token; invitations of other members stay', async () => {
    const of = await newProject();
    const admin = await newMember(of, 'admin');
    const [friend, other, third] = await Promise.all([newDeveloper(), newDeveloper(), newDeveloper()]);
    expect((await invite(of, friend.email, 'admin', admin)).status).toBe(201);
    const made = await newPersonalToken(admin, scopesOfRole('viewer').concat('members:write'));
    const path = `/api/projects/${of.id}/members/invitations`;
    const body = { email: third.email, role: 'viewer' };
    const { dashboardUrl } = inject('stack');
    expect((await call(dashboardUrl, 'POST', path, { token: made.token, body })).status).toBe(201);
    const stays = await invitationFor(of, other.email, 'viewer');
    const tokens = await Promise.all(
      [friend, third].map(async ({ email }) => tokenIn(await mailAbout(email, /invited/))),
    );
    await recover(admin, await idOf(admin));
    expect(await openIn(of)).toMatchObject([{ email: other.email }]);
    for (const [n, invited] of [friend, third].entries()) {
      expect((await accept(invited, tokens[n] ?? '')).status).toBe(404);
    }
    expect((await accept(other, stays)).status).toBe(200);
  });

  test('401, and no invitation is left, when the session ends just before the invitation is stored', async () => {
    const of = await newProject();
    const { developer } = of;
    const { userId: developerId } = await verifyDashboardToken(developer.token);
    const stolen = await verifyDashboardToken((await logIn(developer.email, developer.password)).body.data.accessToken);
    const owned = await findOwnedProject(developerId, of.id);
    if (!owned) throw new Error('No owner');
    const findOneAndUpdate = Collection.prototype.findOneAndUpdate as (...all: unknown[]) => Promise<never>;
    vi.spyOn(Collection.prototype, 'findOneAndUpdate').mockImplementationOnce(async function (
      this: Collection,
      ...args: unknown[]
    ) {
      await recover(developer, developerId);
      return findOneAndUpdate.apply(this, args);
    } as never);
    const by = { developerId, personalToken: undefined, sessionId: stolen.sessionId };
    await expect(createInvitation(owned, by, { email: newAddress(), role: 'admin' })).rejects.toMatchObject({
      code: 'TOKEN_INVALID',
    });
    expect(await openIn(of)).toEqual([]);
  });

  test('leaves no invitation of 50 that the inviter sends concurrently', async () => {
    const of = await newProject();
    const { developer } = of;
    const developerId = await idOf(developer);
    const stolen = (await logIn(developer.email, developer.password)).body.data.accessToken;
    const path = `/api/projects/${of.id}/members/invitations`;
    const { dashboardUrl } = inject('stack');
    const sending = inParallel(50, () =>
      call(dashboardUrl, 'POST', path, { token: stolen, body: { email: newAddress(), role: 'admin' } }),
    );
    await recover(developer, developerId);
    expect((await sending).every(({ status }) => status === 201 || status === 401)).toBe(true);
    expect(await openIn(of)).toEqual([]);
  });
});

describe('a personal access token that is revoked', () => {
  const inviting = async (of: TestProject) => {
    const made = await newPersonalToken(of.developer, scopesOfRole('viewer').concat('members:write'));
    const { developerId, ...grant } = await verifyPersonalToken(made.token);
    const owned = await findOwnedProject(developerId, of.id);
    if (!owned) throw new Error('No owner');
    const send = () =>
      createInvitation(
        owned,
        { developerId, personalToken: { developerId, ...grant } },
        { email: newAddress(), role: 'viewer' },
      );
    return { send, revoke: () => of.developer.dashboard('DELETE', `/api/auth/tokens/${made._id}`) };
  };

  test('leaves no invitation sent with it, but keeps those of the session', async () => {
    const of = await newProject();
    const { send, revoke } = await inviting(of);
    await send();
    const stays = newAddress();
    expect((await invite(of, stays, 'viewer')).status).toBe(201);
    expect(await revoke()).toMatchObject({ status: 200 });
    expect(await openIn(of)).toMatchObject([{ email: stays }]);
  });

  test('leaves no invitation of 50 that it sends concurrently', async () => {
    const of = await newProject();
    const { send, revoke } = await inviting(of);
    const sending = inParallel(50, () => send().catch(() => undefined));
    await revoke();
    await sending;
    expect(await openIn(of)).toEqual([]);
  });
});

test('503 for an invitation whose email is not queued; it is not counted, so the next one can be sent immediately', async () => {
  vi.spyOn(clock, 'now').mockReturnValue(clock.now());
  const of = await newProject();
  const inviter = await idOf(of.developer);
  const owned = await findOwnedProject(inviter, of.id);
  if (!owned) throw new Error('No owner');
  const key = itemKey(kinds.invitations, developerScope, {
    ownerKey: ownerKeyOf(of.developer.email),
    day: dayAt(clock.now()).name,
  });
  const counted = async () => countIn(await peek({ key }), 'sent');
  const invitation = { email: newAddress(), role: 'viewer' } as const;
  const cut = new MongoNetworkError('The connection was cut');
  vi.spyOn(Collection.prototype, 'insertOne').mockRejectedValueOnce(cut);
  await expect(
    createInvitation(owned, { developerId: inviter, personalToken: undefined }, invitation),
  ).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  expect(await counted()).toBe(0);
  await createInvitation(owned, { developerId: inviter, personalToken: undefined }, invitation);
  expect(await counted()).toBe(1);
  await expect(
    createInvitation(owned, { developerId: inviter, personalToken: undefined }, invitation),
  ).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  expect(await counted()).toBe(1);
});
