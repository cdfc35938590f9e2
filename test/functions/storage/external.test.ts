import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { permitAddresses } from '../../../infra/local/permit-addresses.ts';
import { clock } from '../../../shared/core/clock.ts';
import { sweepUploads } from '../../../shared/files/cleanup.ts';
import { confirmUpload } from '../../../shared/files/confirm-upload.ts';
import { deleteFile } from '../../../shared/files/delete-files.ts';
import { externalBucket } from '../../../shared/files/external-bucket.ts';
import { developerAccess, fileKey, pendingKey } from '../../../shared/files/file-items.ts';
import { listFiles, storageUsage } from '../../../shared/files/list-files.ts';
import { changeVisibility } from '../../../shared/files/move-file.ts';
import { requestParts, requestUpload } from '../../../shared/files/request-upload.ts';
import { signLinks } from '../../../shared/files/signed-links.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { inParallel } from '../../support/clients/client.ts';
import { type OtherStorage, placeFor, startOtherStorage } from '../../support/clients/other-storage.ts';
import { promisedMs } from '../../support/data/promised.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';
import { HttpProxy } from '../../support/faults/http-proxy.ts';
import { put } from '../../support/fixtures/files.ts';
import { useOwnTable } from '../../support/fixtures/own-table.ts';
import { newProject } from '../../support/fixtures/project.ts';

const MiB = 1024 * 1024;

let storage: OtherStorage;
let project: Project;

const realNow = clock.now;

beforeAll(async () => {
  await useOwnTable();
  storage = await startOtherStorage();
  project = await storage.project();
});

afterEach(() => {
  clock.now = realNow;
});

afterAll(() => storage.stop());

const request = (size: number, of = project) =>
  requestUpload(of, { filename: 'a.txt', contentType: 'text/plain', size });

const uploaded = async (of = project): Promise<string> => {
  const { signedUrl, filePath } = await request(5, of);
  expect(await put(signedUrl, 'hello')).toBe(200);
  return filePath;
};

/** Writes a storage into a project, as connecting it does. */
const connect = async (projectId: string, to: Parameters<typeof placeFor>[1]): Promise<void> => {
  const place = await placeFor(projectId, to, storage.publicHost);
  await onControl((db) =>
    db.collection('projects').updateOne({ _id: new ObjectId(projectId) }, { $set: { storage: place } }),
  );
};

/** A project with a record, which jobs can find. */
const developerProject = async () => {
  const { id } = await newProject();
  return { id, project: { ...project, id, storage: await placeFor(id, storage, storage.publicHost) } };
};

const managed = (): Project => ({ ...project, storage: { kind: 'managed' } });
const bucket = () => externalBucket(storage, storage.keys);

