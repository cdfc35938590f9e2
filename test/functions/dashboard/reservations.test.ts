import { beforeAll, describe, expect, test } from 'vitest';
import { confirm, put, type Requested, request } from '../../support/fixtures/files.ts';
import { newDeveloper, type TestProject } from '../../support/fixtures/project.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

interface Reservation {
  readonly path: string;
  readonly name: string;
  readonly size: number;
  readonly owner: string | null;
  readonly createdAt: string;
  readonly endsAt: string;
}

interface Listed {
  readonly data: { readonly items: readonly Reservation[]; readonly nextCursor?: string };
  readonly code?: string;
}

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject({ settings: { uploads: { users: true, maxBytes: 5000, types: ['*/*'] } } });
});

const pathOf = ({ id }: TestProject) => `/api/projects/${id}/storage/reservations`;

const list = (query = '', who = project.developer) => who.dashboard<Listed>('GET', pathOf(project) + query);

const end = (path: unknown, who = project.developer) =>
  who.dashboard<{ code?: string }>('DELETE', pathOf(project), { path });

describe('the open uploads of a project', () => {
  test('200 with owner, path, size, start and expiry', async () => {
    const ann = await project.newUser();
    const as = { key: project.publishableKey, token: ann.accessToken };
    const body = { filename: 'Übung.txt', contentType: 'text/plain', size: 5 };
    const { filePath } = (await project.api<Requested>('POST', '/api/storage/upload-request', { ...as, body })).body;
    const open = (await list()).body.data.items.find(({ path }) => path === filePath);
    expect(open).toMatchObject({
      name: 'Übung.txt',
      size: 5,
      contentType: 'text/plain',
      visibility: 'private',
      owner: ann.user._id,
    });
    expect(Date.parse(open?.endsAt ?? '') - Date.parse(open?.createdAt ?? '')).toBe(15 * 60_000);
  });

  test('200 with the newest first, in pages, without confirmed files', async () => {
    const paths: string[] = [];
    for (let made = 0; made < 52; made++) paths.unshift((await request(project, 5)).body.filePath);
    const done = (await request(project, 5)).body;
    await put(done.signedUrl, 'hello');
    await confirm(project, done.filePath, 5);
    const first = (await list()).body.data;
    expect(first.items.map(({ path }) => path)).toEqual(paths.slice(0, 50));
    expect(first.items[0]?.owner).toBeNull();
    const second = (await list(`?cursor=${first.nextCursor}`)).body.data;
    expect(second.items.slice(0, 2).map(({ path }) => path)).toEqual(paths.slice(50));
    expect(second.nextCursor).toBeUndefined();
  });

  test('200 when the owner ends them: they can no longer be confirmed or listed, and the audit trail has it', async () => {
    const { signedUrl, filePath } = (await request(project, 5)).body;
    await put(signedUrl, 'hello');
    expect((await end(filePath)).status).toBe(200);
    expect(await confirm(project, filePath, 5)).toMatchObject({ status: 404, body: { code: 'FILE_NOT_FOUND' } });
    expect((await list()).body.data.items.map(({ path }) => path)).not.toContain(filePath);
    const { body } = await project.developer.dashboard<{ data: { items: readonly { action: string }[] } }>(
      'GET',
      `/api/projects/${project.id}/audit`,
    );
    expect(body.data.items.map(({ action }) => action)).toContain('end-reservation');
  });

  test('400 INVALID_CURSOR for a cursor that this list has not returned', async () => {
    expect(await list('?cursor=x')).toMatchObject({ status: 400, body: { code: 'INVALID_CURSOR' } });
  });

  test('404 FILE_NOT_FOUND for ending a confirmed file, one that has ended, and an invalid path', async () => {
    const { signedUrl, filePath } = (await request(project, 5)).body;
    await put(signedUrl, 'hello');
    await confirm(project, filePath, 5);
    const other = (await request(project, 5)).body.filePath;
    expect((await end(other)).status).toBe(200);
    for (const path of [filePath, other, 'a/b', `${'f'.repeat(24)}/x`]) {
      expect(await end(path)).toMatchObject({ status: 404, body: { code: 'FILE_NOT_FOUND' } });
    }
    expect((await confirm(project, filePath, 5)).status).toBe(200);
  });

  test('404 PROJECT_NOT_FOUND for developers who are not members', async () => {
    const stranger = await newDeveloper();
    expect((await list('', stranger)).status).toBe(404);
    expect((await end('a', stranger)).status).toBe(404);
  });
});
