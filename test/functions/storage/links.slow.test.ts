import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { request as rawRequest } from 'node:http';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { respondWithVariant } from '../../../shared/files/images/make.ts';
import { variantUsage } from '../../../shared/files/images/variant-items.ts';
import { currentLinkKey, linkKeyOf } from '../../../shared/files/link-keys.ts';
import { storageUsage } from '../../../shared/files/list-files.ts';
import { signedAddress } from '../../../shared/files/signed-links.ts';
import { confirm, put, read, remove, request, uploadFile } from '../../support/fixtures/files.ts';
import { linkAttacks, type Target } from '../../support/fixtures/link-attacks.ts';
import { newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';
import { storageProject } from '../../support/fixtures/storage-project.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

interface Link {
  readonly path: string;
  readonly url?: string;
  readonly expiresAt?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

const secret = 'nobody sees this without a link';

let project: UsersProject;
let other: TestProject;

beforeAll(async () => {
  const developer = await newDeveloper();
  [project, other] = await Promise.all([newUsersProject({ owner: developer }), newProject([], developer)]);
});

/** A confirmed private file; with `token` that user's. */
const privateFile = async (
  of: TestProject = project,
  token?: string,
  content: string | Buffer = secret,
): Promise<string> => {
  const isText = typeof content === 'string';
  const [filename, contentType] = isText ? ['secret.txt', 'text/plain'] : ['secret.png', 'image/png'];
  const body = { filename, contentType, size: content.length, visibility: 'private' };
  const requested = await of.api<{ signedUrl: string; filePath: string }>('POST', '/api/storage/upload-request', {
    body,
    ...(token && { token }),
  });
  expect(requested.status).toBe(200);
  const { signedUrl, filePath } = requested.body;
  expect(await put(signedUrl, content, contentType)).toBe(200);
  const { status, body: confirmed } = await confirm(of, filePath, content.length);
  expect({ status, confirmed }).toMatchObject({ status: 200, confirmed: { url: null, path: filePath } });
  expect(confirmed).not.toHaveProperty('warning');
  return filePath;
};

/** A private image that contains the secret. */
const privatePicture = async (of: TestProject = project): Promise<string> => {
  const shown = sharp({ create: { width: 300, height: 200, channels: 3, background: '#c33' } });
  return privateFile(of, undefined, Buffer.concat([await shown.png().toBuffer(), Buffer.from(secret)]));
};

const sign = (paths: readonly unknown[], more: object = {}, options: object = {}) =>
  project.api<{ data: Link[]; code?: string; errors?: { field: string }[] }>('POST', '/api/storage/sign', {
    body: { paths, ...more },
    ...options,
  });

const linkTo = async (path: string, of: TestProject = project, size: object = {}): Promise<string> => {
  const { body } = await of.api<{ data: Link[] }>('POST', '/api/storage/sign', { body: { paths: [path], ...size } });
  return body.data[0]?.url ?? '';
};

const visibility = (path: string, to: string, of: TestProject = project) =>
  of.api<{ data: { url: string | null; visibility: string }; code?: string }>('PATCH', '/api/storage/file', {
    body: { path, visibility: to },
  });

const hostOf = (url: string): string => new URL(url).origin;

/** Requests a URL without `fetch`'s normalization. */
const asItStands = (url: string): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const path = url.slice(url.indexOf('/', 'http://'.length)).replaceAll(' ', '%20');
    rawRequest({ hostname, port, path }, (response) => {
      const chunks: Buffer[] = [];
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    })
      .on('error', reject)
      .end();
  });

describe('a private file', () => {
  test('is served only by a signed link, for its reader', async () => {
    const path = await privateFile();
    const url = await linkTo(path);
    const found = await fetch(url);
    expect([found.status, await found.text()]).toEqual([200, secret]);
    expect(found.headers.get('cache-control')).toBe('private, max-age=300');
    expect((await fetch(`${hostOf(url)}/${path}`)).status).toBe(404);
    expect((await fetch(url.split('?')[0] ?? '')).status).toBe(403);
  });

  test('supports ranges and 304 by its link', async () => {
    const url = await linkTo(await privateFile());
    const part = await fetch(url, { headers: { range: 'bytes=0-5' } });
    expect([part.status, await part.text()]).toEqual([206, 'nobody']);
    const etag = part.headers.get('etag') ?? '';
    expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
  });

  test('is unreadable by its link after its deletion', async () => {
    const path = await privateFile();
    const url = await linkTo(path);
    expect((await remove(project, path)).status).toBe(200);
    expect((await fetch(url)).status).toBe(404);
    expect((await sign([path])).body.data).toEqual([
      { path, error: { code: 'FILE_NOT_FOUND', message: expect.any(String) } },
    ]);
  });

  test('400 VALIDATION_FAILED for another visibility', async () => {
    const body = { filename: 'a.txt', contentType: 'text/plain', size: 1, visibility: 'secret' };
    const { status, body: refused } = await project.api<{ code: string }>('POST', '/api/storage/upload-request', {
      body,
    });
    expect([status, refused.code]).toEqual([400, 'VALIDATION_FAILED']);
  });
});

