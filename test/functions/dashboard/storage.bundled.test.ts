import { MongoClient, ObjectId } from 'mongodb';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import type { ProjectRecord } from '../../../shared/projects/project.ts';
import { inParallel } from '../../support/clients/client.ts';
import { type Confirmed, confirm, put, read, request, uploaded, uploadFile } from '../../support/fixtures/files.ts';
import { newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';

interface Listed {
  readonly data: {
    readonly items: readonly { readonly path: string; readonly url: string | null }[];
    readonly total: number;
  };
  readonly code?: string;
  readonly message: string;
}

interface Deleted {
  readonly data: { readonly items: readonly { readonly path: string; readonly deleted: boolean }[] };
  readonly code?: string;
}

interface Connected {
  readonly data: {
    readonly storage: { readonly external: boolean; readonly endpoint?: string };
    readonly cors?: unknown;
  };
  readonly code?: string;
  readonly message: string;
  readonly errors?: readonly { readonly field: string }[];
}

const filesPath = ({ id }: TestProject) => `/api/projects/${id}/storage/files`;
const storagePath = ({ id }: TestProject) => `/api/projects/${id}/storage`;

const list = async (project: TestProject, query = '') =>
  project.developer.dashboard<Listed>('GET', filesPath(project) + query);
const pathsOf = async (project: TestProject, query = ''): Promise<readonly string[]> =>
  (await list(project, query)).body.data.items.map(({ path }) => path);
const deleteFiles = (project: TestProject, paths: unknown) =>
  project.developer.dashboard<Deleted>('DELETE', filesPath(project), { paths });

const external = () => inject('externalS3');
const connect = (project: TestProject, change: object = {}) =>
  project.developer.dashboard<Connected>('PUT', storagePath(project), { ...external(), ...change });
const disconnect = (project: TestProject) => project.developer.dashboard<Connected>('DELETE', storagePath(project));

/** Another secret key of the project that no function has cached. */
const newKey = async (project: TestProject): Promise<string> => {
  const path = `/api/projects/${project.id}/keys/rotate`;
  const { body } = await project.developer.dashboard<{ data: { key: string } }>('POST', path, { type: 'secret' });
  return body.data.key;
};

let project: TestProject;

beforeAll(async () => {
  project = await newProject();
});

describe('uploading a file as its developer', () => {
  const ask = (body: object, who = project.developer) =>
    who.dashboard<{ data: { signedUrl: string; filePath: string }; code?: string }>(
      'POST',
      `${storagePath(project)}/upload-request`,
      body,
    );
  const settle = (body: object) =>
    project.developer.dashboard<{ data: Confirmed; code?: string }>(
      'POST',
      `${storagePath(project)}/upload-confirm`,
      body,
    );
  const text = { filename: 'mine.txt', contentType: 'text/plain', size: 5 };

  test('200 in three steps, without a key of the project; the audit trail has the confirmation', async () => {
    const { status, body } = await ask(text);
    expect(status).toBe(200);
    const { filePath, signedUrl } = body.data;
    expect(await settle({ filePath, size: 5 })).toMatchObject({ status: 409, body: { code: 'UPLOAD_NOT_READY' } });
    expect(await put(signedUrl, 'hello')).toBe(200);
    expect(await settle({ filePath, size: 6 })).toMatchObject({ status: 400, body: { code: 'SIZE_MISMATCH' } });
    const confirmed = await settle({ filePath, size: 5 });
    expect(confirmed).toMatchObject({ status: 200, body: { data: { path: filePath, provider: 'internal' } } });
    expect(await read(confirmed.body.data.url)).toEqual({ status: 200, text: 'hello' });
    expect(await pathsOf(project)).toContain(filePath);
    const { body: trail } = await project.developer.dashboard<{ data: { items: readonly { action: string }[] } }>(
      'GET',
      `/api/projects/${project.id}/audit?limit=1`,
    );
    expect(trail.data.items).toMatchObject([{ action: 'confirm-project-upload', outcome: 'done' }]);
  });

  test('404 for a path of another project', async () => {
    const other = await newProject([], project.developer);
    const { filePath } = await uploaded(other, 'theirs');
    expect(await settle({ filePath, size: 6 })).toMatchObject({ status: 404, body: { code: 'FILE_NOT_FOUND' } });
  });

  test('413 for more than 10 MiB, 404 for another developer', async () => {
    const large = { ...text, size: 10 * 1024 * 1024 + 1 };
    expect(await ask(large)).toMatchObject({ status: 413, body: { code: 'FILE_TOO_LARGE' } });
    expect((await ask(text, await newDeveloper())).status).toBe(404);
  });
});

describe('links and visibility', () => {
  type Links = { data: readonly { path: string; url?: string; error?: { code: string } }[]; code?: string };
  const hide = (path: string, to = 'private', who = project.developer) =>
    who.dashboard<{ data: { url: string | null }; code?: string }>('PATCH', `${storagePath(project)}/file`, {
      path,
      visibility: to,
    });
  const sign = (body: object, who = project.developer) =>
    who.dashboard<Links>('POST', `${storagePath(project)}/sign`, body);

  test('200 when a file becomes private, with links for members, and public again', async () => {
    const { path, url } = await uploadFile(project, 'for few');
    expect(await hide(path)).toMatchObject({ status: 200, body: { data: { path, visibility: 'private', url: null } } });
    expect((await read(url)).status).toBe(404);
    const { body } = await sign({ paths: [path, 'another'], expiresIn: 60 });
    expect(body.data).toMatchObject([{ path }, { path: 'another', error: { code: 'FILE_NOT_FOUND' } }]);
    expect(await read(body.data[0]?.url ?? null)).toEqual({ status: 200, text: 'for few' });
    expect((await hide(path, 'public')).body.data.url).toBe(url);
    expect(await read(url)).toEqual({ status: 200, text: 'for few' });
  });

  test('404 FILE_NOT_FOUND for a path of another project, 404 for another developer', async () => {
    const other = await uploadFile(await newProject([], project.developer), 'theirs');
    expect(await hide(other.path)).toMatchObject({ status: 404, body: { code: 'FILE_NOT_FOUND' } });
    expect((await sign({ paths: [other.path] })).body.data).toMatchObject([{ error: { code: 'FILE_NOT_FOUND' } }]);
    const stranger = await newDeveloper();
    expect((await hide(other.path, 'private', stranger)).status).toBe(404);
    expect((await sign({ paths: [other.path] }, stranger)).status).toBe(404);
  });

  test('400 VALIDATION_FAILED for an unknown field, 400 INVALID_SIZE for an unknown size', async () => {
    expect(await sign({ paths: ['a'], for: 1 })).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    expect(await sign({ paths: ['a'], width: 65 })).toMatchObject({ status: 400, body: { code: 'INVALID_SIZE' } });
  });
});

describe('listing files', () => {
  test('200 with confirmed files, newest first, paged, with public URLs', async () => {
    const own = await newProject([], project.developer);
    expect((await list(own)).body.data).toEqual({ items: [], total: 0, page: 1, limit: 100 });
    const files: Confirmed[] = [];
    for (const text of ['a', 'bb', 'ccc']) files.unshift(await uploadFile(own, text));
    await uploaded(own, 'never confirmed');
    const { status, body } = await list(own, '?limit=2');
    expect(status).toBe(200);
    expect(body.data).toEqual({
      items: files.slice(0, 2).map(({ path, url }, index) => ({
        path,
        url,
        name: 'notes.txt',
        size: 3 - index,
        contentType: 'text/plain',
        visibility: 'public',
        owner: null,
        document: null,
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      })),
      total: 3,
      page: 1,
      limit: 2,
    });
    expect(await pathsOf(own, '?limit=2&page=2')).toEqual([files[2]?.path]);
    expect(await pathsOf(own, '?limit=2&page=3')).toEqual([]);
    expect(await read(body.data.items[0]?.url ?? null)).toEqual({ status: 200, text: 'ccc' });
  });

  test.each(['?page=0', '?limit=0', '?limit=x', '?page=-1', '?page=101&limit=100'])('400 %s', async (query) => {
    expect(await list(project, query)).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
  });

  test('404 for another developer, to read, to delete and to connect', async () => {
    const stranger = await newDeveloper();
    for (const [method, path, body] of [
      ['GET', filesPath(project)],
      ['DELETE', filesPath(project), { paths: ['x'] }],
      ['PUT', storagePath(project), external()],
      ['DELETE', storagePath(project)],
    ] as const) {
      expect(await stranger.dashboard(method, path, body)).toMatchObject({
        status: 404,
        body: { code: 'PROJECT_NOT_FOUND' },
      });
    }
  });
});

describe('deleting files', () => {
  test('200 with a result for each path; deleted files are gone and free their room', async () => {
    const own = await newProject([], await newDeveloper('free'));
    const foreign = await uploadFile(project, 'foreign');
    const files = [await uploadFile(own, 'first'), await uploadFile(own, 'second'), await uploadFile(own, 'third')];
    const [first, second, third] = files.map(({ path }) => path);
    const pending = (await uploaded(own, 'pending')).filePath;
    const paths = [first, foreign.path, 'nonsense', `${own.id}/../x`, pending, third];
    expect(await deleteFiles(own, paths)).toMatchObject({
      status: 200,
      body: {
        data: { items: paths.map((path) => ({ path, deleted: path === first || path === third })) },
        message: '2 files deleted',
      },
    });
    expect(await pathsOf(own)).toEqual([second]);
    for (const [index, { url }] of files.entries()) expect((await read(url)).status).toBe(index === 1 ? 200 : 404);
    expect(await read(foreign.url)).toEqual({ status: 200, text: 'foreign' });
    expect((await confirm(own, pending, 7)).status).toBe(200);
  });

  test('200 with each of 100 files deleted once by concurrent requests', async () => {
    const own = await newProject([], project.developer);
    const paths = await inParallel(20, async (index) => (await uploadFile(own, `file ${index}`)).path);
    const asked = [...paths, ...Array.from({ length: 80 }, (_, index) => `${own.id}/none-${index}`)];
    const answers = await inParallel(5, () => deleteFiles(own, asked));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const deleted = answers.flatMap(({ body }) => body.data.items.filter((item) => item.deleted));
    expect(deleted.map(({ path }) => path).sort()).toEqual([...paths].sort());
    expect((await list(own)).body.data.total).toBe(0);
  });

  test.each<[string, unknown]>([
    ['none', []],
    ['101', Array.from({ length: 101 }, () => 'x')],
    ['no list', 'x'],
    ['null', null],
    ['an operator', { $ne: null }],
    ['operators in it', [{ $ne: null }]],
    ['numbers in it', [1]],
  ])('400 for paths that are %s', async (_what, paths) => {
    const { status, body } = await deleteFiles(project, paths);
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'VALIDATION_FAILED' });
  });
});

