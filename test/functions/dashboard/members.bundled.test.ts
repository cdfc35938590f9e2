import { randomBytes } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { markVerified } from '../../../shared/accounts/email-proofs.ts';
import { randomSecret } from '../../../shared/accounts/single-use-secrets.ts';
import { clock } from '../../../shared/core/clock.ts';
import { createInvitation, hashInvitationToken } from '../../../shared/members/invitations.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { findOwnedProject } from '../../../shared/projects/find-project.ts';
import type { MemberRecord, ProjectRecord } from '../../../shared/projects/project.ts';
import { projectsOf } from '../../../shared/projects/project-view.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { linkIn, mailAbout, mailsTo } from '../../support/clients/inbox.ts';
import { accept, idOf, invitationFor, invite, newMember } from '../../support/fixtures/members.ts';
import {
  type Developer,
  newDeveloper,
  newProject,
  newUnverified,
  type TestProject,
} from '../../support/fixtures/project.ts';

let project: TestProject;
let admin: Developer;
let viewer: Developer;

beforeAll(async () => {
  project = await newProject([{ name: 'notes' }]);
  [admin, viewer] = await Promise.all([newMember(project, 'admin'), newMember(project, 'viewer')]);
});

afterEach(() => {
  vi.restoreAllMocks();
});

const pathTo = (path: string, of = project): string => `/api/projects/${of.id}${path}`;
const newAddress = (): string => `invited-${randomBytes(8).toString('hex')}@example.com`;

const recordOf = async ({ id }: TestProject): Promise<ProjectRecord> => {
  const record = await onControl((db) => db.collection<ProjectRecord>('projects').findOne({ _id: new ObjectId(id) }));
  if (!record) throw new Error('The project is gone');
  return record;
};

/** Adds members who never had an invitation; only their number matters. */
const fill = (of: TestProject, count: number) => {
  const members: MemberRecord[] = Array.from({ length: count }, () => ({
    developerId: new ObjectId(),
    role: 'viewer',
    addedAt: new Date(),
  }));
  return onControl((db) =>
    db.collection<ProjectRecord>('projects').updateOne({ _id: new ObjectId(of.id) }, { $set: { members } }),
  );
};