describe('a project with its own bucket', () => {
  test('uploads to it, serves from its public host and deletes from it', async () => {
    const filePath = await uploaded();
    const confirmed = await confirmUpload(project, filePath, 5);
    expect(confirmed).toEqual({
      path: filePath,
      name: 'a.txt',
      provider: 'external',
      url: `${storage.publicHost}/files/${filePath}`,
    });
    const file = await fetch(confirmed.url ?? '');
    expect([await file.text(), file.headers.get('content-disposition')]).toEqual(['hello', 'inline; filename="a.txt"']);
    expect(await confirmUpload(project, filePath, 5)).toEqual(confirmed);
    await deleteFile(project, filePath);
    expect([await bucket().head(fileKey(filePath, 'public')), await bucket().head(pendingKey(filePath))]).toEqual([
      null,
      null,
    ]);
    expect(await laterRefusalOf(confirmUpload(project, filePath, 5))).toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  test('gets a warning instead of a URL when it has no public host', async () => {
    const hidden = await storage.project(null);
    const filePath = await uploaded(hidden);
    expect(await confirmUpload(hidden, filePath, 5)).toEqual({
      path: filePath,
      name: 'a.txt',
      provider: 'external',
      url: null,
      warning: expect.stringContaining('public'),
    });
  });

  test('has no size limit and no quota', async () => {
    const requests = await inParallel(3, () => request(500 * MiB));
    expect(new Set(requests.map(({ filePath }) => filePath)).size).toBe(3);
    expect(await storageUsage(project)).toMatchObject({ limit: null, held: 1500 * MiB });
  });

  test('charges a file once when 50 confirm it concurrently', async () => {
    const { used, files } = await storageUsage(project);
    const filePath = await uploaded();
    const answers = await inParallel(50, () => confirmUpload(project, filePath, 5));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(await storageUsage(project)).toMatchObject({ used: used + 5, files: files + 1 });
  });

  test('accepts files in parts', async () => {
    const { filePath } = await request(5);
    const [part] = (await requestParts(project, developerAccess, { filePath })).parts;
    expect(await laterRefusalOf(confirmUpload(project, filePath, 5))).toMatchObject({ code: 'UPLOAD_NOT_READY' });
    expect(await put(part?.signedUrl ?? '', 'hello')).toBe(200);
    expect(await requestParts(project, developerAccess, { filePath })).toMatchObject({ uploaded: 5, parts: [] });
    expect(await (await fetch((await confirmUpload(project, filePath, 5)).url ?? '')).text()).toBe('hello');
  });

  test('409 UPLOAD_NOT_READY and 400 SIZE_MISMATCH as with our bucket', async () => {
    const { filePath } = await request(5);
    expect(await laterRefusalOf(confirmUpload(project, filePath, 5))).toMatchObject({ code: 'UPLOAD_NOT_READY' });
    const other = await uploaded();
    expect(await laterRefusalOf(confirmUpload(project, other, 6))).toMatchObject({ code: 'SIZE_MISMATCH' });
  });

  test('503 STORAGE_UNAVAILABLE without details when its keys are rejected', async () => {
    const revoked = await storage.project();
    const { filePath } = await request(5, revoked);
    const place = revoked.storage as Extract<Project['storage'], { kind: 'external' }>;
    const wrong = { ...revoked, storage: { ...place, region: 'us-west-1' } };
    const refusal = await laterRefusalOf(confirmUpload(wrong, filePath, 5));
    expect(refusal).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  });

  test('cannot open keys that were sealed for another project', async () => {
    const theirs = { ...(await storage.project()), storage: project.storage };
    await expect(request(5, theirs)).rejects.toThrow(/unable to authenticate/);
  });
});

describe('a private file in a customer’s bucket', () => {
  test('409 HOSTED_FILES_ONLY for image variants', async () => {
    const filePath = await uploaded();
    const links = signLinks(project, developerAccess, { paths: [filePath], expiresIn: 60, width: 64 });
    expect((await laterRefusalOf(links)).code).toBe('HOSTED_FILES_ONLY');
  });

  const linkTo = async (path: string): Promise<string> => {
    const [link] = await signLinks(project, developerAccess, { paths: [path], expiresIn: 60 });
    return link && 'url' in link ? link.url : '';
  };
  const textAt = async (url: string): Promise<string> => {
    const answer = await fetch(url);
    return answer.ok ? answer.text() : String(answer.status);
  };

  test('has no URL; a presigned link opens it, and no variation of that link does', async () => {
    const upload = { filename: 'a.txt', contentType: 'text/plain', size: 5, visibility: 'private' } as const;
    const { signedUrl, filePath } = await requestUpload(project, upload);
    expect(await put(signedUrl, 'hello')).toBe(200);
    const confirmed = await confirmUpload(project, filePath, 5);
    expect(confirmed).toEqual({ path: filePath, name: 'a.txt', provider: 'external', url: null });
    const link = await linkTo(filePath);
    expect(link).toContain(`${storage.endpoint}/${storage.bucket}/private/${filePath}?`);
    expect(await textAt(link)).toBe('hello');
    const other = await uploaded();
    const made = [
      link.split('?')[0] ?? '',
      link.replace('X-Amz-Expires=60', 'X-Amz-Expires=3600'),
      link.replace('/private/', '/files/'),
      link.replace(filePath, other),
      link.replace(filePath, filePath.slice(0, -1)),
      link.replace(/X-Amz-Signature=.{8}/, 'X-Amz-Signature=00000000'),
      `${link}&response-content-type=text/html`,
    ];
    for (const url of made) expect(await textAt(url), url).toBe('403');
    expect((await fetch(link, { method: 'PUT', body: 'other' })).status).toBe(403);
    expect((await fetch(link, { method: 'DELETE' })).status).toBe(403);
  });

  test('has links that stay valid when it becomes public, but not after its deletion', async () => {
    const filePath = await uploaded();
    const { url } = await confirmUpload(project, filePath, 5);
    expect(await changeVisibility(project, filePath, 'private')).toEqual({
      path: filePath,
      visibility: 'private',
      url: null,
    });
    expect(await textAt(url ?? '')).toBe('404');
    const link = await linkTo(filePath);
    expect(await textAt(link)).toBe('hello');
    expect(await changeVisibility(project, filePath, 'public')).toEqual({ path: filePath, visibility: 'public', url });
    expect([await textAt(url ?? ''), await textAt(link), await linkTo(filePath)]).toEqual(['hello', 'hello', url]);
    await changeVisibility(project, filePath, 'private');
    const last = await linkTo(filePath);
    await deleteFile(project, filePath);
    expect(await textAt(last)).toBe('404');
    expect(await signLinks(project, developerAccess, { paths: [filePath], expiresIn: 60 })).toMatchObject([
      { error: { code: 'FILE_NOT_FOUND' } },
    ]);
  });
});

describe('files belong to the bucket they were uploaded to', () => {
  test('404 and not counted in another bucket; 200 when the first one is connected again', async () => {
    const filePath = await uploaded();
    const pending = await uploaded();
    await confirmUpload(project, filePath, 5);
    const before = await storageUsage(project);
    for (const path of [filePath, pending]) {
      expect(await laterRefusalOf(confirmUpload(managed(), path, 5))).toMatchObject({ code: 'FILE_NOT_FOUND' });
      expect(await laterRefusalOf(deleteFile(managed(), path))).toMatchObject({ code: 'FILE_NOT_FOUND' });
    }
    expect(await storageUsage(managed())).toMatchObject({ used: 0, held: 0 });
    expect(await listFiles(managed(), { page: 1, limit: 10 })).toMatchObject({ items: [], total: 0 });
    expect(await storageUsage(project)).toEqual(before);
    expect(await confirmUpload(project, pending, 5)).toMatchObject({ path: pending });
    const [newest] = (await listFiles(project, { page: 1, limit: 1 })).items;
    expect(newest).toMatchObject({ path: pending, url: `${storage.publicHost}/files/${pending}` });
  });
});

describe('the cleanup', () => {
  const hour = 3600 * 1000;
  let start = 0;

  /** Sets the clock to `hours` after the start of a test. */
  const atHour = (hours: number): void => {
    clock.now = () => realNow() + start + hours * hour;
  };

  // Each test starts after the last cleanup of the one before, which leaves nothing due.
  beforeEach(() => {
    start += 72 * hour;
    atHour(0);
  });

  test('ends reservations of deleted projects and of replaced buckets, and continues', async () => {
    const gone = await storage.project();
    await request(5, gone);
    const ours: Project = { ...gone, storage: { kind: 'managed' } };
    await requestUpload(ours, { filename: 'a', contentType: 'a/b', size: 7 });
    atHour(25);
    await sweepUploads();
    expect(await storageUsage(gone)).toMatchObject({ held: 0 });
    expect(await storageUsage(ours)).toMatchObject({ held: 0 });
  });

  test('removes nothing from the bucket that replaced another one', async () => {
    const { id, project: owner } = await developerProject();
    const former = await placeFor(id, { ...storage, bucket: 'former-bucket' }, storage.publicHost);
    const { filePath } = await request(5, { ...owner, storage: former });
    await connect(id, storage);
    const keys = [pendingKey(filePath), fileKey(filePath, 'public')];
    for (const key of keys) await bucket().put(key, Buffer.from('theirs'), 'text/plain');
    atHour(25);
    expect(await sweepUploads()).toBeGreaterThan(0);
    expect(await storageUsage({ ...owner, storage: former })).toMatchObject({ held: 0 });
    for (const key of keys) expect(await bucket().head(key)).not.toBeNull();
  });

  test('ends a reservation when the storage rejects us, and retries the removal for a week', async () => {
    const owner = await developerProject();
    await connect(owner.id, storage);
    const { signedUrl } = await request(5, owner.project);
    await put(signedUrl, 'hello');
    const key = new URL(signedUrl).pathname.split(`/${storage.bucket}/`)[1] ?? '';
    await connect(owner.id, { ...storage, keys: { ...storage.keys, secretAccessKey: 'revoked' } });
    atHour(25);
    await sweepUploads();
    expect(await storageUsage(owner.project)).toMatchObject({ held: 0 });
    expect(await bucket().head(key)).not.toBeNull();
    await connect(owner.id, storage);
    atHour(48);
    expect(await sweepUploads()).toBe(1);
    expect(await bucket().head(key)).toBeNull();
  });
});

describe('503 STORAGE_UNAVAILABLE in bounded time when the storage', () => {
  let server: HttpProxy;

  const serve = async (fault: Parameters<HttpProxy['meet']>[0]): Promise<ReturnType<typeof externalBucket>> => {
    server = await HttpProxy.start();
    server.meet(fault);
    permitAddresses(`${new URL(server.url).host},${new URL(storage.endpoint).host}`);
    return externalBucket({ ...storage, endpoint: server.url }, storage.keys);
  };

  afterEach(() => server.close());

  const copy = { from: 'a', to: 'b', etag: '"a"', contentType: 'a/b' };
  const inBoundedTime = async (act: Promise<unknown>): Promise<void> => {
    const begin = performance.now();
    expect(await laterRefusalOf(act)).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect(performance.now() - begin).toBeLessThan(promisedMs);
  };

  test('redirects: the redirect is not followed', async () => {
    const target = process.env.AWS_ENDPOINT_URL_S3 ?? '';
    const bad = await serve({ status: 307, headers: { location: `${target}/basalt-files/a` } });
    await inBoundedTime(bad.head('a'));
    await inBoundedTime(bad.put('a', Buffer.from('a'), 'a/b'));
    expect(server.asked.length).toBeGreaterThan(0);
  });

  test('never ends its response', async () => {
    const bad = await serve(({ method }) =>
      method === 'HEAD' ? { status: 404 } : { headers: { 'content-type': 'application/xml' }, endless: 'fast' },
    );
    await inBoundedTime(bad.copy(copy));
  });
});