describe('changing the visibility', () => {
  test('to private ends the public URL immediately, to public no link', async () => {
    const { path, url } = await uploadFile(project, 'seen');
    expect(await linkTo(path)).toBe(url);
    expect((await visibility(path, 'private')).body.data).toEqual({ path, visibility: 'private', url: null });
    expect((await fetch(url ?? '')).status).toBe(404);
    const link = await linkTo(path);
    expect((await visibility(path, 'public')).body.data).toEqual({ path, visibility: 'public', url });
    expect([(await read(url)).text, (await read(link)).text]).toEqual(['seen', 'seen']);
    expect((await remove(project, path)).status).toBe(200);
    expect([(await fetch(url ?? '')).status, (await fetch(link)).status]).toEqual([404, 404]);
  });

  test('to the same value changes nothing', async () => {
    const { path, url } = await uploadFile(project, 'seen');
    expect((await visibility(path, 'public')).status).toBe(200);
    expect((await read(url)).text).toBe('seen');
  });

  test('is not undone when a confirmation is repeated', async () => {
    const { signedUrl, filePath } = (await request(project, 5)).body;
    await put(signedUrl, 'hello');
    const { url } = (await confirm(project, filePath, 5)).body;
    expect((await visibility(filePath, 'private')).status).toBe(200);
    await put(signedUrl, 'other');
    expect((await confirm(project, filePath, 5)).body).toMatchObject({ path: filePath, url: null });
    expect((await fetch(url ?? '')).status).toBe(404);
    expect((await read(await linkTo(filePath))).text).toBe('hello');
  });

  test('by 50 concurrent requests leaves the file in the state of the last one', async () => {
    const { path, url } = await uploadFile(project, 'seen');
    const tries = Array.from({ length: 50 }, (_, at) => visibility(path, at % 2 === 0 ? 'private' : 'public'));
    const statuses = new Set((await Promise.all(tries)).map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(statuses).toContain(200);
    for (const to of ['public', 'private'] as const) {
      expect((await visibility(path, to)).status).toBe(200);
      expect((await fetch(url ?? '')).status).toBe(to === 'public' ? 200 : 404);
      expect((await read(await linkTo(path))).text).toBe('seen');
    }
  });

  test.each([
    ['one that is malformed', async () => 'a/b'],
    ['one of another project', async () => (await uploadFile(other, 'x')).path],
    ['one that is not confirmed', async () => (await request(project, 5)).body.filePath],
    [
      'one that is deleted',
      async () => {
        const { path } = await uploadFile(project, 'x');
        await remove(project, path);
        return path;
      },
    ],
  ])('404 FILE_NOT_FOUND %s', async (_what, make) => {
    const { status, body } = await visibility(await make(), 'private');
    expect([status, body.code]).toEqual([404, 'FILE_NOT_FOUND']);
  });
});

describe('signing', () => {
  test('responds in the order of the request, with errors in place', async () => {
    const [mine, theirs] = [await privateFile(), await privateFile(other)];
    const unconfirmed = (await request(project, 5)).body.filePath;
    const { status, body } = await sign([theirs, mine, 'a/b', unconfirmed, mine], { expiresIn: 60 });
    expect(status).toBe(200);
    expect(body.data.map(({ path, error }) => [path, error?.code])).toEqual([
      [theirs, 'FILE_NOT_FOUND'],
      [mine, undefined],
      ['a/b', 'FILE_NOT_FOUND'],
      [unconfirmed, 'FILE_NOT_FOUND'],
      [mine, undefined],
    ]);
    const until = Date.parse(body.data[1]?.expiresAt ?? '') - Date.now();
    expect(until).toBeGreaterThan(0);
    expect(until).toBeLessThanOrEqual(60_000);
  });

  test('accepts 100 paths in one call', async () => {
    const path = await privateFile();
    const { body } = await sign(Array.from({ length: 100 }, () => path));
    expect(body.data.filter(({ url }) => url !== undefined)).toHaveLength(100);
  });

  test.each([
    ['101 paths', { paths: Array.from({ length: 101 }, () => 'a/b') }, 'paths'],
    ['no paths', { paths: [] }, 'paths'],
    ['a path that is no text', { paths: [1] }, 'paths.0'],
    ['paths that are no list', { paths: 'a/b' }, 'paths'],
    ['59 seconds', { paths: ['a/b'], expiresIn: 59 }, 'expiresIn'],
    ['more than a week', { paths: ['a/b'], expiresIn: 604_801 }, 'expiresIn'],
    ['parts of a second', { paths: ['a/b'], expiresIn: 60.5 }, 'expiresIn'],
    ['text for a time', { paths: ['a/b'], expiresIn: '60' }, 'expiresIn'],
  ])('400 VALIDATION_FAILED %s', async (_what, body, field) => {
    const refused = await project.api<{ code: string; errors: { field: string }[] }>('POST', '/api/storage/sign', {
      body,
    });
    expect([refused.status, refused.body.code, refused.body.errors[0]?.field]).toEqual([
      400,
      'VALIDATION_FAILED',
      field,
    ]);
  });

  test('with a publishable key returns links to the user’s own files only', async () => {
    const [ann, bob] = [await project.newUser(), await project.newUser()];
    const [hers, his, nobodys] = [
      await privateFile(project, ann.accessToken),
      await privateFile(project, bob.accessToken),
      await privateFile(),
    ];
    const asAnn = { key: project.publishableKey, token: ann.accessToken };
    const { status, body } = await sign([hers, his, nobodys], {}, asAnn);
    expect(status).toBe(200);
    expect(body.data.map(({ url, error }) => error?.code ?? typeof url)).toEqual([
      'string',
      'FILE_NOT_FOUND',
      'FILE_NOT_FOUND',
    ]);
    expect((await read(body.data[0]?.url ?? '')).text).toBe(secret);
    expect((await visibility(hers, 'public')).status).toBe(200);
    expect((await sign([hers], {}, asAnn)).body.data[0]?.url).toEqual(expect.any(String));
  });

  test('401 with a publishable key and a missing or invalid token', async () => {
    const key = project.publishableKey;
    expect(await sign(['a/b'], {}, { key })).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
    expect(await sign(['a/b'], {}, { key, token: 'x.y.z' })).toMatchObject({
      status: 401,
      body: { code: 'TOKEN_INVALID' },
    });
  });

  test('with an invalid token and a secret key uploads a file without an owner', async () => {
    const path = await privateFile(project, 'x.y.z');
    expect((await sign([path], {}, { token: 'x.y.z' })).body.data[0]?.url).toEqual(expect.any(String));
    const ann = await project.newUser();
    const asAnn = { key: project.publishableKey, token: ann.accessToken };
    expect((await sign([path], {}, asAnn)).body.data[0]?.error?.code).toBe('FILE_NOT_FOUND');
  });
});

const usage = async () => {
  const { used, held, files } = await storageUsage({ ...storageProject(), id: project.id });
  return { used, held, files };
};

const cached = () => variantUsage(project.id);

describe('a link to an image variant', () => {
  test('opens only that variant, which is cached until the file becomes public', async () => {
    const path = await privatePicture();
    const before = await usage();
    const link = await linkTo(path, project, { width: 64, format: 'webp' });
    expect(link).toContain(`/private/${path}?w=64&format=webp&Expires=`);
    const found = await fetch(link);
    const bytes = Buffer.from(await found.arrayBuffer());
    expect([found.status, found.headers.get('cache-control')]).toEqual([200, 'private, max-age=300']);
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'webp', width: 64, height: 43 });
    expect(await cached()).toBe(bytes.length);
    expect((await fetch(link)).status).toBe(200);
    expect(await cached()).toBe(bytes.length);
    const opened = (await visibility(path, 'public')).body.data.url ?? '';
    expect([await usage(), await cached()]).toEqual([before, 0]);
    expect(await linkTo(path, project, { width: 64, format: 'webp' })).toBe(`${opened}?w=64&format=webp`);
    expect((await fetch(`${opened}?format=webp&w=64`)).status).toBe(200);
    expect(await cached()).toBe(bytes.length);
    expect((await visibility(path, 'private')).status).toBe(200);
    expect([await usage(), await cached()]).toEqual([before, 0]);
    expect((await fetch(`${opened}?format=webp&w=64`)).status).toBe(404);
  });

  test('to a file that is no image returns an error that is not cached', async () => {
    const path = await privateFile();
    const refused = await fetch(await linkTo(path, project, { width: 64 }));
    expect([refused.status, refused.headers.get('cache-control')]).toEqual([415, 'no-store']);
    expect(await refused.json()).toMatchObject({ success: false, code: 'NOT_AN_IMAGE', requestId: expect.any(String) });
  });

  test.each([
    [{ width: 65 }, 'width must be one of 64, 128'],
    [{ height: 0 }, 'height must be one of 64, 128'],
    [{ width: 64.5 }, 'width must be one of 64, 128'],
    [{ width: -64 }, 'width must be one of 64, 128'],
    [{ width: 1e300 }, 'width must be one of 64, 128'],
    [{ width: 64, height: 64, fit: 'fill' }, 'fit must be one of cover, contain.'],
    [{ format: 'gif' }, 'format must be one of webp, avif, jpeg, png.'],
    [{ format: '' }, 'format must be one of webp, avif, jpeg, png.'],
  ])('400 INVALID_SIZE for the whole call with %j', async (size, message) => {
    const { status, body } = await sign([await privatePicture(), 'a/b'], size);
    expect([status, body]).toMatchObject([400, { code: 'INVALID_SIZE', message: expect.stringContaining(message) }]);
  });
});

