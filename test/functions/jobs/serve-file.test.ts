import { generateKeyPairSync } from 'node:crypto';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { handler } from '../../../functions/jobs/serve-file.ts';
import { nowSeconds } from '../../../shared/core/clock.ts';
import { fileKey } from '../../../shared/files/file-items.ts';
import { currentLinkKey } from '../../../shared/files/link-keys.ts';
import { signedAddress } from '../../../shared/files/signed-links.ts';
import { onFiles } from '../../../shared/persistence/s3.ts';
import { inParallel } from '../../support/clients/client.ts';
import { confirm, put, remove, uploadFile } from '../../support/fixtures/files.ts';
import { linkAttacks } from '../../support/fixtures/link-attacks.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

const host = 'abc.lambda-url.eu-west-1.on.aws';
const secret = 'nobody sees this without a link';

let project: TestProject;
let picture: Buffer;
let publicPath: string;
let privatePath: string;

interface Served {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded?: boolean;
}

/** The function's response at its own address. */
const ask = (address: string, method = 'GET'): Promise<Served> => {
  const [rawPath = '/', rawQueryString = ''] = address.replace(`https://${host}`, '').split('?', 2);
  const requestContext = { requestId: 'request-1', domainName: host, http: { method } };
  return handler({ rawPath, rawQueryString, requestContext });
};

/** The response at the address to which the function redirects. */
const follow = async ({ headers }: Served, method = 'GET', more: Record<string, string> = {}): Promise<Response> =>
  fetch(headers.location ?? '', { method, headers: more });

const codeOf = ({ statusCode, body }: Served) => [statusCode, (JSON.parse(body) as { readonly code: string }).code];

const linkTo = async (path: string, seconds = 600, query = ''): Promise<string> =>
  signedAddress(`https://${host}/private/${path}${query}`, nowSeconds() + seconds, await currentLinkKey());

const upload = async (bytes: Buffer | string, contentType: string, visibility: string): Promise<string> => {
  const body = { filename: 'ä.bin', contentType, size: bytes.length, visibility };
  const requested = await project.api<{ signedUrl: string; filePath: string }>('POST', '/api/storage/upload-request', {
    body,
  });
  expect(await put(requested.body.signedUrl, bytes, contentType)).toBe(200);
  expect((await confirm(project, requested.body.filePath, bytes.length)).status).toBe(200);
  return requested.body.filePath;
};

const removeObject = (Key: string) =>
  onFiles(async (client, Bucket) => {
    const { DeleteObjectCommand } = await import('@aws-sdk/client-s3');
    await client.send(new DeleteObjectCommand({ Bucket, Key }));
  });

beforeAll(async () => {
  project = await newProject();
  picture = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#c33' } })
    .png()
    .toBuffer();
  publicPath = (await uploadFile(project, picture, 'image/png')).path;
  privatePath = await upload(secret, 'text/plain', 'private');
});