describe('an invitation', () => {
  test('201 with an email that names project, inviter and role and links to the dashboard; only it contains the token', async () => {
    const email = newAddress();
    const answer = await invite(project, `  ${email.toUpperCase()}`, 'viewer');
    expect(answer).toMatchObject({ status: 201, body: { success: true, data: { email, role: 'viewer' } } });
    expect(Object.keys(answer.body.data).sort()).toEqual([
      '_id',
      'createdAt',
      'email',
      'expiresAt',
      'invitedBy',
      'role',
    ]);
    const mail = await mailAbout(email, /invited/);
    expect(mail.subject).toBe('You are invited to the project test project');
    expect(mail.text).toContain(`${project.developer.email} invites you to the project "test project"`);
    expect(mail.text).toContain('as viewer');
    const link = linkIn(mail);
    expect(link.origin + link.pathname).toBe(`${inject('stack').dashboardUrl}/invitations/accept`);
    const token = link.searchParams.get('token') ?? '';
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify([answer.body, await recordOf(project)])).not.toContain(token);
  });

  test('201 from an admin who is not the owner', async () => {
    expect(await invite(project, newAddress(), 'admin', admin)).toMatchObject({ status: 201 });
  });

  test('403 EMAIL_NOT_VERIFIED when the inviter has not verified the address that the email would show; no email is sent', async () => {
    const of = await newProject([], await newUnverified());
    const email = newAddress();
    const refusal = { status: 403, body: { code: 'EMAIL_NOT_VERIFIED' } };
    expect(await invite(of, email, 'viewer')).toMatchObject(refusal);
    const [another, unproved] = await Promise.all([newProject(), newUnverified()]);
    await accept(unproved, await invitationFor(another, unproved.email, 'admin'));
    expect(await invite(another, email, 'viewer', unproved)).toMatchObject(refusal);
    expect((await recordOf(of)).invitations ?? []).toEqual([]);
    expect(await mailsTo(email)).toEqual([]);
    await markVerified(developerAccounts, { email: of.developer.email });
    expect(await invite(of, email, 'viewer')).toMatchObject({ status: 201 });
  });

  test('200 for the developer with its address, who becomes a member with the role', async () => {
    const of = await newProject([{ name: 'notes' }]);
    const developer = await newDeveloper();
    expect((await developer.dashboard('GET', pathTo('', of))).status).toBe(404);
    const answer = await accept(developer, await invitationFor(of, developer.email, 'viewer'));
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { projectId: of.id, name: 'test project', role: 'viewer' } },
    });
    expect(await developer.dashboard('GET', pathTo('', of))).toMatchObject({
      status: 200,
      body: { data: { _id: of.id, role: 'viewer' } },
    });
    expect(await developer.dashboard('GET', pathTo('/collections/notes', of))).toMatchObject({ status: 200 });
    expect(await of.developer.dashboard('GET', pathTo('/members/invitations', of))).toMatchObject({
      body: { data: { items: [], total: 0 } },
    });
  });

  test('200 for exactly one of 50 concurrent requests, 404 for the others', async () => {
    const of = await newProject();
    const developer = await newDeveloper();
    const token = await invitationFor(of, developer.email, 'admin');
    expect(tally(await inParallel(50, () => accept(developer, token)))).toEqual({ 200: 1, 404: 49 });
    expect((await recordOf(of)).members).toHaveLength(1);
  });

  test('200 for a token copied with surrounding white space', async () => {
    const of = await newProject();
    const developer = await newDeveloper();
    const token = await invitationFor(of, developer.email, 'admin');
    expect((await accept(developer, `\u00a0${token}\u200b\n`)).status).toBe(200);
  });

  const refused = { status: 404, body: { code: 'INVITATION_NOT_FOUND' } };

  test('404 for a developer with another address; the invitation stays valid', async () => {
    const of = await newProject();
    const [invited, thief] = await Promise.all([newDeveloper(), newDeveloper()]);
    const token = await invitationFor(of, invited.email, 'admin');
    expect(await accept(thief, token)).toMatchObject(refused);
    expect((await thief.dashboard('GET', pathTo('', of))).status).toBe(404);
    expect((await accept(invited, token)).status).toBe(200);
  });

  test('404 when it was used, also after the member has left', async () => {
    const of = await newProject();
    const developer = await newDeveloper();
    const token = await invitationFor(of, developer.email, 'viewer');
    expect((await accept(developer, token)).status).toBe(200);
    const mine = pathTo(`/members/${await idOf(developer)}`, of);
    expect((await developer.dashboard('DELETE', mine)).status).toBe(200);
    expect(await accept(developer, token)).toMatchObject(refused);
  });

  test('404 after seven days', async () => {
    const of = await newProject();
    const developer = await newDeveloper();
    const token = await invitationFor(of, developer.email, 'viewer');
    await onControl((db) =>
      db
        .collection('projects')
        .updateOne({ _id: new ObjectId(of.id) }, { $set: { 'invitations.0.expiresAt': new Date() } }),
    );
    expect(await accept(developer, token)).toMatchObject(refused);
    const { expiresAt, createdAt } = (await recordOf(project)).invitations?.[0] ?? {};
    expect(Number(expiresAt) - Number(createdAt)).toBe(7 * 24 * 3600 * 1000);
  });

  test('404 when it was withdrawn; a deleted project has no invitations', async () => {
    const [of, gone] = await Promise.all([newProject(), newProject()]);
    const developer = await newDeveloper();
    const token = await invitationFor(of, developer.email, 'viewer');
    const list = await of.developer.dashboard<{ data: { items: { _id: string }[] } }>(
      'GET',
      pathTo('/members/invitations', of),
    );
    const path = pathTo(`/members/invitations/${list.body.data.items[0]?._id}`, of);
    expect((await of.developer.dashboard('DELETE', path)).status).toBe(200);
    expect(await of.developer.dashboard('DELETE', path)).toMatchObject(refused);
    expect(await accept(developer, token)).toMatchObject(refused);

    const other = await newDeveloper();
    const lost = await invitationFor(gone, other.email, 'viewer');
    await gone.developer.dashboard('DELETE', pathTo('', gone));
    expect(await accept(other, lost)).toMatchObject(refused);
  });

  test.each(['x', 'A'.repeat(43), '$ne', 'A'.repeat(4000)])('404 for the token %s', async (token) => {
    expect(await accept(viewer, token)).toMatchObject(refused);
  });

  test.each([{ $ne: null }, ['A'], 7, null])('400 for the token %j', async (token) => {
    const answer = await viewer.dashboard('POST', '/api/invitations/accept', { token });
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
  });

  test('409 MEMBER_EXISTS for the owner and for members', async () => {
    for (const { email } of [project.developer, viewer]) {
      expect(await invite(project, email, 'admin')).toMatchObject({ status: 409, body: { code: 'MEMBER_EXISTS' } });
    }
  });

  test.each([
    ['role', 'owner', 'must be viewer or admin'],
    ['role', 'root', 'must be viewer or admin'],
    [
      'email',
      'nobody',
      'must be an email address of at most 254 characters, in ASCII (write a domain such as bücher.example as xn--bcher-kva.example)',
    ],
    [
      'email',
      'a@b.co\r\nBcc: c@d.co',
      'must be an email address of at most 254 characters, in ASCII (write a domain such as bücher.example as xn--bcher-kva.example)',
    ],
  ])('400 for the %s %s', async (field, value, message) => {
    const body = { email: newAddress(), role: 'viewer', [field]: value };
    const answer = await project.developer.dashboard('POST', pathTo('/members/invitations'), body);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ field, message: `${field} ${message}` }] } });
  });

  test('429 for all except one of 50 to one address within a minute, across projects', async () => {
    const email = newAddress();
    const other = await newProject();
    const answers = await inParallel(50, (index) => invite(index % 2 ? project : other, email, 'viewer'));
    expect(tally(answers)).toEqual({ 201: 1, 429: 49 });
    expect(Number(answers.find(({ status }) => status === 429)?.headers.get('retry-after'))).toBe(60);
    await mailAbout(email, /invited/);
    expect(await mailsTo(email)).toHaveLength(1);
  });

  test('201 a minute later: the newer invitation replaces the older', async () => {
    const of = await newProject();
    const developer = await newDeveloper();
    const older = await invitationFor(of, developer.email, 'viewer');
    const owned = await findOwnedProject(await idOf(of.developer), of.id);
    if (!owned) throw new Error('The project is gone');
    vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + 61_000);
    await createInvitation(
      owned,
      { developerId: await idOf(of.developer), personalToken: undefined },
      { email: developer.email, role: 'admin' },
    );
    vi.restoreAllMocks();
    expect((await recordOf(of)).invitations).toMatchObject([{ email: developer.email, role: 'admin' }]);
    expect(await accept(developer, older)).toMatchObject(refused);
  });

  test('404 for a second invitation when the developer is already a member, also for all except one of 50 concurrent ones', async () => {
    const of = await newProject();
    const developer = await newDeveloper();
    const token = await invitationFor(of, developer.email, 'viewer');
    const [invitation] = (await recordOf(of)).invitations ?? [];
    if (!invitation) throw new Error('There is no invitation');
    const another = randomSecret();
    const twin = { ...invitation, _id: new ObjectId(), role: 'admin' as const };
    await onControl((db) =>
      db
        .collection<ProjectRecord>('projects')
        .updateOne(
          { _id: new ObjectId(of.id) },
          { $push: { invitations: { ...twin, tokenHash: hashInvitationToken(another) ?? '' } } },
        ),
    );
    const answers = await inParallel(50, (n) => accept(developer, n % 2 ? token : another));
    expect(tally(answers)).toEqual({ 200: 1, 404: 49 });
    expect((await recordOf(of)).members).toHaveLength(1);
    for (const each of [token, another]) expect(await accept(developer, each)).toMatchObject(refused);
  });

  test('403 LIMIT_REACHED beyond 50 members and invitations, also for concurrent ones', async () => {
    const of = await newProject();
    await fill(of, 45);
    const answers = await inParallel(20, () => invite(of, newAddress(), 'viewer'));
    expect(tally(answers)).toEqual({ 201: 5, 403: 15 });
    expect(answers.find(({ status }) => status === 403)?.body.code).toBe('LIMIT_REACHED');
    expect((await recordOf(of)).invitations).toHaveLength(5);
  });
});