describe('the project’s own storage', () => {
  test('200 stores new files there without limit and quota; our files return after disconnecting', async () => {
    const own = await newProject([], project.developer);
    const { status, body } = await connect(own);
    expect({ status, message: body.message, storage: body.data.storage }).toEqual({
      status: 200,
      message: 'Storage connected',
      storage: { external: true, endpoint: external().endpoint },
    });
    // The CORS rules that S3 accepts: the methods and headers of the specification except OPTIONS.
    expect(body.data.cors).toEqual([
      {
        AllowedOrigins: ['*'],
        AllowedMethods: ['PUT', 'GET', 'HEAD'],
        AllowedHeaders: ['content-type', 'content-length'],
        ExposeHeaders: ['etag'],
        MaxAgeSeconds: 3600,
      },
    ]);
    const theirs = await uploadFile(own, 'theirs', 'text/csv');
    expect(theirs).toMatchObject({ provider: 'external', url: `${external().publicHost}/files/${theirs.path}` });
    expect(await read(theirs.url)).toEqual({ status: 200, text: 'theirs' });
    expect(await pathsOf(own)).toEqual([theirs.path]);
    expect((await request(own, 5_000_000_000)).status).toBe(200);

    const back = await disconnect(own);
    expect({ status: back.status, storage: back.body.data.storage }).toEqual({
      status: 200,
      storage: { external: false },
    });
    expect(await pathsOf(own)).toEqual([]);
    expect(await read(theirs.url)).toEqual({ status: 200, text: 'theirs' });
    // With the old key the functions would use the cached project for five more seconds.
    const key = await newKey(own);
    const api: typeof own.api = (method, path, options) => own.api(method, path, { ...options, key });
    const ours = await uploadFile({ api }, 'ours');
    expect(ours.provider).toBe('internal');
    expect(await pathsOf(own)).toEqual([ours.path]);
    expect((await request({ api }, 5_000_000_000)).status).toBe(413);

    expect((await connect(own)).status).toBe(200);
    expect(await pathsOf(own)).toEqual([theirs.path]);
    expect((await deleteFiles(own, [theirs.path])).body.data.items).toEqual([{ path: theirs.path, deleted: true }]);
    expect((await read(theirs.url)).status).toBe(404);
    expect(await read(ours.url)).toEqual({ status: 200, text: 'ours' });
  });

  test('200 with files and bulk deletions, as in our storage', async () => {
    const own = await newProject([], project.developer);
    await connect(own);
    const paths = await inParallel(3, async (index) => (await uploadFile(own, `file ${index}`)).path);
    expect((await deleteFiles(own, paths)).body.data.items.every(({ deleted }) => deleted)).toBe(true);
    expect(await pathsOf(own)).toEqual([]);
  });

  test.each([undefined, null])('200 with public host %s: no URL, and a warning', async (publicHost) => {
    const own = await newProject([], project.developer);
    expect((await connect(own, { publicHost })).status).toBe(200);
    expect(await uploadFile(own, 'x')).toMatchObject({ url: null, warning: expect.any(String) });
    expect((await list(own)).body.data.items[0]?.url).toBeNull();
  });

  test.each([
    ['files.example.com', 'https://files.example.com'],
    ['https://files.example.com/base/', 'https://files.example.com/base'],
    ['http://files.example.com:8080', 'http://files.example.com:8080'],
  ])('200 with public host %s', async (publicHost, base) => {
    const own = await newProject([], project.developer);
    await connect(own, { publicHost });
    const { url, path } = await uploadFile(own, 'x');
    expect(url).toBe(`${base}/files/${path}`);
  });

  test('200 to disconnect when no storage is connected, and twice', async () => {
    const own = await newProject([], project.developer);
    expect((await disconnect(own)).status).toBe(200);
    await connect(own);
    expect((await disconnect(own)).status).toBe(200);
    expect((await disconnect(own)).status).toBe(200);
  });

  test('200 with the access key encrypted: no response contains it, and no record in plain text', async () => {
    const own = await newProject([], project.developer);
    const { accessKeyId, secretAccessKey } = external();
    const answers = [
      await connect(own),
      await own.developer.dashboard('GET', `/api/projects/${own.id}`),
      await own.developer.dashboard('GET', '/api/projects'),
      await disconnect(own),
      await connect(own),
    ];
    const client = await MongoClient.connect(inject('stack').mongoUri);
    const control = client.db('control');
    const record = await control.collection<ProjectRecord>('projects').findOne({ _id: new ObjectId(own.id) });
    const trail = await control
      .collection('auditEntries')
      .find({ projectId: new ObjectId(own.id) })
      .toArray();
    await client.close();
    expect(trail.length).toBeGreaterThan(0);
    const all = JSON.stringify([answers, record, trail]);
    expect(all).not.toContain(accessKeyId);
    expect(all).not.toContain(secretAccessKey);
    expect(record?.storage).toMatchObject({ kind: 'external', sealedKeys: expect.stringMatching(/^[\w-]{40,}$/) });
  });

  test.each<[string, string, string, object]>([
    ['a secret that is wrong', 'accessKeyId', 'rejected accessKeyId and secretAccessKey', { secretAccessKey: 'x' }],
    ['an access key that is unknown', 'accessKeyId', 'rejected accessKeyId and secretAccessKey', { accessKeyId: 'x' }],
    ['a bucket that is missing', 'bucket', 'does not exist', { bucket: 'none' }],
    ['another region', 'region', 'region is not', { region: 'eu-north-1' }],
  ])('400 with %s, and the storage stays unchanged', async (_what, field, message, change) => {
    const own = await newProject([], project.developer);
    await connect(own);
    const { status, body } = await connect(own, change);
    expect({ status, code: body.code, fields: body.errors?.map((error) => error.field) }).toEqual({
      status: 400,
      code: 'INVALID_STORAGE',
      fields: [field],
    });
    expect(body.message).toContain(message);
    expect((await uploadFile(own, 'x')).provider).toBe('external');
  });

  test.each([
    'https://127.0.0.1',
    'https://127.1',
    'https://2130706433',
    'https://0x7f000001',
    'https://0177.0.0.1',
    'https://10.0.0.1:9000',
    'https://192.168.1.1',
    'https://169.254.169.254',
    'https://0.0.0.0',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]',
    'https://[fd00::1]',
    'https://localhost',
    'https://minio.internal',
    'https://minio.local',
    'https://metadata.google.internal',
  ])('400 with the endpoint %s, which customers may not use', async (endpoint) => {
    const { status, body } = await connect(project, { endpoint });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'INVALID_STORAGE' });
    // The local stack also explains how to permit such an address.
    expect(body.message).toMatch(
      /^endpoint must be a host on the public internet; this one is private or reserved\.(?: Locally, restart with \S+ npm start, and use http:\S+\.)?$/,
    );
  });

  test.each<[string, object, string]>([
    ['an endpoint without TLS', { endpoint: 'http://s3.example.com' }, 'INVALID_STORAGE'],
    ['an endpoint with a query', { endpoint: 'https://s3.example.com/?a' }, 'VALIDATION_FAILED'],
    ['an endpoint with a user', { endpoint: 'https://a:b@s3.example.com' }, 'VALIDATION_FAILED'],
    ['an invalid endpoint', { endpoint: 's3.example.com' }, 'VALIDATION_FAILED'],
    ['an endpoint of another scheme', { endpoint: 'file:///etc/passwd' }, 'VALIDATION_FAILED'],
    ['an operator for an endpoint', { endpoint: { $ne: '' } }, 'VALIDATION_FAILED'],
    ['no endpoint', { endpoint: undefined }, 'VALIDATION_FAILED'],
    ['a region with a slash', { region: 'eu/1' }, 'VALIDATION_FAILED'],
    ['a bucket that leads elsewhere', { bucket: '../other' }, 'VALIDATION_FAILED'],
    ['a bucket in capitals', { bucket: 'Bucket' }, 'VALIDATION_FAILED'],
    ['an access key with a line break', { accessKeyId: 'a\r\nx-evil: 1' }, 'VALIDATION_FAILED'],
    ['an empty secret', { secretAccessKey: '' }, 'VALIDATION_FAILED'],
    ['a public host with a script', { publicHost: 'javascript://x' }, 'VALIDATION_FAILED'],
    ['a public host with a query', { publicHost: 'https://x.example.com/?a=' }, 'VALIDATION_FAILED'],
    ['an unknown field', { keys: 'x' }, 'VALIDATION_FAILED'],
  ])('400 with %s', async (_what, change, code) => {
    expect(await connect(project, change)).toMatchObject({ status: 400, body: { code } });
  });
});
