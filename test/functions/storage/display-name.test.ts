import { beforeAll, describe, expect, test } from 'vitest';
import { fileItemKey, refOf } from '../../../shared/files/file-items.ts';
import { findFile } from '../../../shared/files/list-files.ts';
import { write } from '../../../shared/persistence/table.ts';
import { findProjectById } from '../../../shared/projects/find-project.ts';
import { confirm, put, request } from '../../support/fixtures/files.ts';
import { newUsersProject, type SignIn, type UsersProject } from '../../support/fixtures/users.ts';

let project: UsersProject;
let user: SignIn;

beforeAll(async () => {
  const uploads = { users: true, maxBytes: 5000, types: ['*/*'] };
  project = await newUsersProject({ settings: { uploads } });
  user = await project.newUser();
});

interface Listed {
  readonly data: { readonly items: readonly { readonly path: string; readonly name: string }[] };
}

const upload = async (filename: string, contentType = 'text/plain') => {
  const requested = (await request(project, 5, filename, contentType)).body;
  expect(await put(requested.signedUrl, 'hello', contentType)).toBe(200);
  const confirmed = (await confirm(project, requested.filePath, 5)).body;
  return { requested, confirmed };
};

const dispositionAt = async (url: string | null): Promise<string | null> => {
  const answer = await fetch(url ?? '');
  expect([answer.status, await answer.text()]).toEqual([200, 'hello']);
  return answer.headers.get('content-disposition');
};

const sign = async (path: string): Promise<string> => {
  const { body } = await project.api<{ data: { url: string }[] }>('POST', '/api/storage/sign', {
    body: { paths: [path] },
  });
  return body.data[0]?.url ?? '';
};

const setVisibility = (path: string, visibility: string) =>
  project.api('PATCH', '/api/storage/file', { body: { path, visibility } });

describe('the name of a file', () => {
  test('is returned by request, confirmation and lists, while the path is ASCII', async () => {
    const given = 'Grüße u\u0308ber\r\n 東京\u202e 🪨.txt';
    const name = 'Grüße \u00fcber 東京 🪨.txt';
    const { requested, confirmed } = await upload(given);
    expect(requested.filePath).toMatch(/_[A-Za-z0-9._-]+\.txt$/);
    expect([requested.name, confirmed.name]).toEqual([name, name]);
    expect((await confirm(project, requested.filePath, 5)).body.name).toBe(name);
    const { body } = await project.developer.dashboard<Listed>('GET', `/api/projects/${project.id}/storage/files`);
    expect(body.data.items.find(({ path }) => path === requested.filePath)?.name).toBe(name);
    const found = await findProjectById(project.id);
    expect(found && (await findFile(found, requested.filePath))?.name).toBe(name);
  });

  test('is sent with downloads of public files, and with links after the file became private', async () => {
    const { confirmed } = await upload('"日本" (1).html', 'text/html');
    const value = `attachment; filename="______1_.html"; filename*=UTF-8''%22%E6%97%A5%E6%9C%AC%22%20%281%29.html`;
    expect(await dispositionAt(confirmed.url)).toBe(value);
    expect((await setVisibility(confirmed.path, 'private')).status).toBe(200);
    expect(await dispositionAt(await sign(confirmed.path))).toBe(value);
  });

  test('is sent inline with a file that browsers show', async () => {
    const { confirmed } = await upload('ü.txt');
    expect(await dispositionAt(confirmed.url)).toBe(`inline; filename="_.txt"; filename*=UTF-8''%C3%BC.txt`);
  });

  test('is the last segment of the path when the file has no name', async () => {
    const { confirmed } = await upload('ü.txt');
    const found = await findProjectById(project.id);
    if (!found) throw new Error('The project is not there');
    await write({ update: fileItemKey(refOf(found, confirmed.path)), change: 'REMOVE #name' });
    expect((await findFile(found, confirmed.path))?.name).toBe('_.txt');
    expect((await confirm(project, confirmed.path, 5)).body.name).toBe('_.txt');
  });

  test('is found by its prefix in a user’s list, in NFC and NFD, and by the prefix in the path', async () => {
    const as = { key: project.publishableKey, token: user.accessToken };
    const body = { filename: 'Übung.txt', contentType: 'text/plain', size: 5 };
    const requested = (
      await project.api<{ signedUrl: string; filePath: string }>('POST', '/api/storage/upload-request', { ...as, body })
    ).body;
    await put(requested.signedUrl, 'hello');
    const confirmation = { ...as, body: { filePath: requested.filePath, size: 5 } };
    expect((await project.api('POST', '/api/storage/upload-confirm', confirmation)).status).toBe(200);
    const namesWith = async (prefix: string) => {
      const address = `/api/storage/files?prefix=${encodeURIComponent(prefix)}`;
      return (await project.api<Listed>('GET', address, as)).body.data.items.map(({ name }) => name);
    };
    for (const prefix of ['Üb', 'U\u0308b', '_bung']) expect(await namesWith(prefix)).toEqual(['Übung.txt']);
    expect(await namesWith('bung')).toEqual([]);
  });
});
