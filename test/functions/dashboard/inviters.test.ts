import { randomBytes } from 'node:crypto';
import { Collection, MongoNetworkError, ObjectId } from 'mongodb';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { onControl } from '../../../shared/clients/mongo.ts';
import { clock } from '../../../shared/core/clock.ts';
import { findOwnedProject } from '../../../shared/projects/find-owned-project.ts';
import { createInvitation } from '../../../shared/projects/members/create-invitation.ts';
import type { InvitationRecord, ProjectRecord } from '../../../shared/projects/project-record.ts';
import { countIn, peek } from '../../../shared/table/counter.ts';
import { developerScope, itemKey } from '../../../shared/table/item-key.ts';
import * as kinds from '../../../shared/table/keys.ts';
import { ownerKeyOf } from '../../../shared/table/owner-key.ts';
import { dayAt } from '../../../shared/table/windows.ts';
import { inParallel } from '../../support/clients/client.ts';
import { mailAbout, tokenIn } from '../../support/clients/inbox.ts';
import { accept, idOf, invitationFor, invite, newMember } from '../../support/worlds/members.ts';
import { type Developer, newDeveloper, newProject, type TestProject } from '../../support/worlds/project.ts';

const newAddress = (): string => `invited-${randomBytes(8).toString('hex')}@example.com`;

afterEach(() => {
  vi.restoreAllMocks();
});

const openIn = async ({ id }: TestProject): Promise<readonly InvitationRecord[]> => {
  const record = await onControl((db) => db.collection<ProjectRecord>('projects').findOne({ _id: new ObjectId(id) }));
  return record?.invitations ?? [];
};

describe('the open invitations of a member who may not invite any more', () => {
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

  test.each(ways)('404 where the inviter %s; those of others stay', async (_how, end) => {
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

  test('200 for that of an admin whose role is set to admin again', async () => {
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
  ])('refused where the inviter loses the right while inviting (%s): %s', async (method, code) => {
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

  test('none is left of 50 that the inviter sends at once with being removed', async () => {
    const of = await newProject();
    const inviter = await newMember(of, 'admin');
    const path = await memberPath(inviter, of);
    const sending = inParallel(50, () => invite(of, newAddress(), 'admin', inviter));
    expect((await of.developer.dashboard('DELETE', path)).status).toBe(200);
    await sending;
    expect(await openIn(of)).toEqual([]);
  });
});

test('503 for an invitation whose mail is not queued, which counts for nothing: the next one need not wait a minute', async () => {
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
