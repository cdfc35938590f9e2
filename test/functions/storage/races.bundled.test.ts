import { beforeAll, describe, expect, test } from 'vitest';
import { storageUsage } from '../../../shared/files/list-files.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { confirm, put, read, remove, request, uploaded, uploadFile } from '../../support/fixtures/files.ts';
import { newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';
import { storageProject } from '../../support/fixtures/storage-project.ts';

const MiB = 1024 * 1024;

let project: TestProject;

const usage = async () => {
  const { used, held, files } = await storageUsage({ ...storageProject(), id: project.id });
  return { used, held, files };
};

beforeAll(async () => {
  project = await newProject([], await newDeveloper('free'));
});

describe('50 concurrent callers', () => {
  test('get the same response and are charged one time when they confirm one upload', async () => {
    const before = await usage();
    const { filePath } = await uploaded(project, 'hello');
    const answers = await inParallel(50, () => confirm(project, filePath, 5));
    expect(tally(answers)).toEqual({ 200: 50 });
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await usage()).toEqual({ used: before.used + 5, held: before.held + 5, files: before.files + 1 });
  });

  test('get 200 once and 404 otherwise, with one refund, when they delete one file', async () => {
    const before = await usage();
    const { path, url } = await uploadFile(project, 'hello');
    expect(tally(await inParallel(50, () => remove(project, path)))).toEqual({ 200: 1, 404: 49 });
    expect(await usage()).toEqual(before);
    expect((await read(url)).status).toBe(404);
  });

  test('leave one version for all readers when they upload, confirm and overwrite one path', async () => {
    const before = await usage();
    const { signedUrl, filePath } = await uploaded(project, 'version-00');
    const answers = await inParallel(50, async (index) => {
      if (index % 2 === 0) return { status: await put(signedUrl, `version-${10 + index}`) };
      return confirm(project, filePath, 10);
    });
    // A version that was overwritten between head and copy is rejected; the caller retries.
    for (const { status } of answers) expect([200, 409]).toContain(status);
    const { url } = (await confirm(project, filePath, 10)).body;
    const first = await read(url);
    expect(first.text).toMatch(/^version-\d\d$/);
    expect(await put(signedUrl, 'version-99')).toBe(200);
    expect(tally(await inParallel(10, () => confirm(project, filePath, 10)))).toEqual({ 200: 10 });
    expect(await read(url)).toEqual(first);
    expect(await usage()).toEqual({ used: before.used + 10, held: before.held + 10, files: before.files + 1 });
  });

  test('leave nothing public and nothing charged when they confirm and delete one upload', async () => {
    const before = await usage();
    const uploads = await inParallel(5, () => uploaded(project, 'hello'));
    const answers = await inParallel(50, async (index) => {
      const { filePath } = uploads[index % 5] as (typeof uploads)[number];
      const { status } = await (index < 25 ? confirm(project, filePath, 5) : remove(project, filePath));
      return status;
    });
    for (const status of answers) expect([200, 404, 409]).toContain(status);
    const urls: (string | null)[] = [];
    for (const { filePath } of uploads) {
      const again = await confirm(project, filePath, 5);
      const { url } = await uploadFile(project, 'other');
      urls.push((url ?? '').slice(0, (url ?? '').indexOf(project.id)) + filePath);
      expect([200, 404]).toContain(again.status);
      await remove(project, filePath);
    }
    for (const url of urls) expect((await read(url)).status).toBe(404);
    expect(await usage()).toEqual({ used: before.used + 25, held: before.held + 25, files: before.files + 5 });
  });

  test('403 STORAGE_QUOTA_EXCEEDED when they reserve more than the quota', async () => {
    const other = await newProject([], await newDeveloper('free'));
    const answers = await inParallel(50, () => request(other, MiB));
    expect(tally(answers)).toEqual({ 200: 20, 403: 30 });
    for (const { status, body } of answers) {
      if (status === 403) expect(body).toMatchObject({ code: 'STORAGE_QUOTA_EXCEEDED' });
    }
    expect((await request(other, 1)).status).toBe(403);
    expect(await storageUsage({ ...storageProject(), id: other.id })).toMatchObject({ held: 20 * MiB, used: 0 });
  });
});

describe('the quota', () => {
  test('has exactly the deleted bytes free after a deletion', async () => {
    const other = await newProject([], await newDeveloper('free'));
    const first = await uploadFile(other, Buffer.alloc(10 * MiB));
    await uploadFile(other, Buffer.alloc(10 * MiB - 7));
    expect((await request(other, 8)).status).toBe(403);
    expect((await request(other, 7)).status).toBe(200);
    expect((await request(other, 1)).status).toBe(403);
    expect((await remove(other, first.path)).status).toBe(200);
    expect((await request(other, 10 * MiB)).status).toBe(200);
    expect((await request(other, 1)).status).toBe(403);
  });
});