/** The URL as a proxy might decode it. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

describe('a table of attacks on a private image', () => {
  test('has at least 300 of them, and none reads a byte of the image or of a variant', async () => {
    const path = await privatePicture();
    const link = await linkTo(path);
    const sized = await linkTo(path, project, { width: 64 });
    expect((await fetch(sized)).status).toBe(200);
    const address = link.split('?')[0] ?? '';
    const now = Math.floor(Date.now() / 1000);
    const known = await currentLinkKey();
    const stranger = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
    const rsa = createPrivateKey(
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
    );
    const others = await Promise.all([
      privateFile().then((one) => linkTo(one)),
      privateFile(other).then((one) => linkTo(one, other)),
      privateFile(project, undefined, 'another').then((one) => linkTo(one)),
    ]);
    const otherSized = await Promise.all([
      privatePicture().then((one) => linkTo(one, project, { width: 64 })),
      privatePicture(other).then((one) => linkTo(one, other, { width: 64 })),
    ]);
    const target: Target = {
      host: hostOf(link),
      path,
      link,
      sized,
      otherSized,
      expired: signedAddress(address, now - 1, known),
      others,
      forged: [
        signedAddress(address, now + 60, { id: known.id, privateKey: stranger }),
        signedAddress(address, now + 60, { id: known.id, privateKey: rsa }),
        signedAddress(address, now + 60, { id: 'stranger', privateKey: stranger }),
        signedAddress(address, now + 60, { id: known.id, privateKey: await linkKeyOf('another period') }),
        signedAddress(address.replace('127.0.0.1', 'localhost'), now + 60, known).replace('localhost', '127.0.0.1'),
        signedAddress(address.replace('/private/', '/'), now + 60, known).replace(path, `private/${path}`),
        signedAddress(address.replace('http:', 'https:'), now + 60, known).replace('https:', 'http:'),
        signedAddress(address.replace(path, '*'), now + 60, known).replace('*', path),
      ],
    };
    const attacks = linkAttacks(target);
    expect(new Set(attacks.map(([, url]) => url)).size).toBeGreaterThanOrEqual(300);
    const read: string[] = [];
    for (const [what, url] of attacks) {
      const { status, text } = await asItStands(url);
      if (text.includes(secret) || status < 400) read.push(`${what} ${status}`);
    }
    expect(read).toEqual([]);
    // The function that makes variants does not either, however the URL is decoded.
    const asked = attacks.map(([, url]) => new URL(url, target.host)).map(({ pathname }) => pathname);
    const paths = new Set(asked.flatMap((one) => [one, decoded(one), decoded(decoded(one))]));
    for (const rawPath of paths) {
      const made = await respondWithVariant({
        rawPath,
        headers: { 'x-visibility': 'public' },
        requestContext: { requestId: '' },
      });
      if (made.statusCode < 400) read.push(`the function at ${rawPath}`);
    }
    expect(read).toEqual([]);
    // The links still open it, and their responses are not cached for others.
    expect((await asItStands(link)).text).toContain(secret);
    expect((await asItStands(sized)).status).toBe(200);
    expect((await asItStands(address)).status).toBe(403);
    expect((await asItStands(`${address}?w=64`)).status).toBe(403);
  });
});
