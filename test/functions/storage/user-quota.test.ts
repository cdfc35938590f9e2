import { beforeAll, describe, expect, test } from 'vitest';
import { type UserQuotaItem, userQuotaKey } from '../../../shared/files/file-items.ts';
import { storageUsage } from '../../../shared/files/list-files.ts';
import { get, write } from '../../../shared/persistence/table.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { put, type Requested } from '../../support/fixtures/files.ts';
import { newDeveloper, type TestProject } from '../../support/fixtures/project.ts';
import { storageProject } from '../../support/fixtures/storage-project.ts';
import { newUsersProject, type SignIn, type UsersProject } from '../../support/fixtures/users.ts';

const MiB = 1024 * 1024;

let project: UsersProject;

const uploads = { users: true, maxBytes: 10 * MiB, types: ['*/*'] };

/** These tests fill the storage, so they have their own project. */
const freeProject = async () => newUsersProject({ settings: { uploads }, owner: await newDeveloper('free') });

beforeAll(async () => {
  project = await freeProject();
});

type Body = Requested & { readonly code?: string; readonly message?: string };

const as = (of: TestProject, user: SignIn) => ({ key: of.publishableKey, token: user.accessToken });

const request = (of: TestProject, user: SignIn, size = 5) =>
  of.api<Body>('POST', '/api/storage/upload-request', {
    ...as(of, user),
    body: { filename: 'a.txt', contentType: 'text/plain', size },
  });

const confirm = (of: TestProject, user: SignIn, filePath: string, size = 5) =>
  of.api<Body>('POST', '/api/storage/upload-confirm', { ...as(of, user), body: { filePath, size } });

const upload = async (of: TestProject, user: SignIn, bytes: Buffer | string = 'hello'): Promise<string> => {
  const size = Buffer.byteLength(bytes);
  const { signedUrl, filePath } = (await request(of, user, size)).body;
  expect(await put(signedUrl, bytes)).toBe(200);
  expect((await confirm(of, user, filePath, size)).status).toBe(200);
  return filePath;
};

const end = (of: TestProject, path: string) =>
  of.developer.dashboard<Body>('DELETE', `/api/projects/${of.id}/storage/reservations`, { path });

const keyOf = (of: TestProject, user: SignIn) =>
  userQuotaKey({ projectId: of.id, storageId: 'managed' }, String(user.user._id));

const countOf = async (of: TestProject, user: SignIn) => {
  const { held = 0, files = 0, reservations = 0 } = (await get<UserQuotaItem>(keyOf(of, user))) ?? {};
  return { held, files, reservations };
};

const heldIn = async (of: TestProject) => (await storageUsage({ ...storageProject(), id: of.id })).held;

const exceeded = { status: 403, body: { code: 'USER_QUOTA_EXCEEDED' } };

describe('one user', () => {
  test('403 USER_QUOTA_EXCEEDED: 20 of 50 concurrent uploads are open, and other users have their own', async () => {
    const [ann, bob] = [await project.newUser(), await project.newUser()];
    const answers = await inParallel(50, () => request(project, ann));
    expect(tally(answers)).toEqual({ 200: 20, 403: 30 });
    const { body } = await request(project, ann);
    expect(body).toMatchObject({ code: 'USER_QUOTA_EXCEEDED', message: expect.stringContaining('20 uploads') });
    expect(await countOf(project, ann)).toEqual({ held: 100, files: 20, reservations: 20 });
    expect((await request(project, bob)).status).toBe(200);
  });

  test('403 USER_QUOTA_EXCEEDED: 50 concurrent uploads of 1 MiB reserve 10 MiB, half of the plan’s storage', async () => {
    const of = await freeProject();
    const ann = await of.newUser();
    const answers = await inParallel(50, () => request(of, ann, MiB));
    expect(tally(answers)).toEqual({ 200: 10, 403: 40 });
    for (const { status, body } of answers) if (status === 403) expect(body.code).toBe('USER_QUOTA_EXCEEDED');
    expect((await request(of, ann, 1)).body.message).toContain('10 MiB');
    expect(await heldIn(of)).toBe(10 * MiB);
  });

  test('403 USER_QUOTA_EXCEEDED: no more bytes after one file of 10 MiB', async () => {
    const of = await freeProject();
    const ann = await of.newUser();
    expect((await request(of, ann, 10 * MiB)).status).toBe(200);
    expect(await request(of, ann, 1)).toMatchObject(exceeded);
  });

  test('403 USER_QUOTA_EXCEEDED: no more files than allowed, also with 50 concurrent requests', async () => {
    const ann = await project.newUser();
    await write({ update: keyOf(project, ann), change: 'ADD files :files', values: { files: 495 } });
    expect(tally(await inParallel(50, () => request(project, ann)))).toEqual({ 200: 5, 403: 45 });
    expect((await request(project, ann)).body.message).toContain('500 files');
  });
});