describe('members', () => {
  test('200: the owner first, then the others in order of joining, paged', async () => {
    const list = await viewer.dashboard<{ data: { items: unknown[]; total: number } }>('GET', pathTo('/members'));
    expect(list).toMatchObject({
      status: 200,
      body: { data: { total: 3, page: 1, limit: 100 } },
    });
    expect(list.body.data.items).toEqual(
      expect.arrayContaining(
        [
          { email: project.developer.email, role: 'owner' },
          { email: admin.email, role: 'admin' },
          { email: viewer.email, role: 'viewer' },
        ].map((member) => expect.objectContaining(member)),
      ),
    );
    const second = await viewer.dashboard('GET', pathTo('/members?page=2&limit=2'));
    expect(second).toMatchObject({ body: { data: { items: [{}], total: 3, page: 2, limit: 2 } } });
  });

  test('200: their project lists contain it with their role and the owner’s plan', async () => {
    const free = await newDeveloper('free');
    const mine = await newProject([], free);
    expect((await accept(free, await invitationFor(project, free.email, 'viewer'))).status).toBe(200);
    const list = await free.dashboard<{ data: { items: { _id: string; role: string; plan: string }[] } }>(
      'GET',
      '/api/projects',
    );
    expect(list).toMatchObject({ status: 200, body: { data: { total: 2 } } });
    expect(list.body.data.items).toMatchObject([
      { _id: mine.id, role: 'owner', plan: 'free' },
      { _id: project.id, role: 'viewer', plan: 'pro' },
    ]);
    const page = await free.dashboard('GET', '/api/projects?page=2&limit=1');
    expect(page).toMatchObject({ body: { data: { items: [{ _id: project.id }], total: 2 } } });
    for (let slot = 1; slot < 3; slot++) await newProject([], free);
    expect((await free.dashboard('POST', '/api/projects', { name: 'over' })).status).toBe(403);
  });

  test('the project list is served by indexes in its order', async () => {
    const plan = await onControl((db) =>
      db.collection('projects').find(projectsOf(new ObjectId(), null)).sort({ _id: -1 }).explain('queryPlanner'),
    );
    const text = JSON.stringify((plan as { queryPlanner: { winningPlan: unknown } }).queryPlanner.winningPlan);
    expect(text).toContain('"indexName":"owner"');
    expect(text).toContain('"indexName":"member"');
    expect(text).not.toContain('"stage":"SORT"');
    expect(text).not.toContain('COLLSCAN');
  });

  test('200 for another role, which applies to the next request', async () => {
    const member = await newMember(project, 'viewer');
    const path = pathTo(`/members/${await idOf(member)}`);
    const write = () => member.dashboard('PATCH', pathTo(''), { name: 'test project' });
    expect(await write()).toMatchObject({ status: 403, body: { code: 'ROLE_REQUIRED' } });
    expect(await admin.dashboard('PATCH', path, { role: 'admin' })).toMatchObject({
      status: 200,
      body: { data: { role: 'admin' } },
    });
    expect((await write()).status).toBe(200);
    expect((await admin.dashboard('PATCH', path, { role: 'viewer' })).status).toBe(200);
    expect((await write()).status).toBe(403);
    expect((await project.developer.dashboard('DELETE', path)).status).toBe(200);
    expect((await member.dashboard('GET', pathTo(''))).status).toBe(404);
    expect(await project.developer.dashboard('DELETE', path)).toMatchObject({
      status: 404,
      body: { code: 'MEMBER_NOT_FOUND' },
    });
  });

  test('200 for a viewer who leaves; 403 ROLE_REQUIRED when a viewer removes another member', async () => {
    const member = await newMember(project, 'viewer');
    const others = pathTo(`/members/${await idOf(admin)}`);
    expect(await member.dashboard('DELETE', others)).toMatchObject({ status: 403, body: { code: 'ROLE_REQUIRED' } });
    const own = pathTo(`/members/${await idOf(member)}`);
    expect((await member.dashboard('DELETE', own)).status).toBe(200);
    expect((await member.dashboard('GET', pathTo('/members'))).status).toBe(404);
  });

  test('409 OWNER_STAYS when any member tries to change or remove the owner', async () => {
    const path = pathTo(`/members/${await idOf(project.developer)}`);
    for (const by of [admin, project.developer]) {
      expect(await by.dashboard('DELETE', path)).toMatchObject({ status: 409, body: { code: 'OWNER_STAYS' } });
      expect(await by.dashboard('PATCH', path, { role: 'viewer' })).toMatchObject({ status: 409 });
    }
  });

  test.each(['f'.repeat(24), '$ne', '__proto__'])('404 MEMBER_NOT_FOUND for %s', async (id) => {
    const answers = [
      await admin.dashboard('DELETE', pathTo(`/members/${id}`)),
      await admin.dashboard('PATCH', pathTo(`/members/${id}`), { role: 'viewer' }),
    ];
    for (const answer of answers) expect(answer).toMatchObject({ status: 404, body: { code: 'MEMBER_NOT_FOUND' } });
  });

  test('403 ROLE_REQUIRED with the role when an admin deletes the project', async () => {
    expect(await admin.dashboard('DELETE', pathTo(''))).toMatchObject({
      status: 403,
      body: { code: 'ROLE_REQUIRED', message: 'This needs the role owner in the project; yours is admin.' },
    });
    expect((await viewer.dashboard('GET', pathTo(''))).status).toBe(200);
  });
});