describe('a public file', () => {
  test('is at the address of the redirect, with type, cache rule and ranges', async () => {
    const served = await ask(`/${publicPath}`);
    expect(served).toMatchObject({
      statusCode: 302,
      headers: {
        'cache-control': 'public, max-age=240',
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
        'x-content-type-options': 'nosniff',
      },
    });
    expect(new URL(served.headers.location ?? '').searchParams.get('X-Amz-Expires')).toBe('300');
    const found = await follow(served);
    expect([found.status, found.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(found.headers.get('cache-control')).toBe('public, max-age=86400, immutable');
    expect(found.headers.get('content-disposition')).toMatch(/^inline; filename="/);
    expect(Buffer.from(await found.arrayBuffer()).equals(picture)).toBe(true);
    const part = await follow(served, 'GET', { range: 'bytes=0-3' });
    expect([part.status, Buffer.from(await part.arrayBuffer()).toString('latin1')]).toEqual([206, '\x89PNG']);
  });

  test.each(['text/html', 'image/svg+xml', 'application/javascript', 'application/octet-stream'])(
    'of the type %s is a download when a browser opens it',
    async (type) => {
      const served = await ask(`/${await upload('<script>alert(1)</script>', type, 'public')}`);
      const found = await follow(served);
      expect([found.status, found.headers.get('content-disposition')]).toEqual([
        200,
        `attachment; filename="_.bin"; filename*=UTF-8''%C3%A4.bin`,
      ]);
    },
  );

  test('redirects HEAD to an address that accepts only HEAD', async () => {
    const served = await ask(`/${publicPath}`, 'HEAD');
    expect(served.statusCode).toBe(302);
    const found = await follow(served, 'HEAD');
    expect([found.status, found.headers.get('content-length')]).toEqual([200, String(picture.length)]);
    expect((await follow(served)).status).toBe(403);
  });

  test('404 FILE_NOT_FOUND when it was deleted, was never there or is private', async () => {
    const { path } = await uploadFile(project, 'gone soon');
    expect((await ask(`/${path}`)).statusCode).toBe(302);
    expect((await remove(project, path)).status).toBe(200);
    for (const missing of [path, privatePath, `${project.id}/nothing`]) {
      const served = await ask(`/${missing}`);
      expect(codeOf(served)).toEqual([404, 'FILE_NOT_FOUND']);
      expect(JSON.parse(served.body)).toMatchObject({ success: false, requestId: 'request-1' });
      expect(served.headers).toMatchObject({ 'cache-control': 'no-store', 'access-control-allow-origin': '*' });
    }
  });

  test.each([
    '/',
    '/favicon.ico',
    `/${'0'.repeat(24)}`,
    `/${'0'.repeat(24)}/../x`,
    '/pending/a',
    '/exports/a',
    '/private',
  ])('404 FILE_NOT_FOUND when the address is %s', async (path) => {
    expect(codeOf(await ask(path))).toEqual([404, 'FILE_NOT_FOUND']);
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('403 when the method is %s', async (method) => {
    expect(await ask(`/${publicPath}`, method)).toMatchObject({
      statusCode: 403,
      headers: { 'cache-control': 'no-store' },
    });
  });
});

describe('a private file', () => {
  test('is found with a link, at an address that expires with the link', async () => {
    const served = await ask(await linkTo(privatePath));
    expect(served).toMatchObject({ statusCode: 302, headers: { 'cache-control': 'private, max-age=240' } });
    const found = await follow(served);
    expect([found.headers.get('cache-control'), await found.text()]).toEqual(['private, max-age=300', secret]);
    const short = await ask(await linkTo(privatePath, 40));
    expect(short.headers['cache-control']).toBe('private, max-age=0');
    const opens = Number(new URL(short.headers.location ?? '').searchParams.get('X-Amz-Expires'));
    expect(opens).toBeGreaterThan(0);
    expect(opens).toBeLessThanOrEqual(40);
  });

  test('is found when the gateway has encoded the link’s tildes', async () => {
    const links = await Promise.all(Array.from({ length: 8 }, (_, at) => linkTo(privatePath, 600 + at)));
    expect(links.join()).toContain('~');
    for (const link of links) expect((await ask(link.replaceAll('~', '%7E'))).statusCode).toBe(302);
  });

  test('403 when the link was changed, has expired, is for another host, or is by another key', async () => {
    const link = await linkTo(privatePath);
    const { id } = await currentLinkKey();
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const foreign = { id, privateKey };
    const address = `https://${host}/private/${privatePath}`;
    const bad = [
      address,
      `${link}&w=64`,
      `${link}&Expires=9999999999`,
      link.replace(/Expires=\d+/, 'Expires=9999999999'),
      link.replace(/Signature=./, 'Signature=A'),
      link.replace(privatePath, publicPath),
      link.replace(/&Hash-Algorithm=SHA256/, ''),
      link.replace(/Key-Pair-Id=[^&]+/, 'Key-Pair-Id=other'),
      signedAddress(address, nowSeconds() - 1, await currentLinkKey()),
      signedAddress(address, nowSeconds() + 60, foreign),
      signedAddress(address.replace(host, 'other.example'), nowSeconds() + 60, await currentLinkKey()).replace(
        'https://other.example',
        '',
      ),
    ];
    for (const one of bad) {
      const served = await ask(one);
      expect([served.statusCode, served.headers.location, served.headers['cache-control']], one).toEqual([
        403,
        undefined,
        'no-store',
      ]);
    }
  });

  test('404 FILE_NOT_FOUND when a valid link leads to a file that is gone', async () => {
    expect(codeOf(await ask(await linkTo(`${project.id}/gone`)))).toEqual([404, 'FILE_NOT_FOUND']);
  });
});

/** A path decoded like a gateway does, or unchanged if it cannot be decoded. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

test('a private image is found by none of 300 attacks in any decoding of their addresses', async () => {
  const [path, other, another] = await Promise.all(
    [1, 2, 3].map(() => upload(picture, 'image/png', 'private')) as [Promise<string>, Promise<string>, Promise<string>],
  );
  const [link, sized] = await Promise.all([linkTo(path), linkTo(path, 600, '?w=64')]);
  expect((await ask(sized)).statusCode).toBe(200);
  const address = `https://${host}/private/${path}`;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const { id } = await currentLinkKey();
  const attacks = linkAttacks({
    host: `https://${host}`,
    path,
    link,
    sized,
    otherSized: await Promise.all([other, another].map((one) => linkTo(one, 600, '?w=64'))),
    expired: await linkTo(path, -1),
    others: await Promise.all([other, another].map((one) => linkTo(one))),
    forged: [
      signedAddress(address, nowSeconds() + 60, { id, privateKey }),
      signedAddress(address, nowSeconds() + 60, { id: 'stranger', privateKey }),
      signedAddress(address.replace(path, '*'), nowSeconds() + 60, await currentLinkKey()).replace('*', path),
    ],
  });
  expect(attacks.length).toBeGreaterThanOrEqual(300);
  const found: string[] = [];
  for (const [what, url] of attacks) {
    // Some are a spelling of the link itself.
    const spellings = [url, decoded(url), decoded(decoded(url))].filter((one) => one !== link && one !== sized);
    for (const one of spellings) {
      const { statusCode } = await ask(one);
      if (statusCode < 400) found.push(`${what} ${one}`);
    }
  }
  expect(found).toEqual([]);
  expect((await ask(link)).statusCode).toBe(302);
});

describe('an image size', () => {
  test('is created one time for 50 concurrent readers, and reused', async () => {
    const address = `/${publicPath}?w=64&format=webp`;
    const served = await inParallel(50, () => ask(address));
    for (const { statusCode, headers, body } of served) {
      if (statusCode === 302) continue;
      expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        'image/webp',
        'public, max-age=86400, immutable',
      ]);
      expect((await sharp(Buffer.from(body, 'base64')).metadata()).width).toBe(64);
    }
    expect(served.some(({ statusCode }) => statusCode === 200)).toBe(true);
    const next = await ask(address);
    expect(next.statusCode).toBe(302);
    const found = await follow(next);
    expect((await sharp(Buffer.from(await found.arrayBuffer())).metadata()).format).toBe('webp');
  });

  test('of a private image opens only with a link to that size', async () => {
    const path = await upload(picture, 'image/png', 'private');
    const link = await linkTo(path, 600, '?w=64');
    expect(await ask(link)).toMatchObject({ statusCode: 200, headers: { 'cache-control': 'private, max-age=300' } });
    expect(await ask(link)).toMatchObject({ statusCode: 302, headers: { 'cache-control': 'private, max-age=240' } });
    expect((await ask(link.replace('w=64', 'w=128'))).statusCode).toBe(403);
    expect(codeOf(await ask(`/${path}?w=64`))).toEqual([404, 'FILE_NOT_FOUND']);
  });

  test('400 INVALID_SIZE when the size is not offered', async () => {
    expect(codeOf(await ask(`/${publicPath}?w=65`))).toEqual([400, 'INVALID_SIZE']);
  });

  test('415 NOT_AN_IMAGE when the file is not an image', async () => {
    const path = await upload('words', 'text/plain', 'public');
    expect(codeOf(await ask(`/${path}?w=64`))).toEqual([415, 'NOT_AN_IMAGE']);
  });

  test('404 FILE_NOT_FOUND when the table has the file and the bucket does not', async () => {
    const path = await upload(picture, 'image/png', 'public');
    await removeObject(fileKey(path, 'public'));
    expect(codeOf(await ask(`/${path}?w=64`))).toEqual([404, 'FILE_NOT_FOUND']);
  });
});