describe('a user’s usage', () => {
  test('has one open upload less after a confirmation, and none after the deletion', async () => {
    const ann = await project.newUser();
    const filePath = await upload(project, ann);
    expect(await countOf(project, ann)).toEqual({ held: 5, files: 1, reservations: 0 });
    expect((await confirm(project, ann, filePath)).status).toBe(200);
    expect(await countOf(project, ann)).toEqual({ held: 5, files: 1, reservations: 0 });
    const removed = await project.api('DELETE', '/api/storage/file', { ...as(project, ann), body: { path: filePath } });
    expect(removed.status).toBe(200);
    expect(await countOf(project, ann)).toEqual({ held: 0, files: 0, reservations: 0 });
  });

  test('falls when the secret key or the owner deletes files', async () => {
    const ann = await project.newUser();
    const [one, other] = [await upload(project, ann), await upload(project, ann)];
    expect((await project.api('DELETE', '/api/storage/file', { body: { path: one } })).status).toBe(200);
    expect(await countOf(project, ann)).toEqual({ held: 5, files: 1, reservations: 0 });
    await project.developer.dashboard('DELETE', `/api/projects/${project.id}/storage/files`, { paths: [other] });
    expect(await countOf(project, ann)).toEqual({ held: 0, files: 0, reservations: 0 });
  });

  test('is not changed by uploads with the secret key', async () => {
    const ann = await project.newUser();
    const body = { filename: 'a.txt', contentType: 'text/plain', size: 5 };
    const server = { token: ann.accessToken, body };
    const answers = await inParallel(25, () => project.api<Body>('POST', '/api/storage/upload-request', server));
    expect(tally(answers)).toEqual({ 200: 25 });
    const { signedUrl, filePath } = answers[0]?.body ?? { signedUrl: '', filePath: '' };
    await put(signedUrl, 'hello');
    expect((await project.api('POST', '/api/storage/upload-confirm', { body: { filePath, size: 5 } })).status).toBe(
      200,
    );
    expect((await project.api('DELETE', '/api/storage/file', { body: { path: filePath } })).status).toBe(200);
    expect(await countOf(project, ann)).toEqual({ held: 0, files: 0, reservations: 0 });
    for (const {
      body: { filePath: path },
    } of answers.slice(1))
      await end(project, path);
  });

  test('falls once when an upload is ended, with concurrent confirmations', async () => {
    const ann = await project.newUser();
    const before = await heldIn(project);
    const requested = (await inParallel(20, () => request(project, ann))).map(({ body }) => body);
    expect(await request(project, ann)).toMatchObject(exceeded);
    const [first, second] = requested;
    await put(second?.signedUrl ?? '', 'hello');
    const answers = await inParallel(50, async (index) => {
      const { status } =
        index % 2 ? await end(project, second?.filePath ?? '') : await confirm(project, ann, second?.filePath ?? '');
      return status;
    });
    const wasConfirmed = answers.filter((status, index) => index % 2 === 0 && status === 200).length > 0;
    const wasEnded = answers.filter((status, index) => index % 2 === 1 && status === 200).length;
    expect(wasEnded).toBe(wasConfirmed ? 0 : 1);
    const left = wasConfirmed ? 20 : 19;
    expect(await countOf(project, ann)).toEqual({ held: 5 * left, files: left, reservations: 19 });
    expect(tally(await inParallel(50, () => end(project, first?.filePath ?? '')))).toEqual({ 200: 1, 404: 49 });
    expect(await countOf(project, ann)).toEqual({ held: 5 * (left - 1), files: left - 1, reservations: 18 });
    expect(await heldIn(project)).toBe(before + 5 * (left - 1));
    expect((await request(project, ann)).status).toBe(200);
  });
});
