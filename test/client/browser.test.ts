import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { buildClient } from '../../infra/build/client.ts';
import { listen } from '../../infra/local/ports.ts';
import { openChromium } from '../support/clients/chromium.ts';
import { newCredentials, type UsersProject } from '../support/fixtures/users.ts';
import { newShop } from './shop.ts';

let folder: string;
let server: Server;
let site: string;
let project: UsersProject;
let browser: Awaited<ReturnType<typeof openChromium>>;

/** Serves an app’s own site, whose origin differs from the API’s. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'basalt-client-site-'));
  await buildClient(folder);
  server = createServer(async ({ url = '' }, response) => {
    const [, name] = /^\/([a-z]+\.js)$/.exec(url) ?? [];
    const script = name && (await readFile(join(folder, 'dist', name)));
    response.writeHead(200, { 'content-type': script ? 'text/javascript' : 'text/html' });
    response.end(script || '<!doctype html><title>App</title><link rel="icon" href="data:,">');
  });
  site = `http://localhost:${await listen(server, 0)}`;
  [project, browser] = await Promise.all([newShop(), openChromium()]);
});

afterAll(async () => {
  await browser.close();
  await new Promise((done) => server.close(done));
  await rm(folder, { recursive: true, force: true });
});

/** Returns a page script in which `app` is the client. */
const withApp = (lines: string, key = project.publishableKey): string => `(async () => {
  const { basalt, BasaltError } = await import('/index.js');
  const app = basalt(${JSON.stringify(inject('stack').baseUrl)}, ${JSON.stringify(key)});
  ${lines}
})()`;

const outdated = `
  const [name] = Object.keys(localStorage);
  localStorage.setItem(name, JSON.stringify({ ...JSON.parse(localStorage.getItem(name)), expiresAt: 0 }));`;

describe('client in Chromium', () => {
  test('signs up, keeps the session over a reload, and lists the user’s own documents', async () => {
    const { page, problems } = await browser.newPage();
    const credentials = JSON.stringify({ ...newCredentials(), name: 'Lin' });
    await page.goto(site);
    await page.evaluate(withApp(`await app.auth.signup(${credentials}); await app.tasks.insert({ title: 'mine' });`));
    await page.reload();
    const seen = await page.evaluate(
      withApp(
        `return { me: await app.auth.me(), tasks: await app.tasks.list({ where: { title: { $startsWith: 'mi' } } }) };`,
      ),
    );
    expect(seen).toMatchObject({ me: { name: 'Lin' }, tasks: { total: 1, items: [{ title: 'mine' }] } });
    const failure = await page.evaluate(
      withApp(`await app.auth.logout();
        return app.tasks.list().catch((error) => [error instanceof BasaltError, error.code, localStorage.length]);`),
    );
    expect(failure).toEqual([true, 'TOKEN_MISSING', 0]);
    expect(problems).toEqual([]);
  });

  test.each([
    ['once with locks', '', 1],
    // On a busy machine a tab can miss the mark of the other tab and renew too.
    ['at most once for each tab without locks', "Object.defineProperty(navigator, 'locks', { value: undefined });", 2],
  ] as const)('renews the session of two tabs %s', async (_how, before, most) => {
    const { page: first } = await browser.newPage();
    const second = await first.context().newPage();
    await first.context().addInitScript(before);
    let refreshes = 0;
    first.context().on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/refresh-token')) refreshes += 1;
    });
    await Promise.all([first.goto(site), second.goto(site)]);
    await first.evaluate(withApp(`await app.auth.signup(${JSON.stringify(newCredentials())});${outdated}`));
    const ask = withApp('return (await Promise.all(Array.from({ length: 10 }, () => app.tasks.list()))).length;');
    expect(await Promise.all([first.evaluate(ask), second.evaluate(ask)])).toEqual([10, 10]);
    expect(refreshes).toBeGreaterThanOrEqual(1);
    expect(refreshes).toBeLessThanOrEqual(most);
  });

  test('reports the progress of an upload', async () => {
    const { page } = await browser.newPage();
    await page.goto(site);
    const uploaded = (await page.evaluate(
      withApp(
        `const shares = [];
        const file = new File([new Uint8Array(3_000_000)], 'zeros.bin', { type: 'application/zip' });
        const { url } = await app.files.upload(file, { onProgress: (share) => shares.push(share) });
        return { url, shares };`,
        project.secretKey,
      ),
    )) as { readonly url: string; readonly shares: readonly number[] };
    expect((await (await fetch(uploaded.url)).arrayBuffer()).byteLength).toBe(3_000_000);
    expect(uploaded.shares.length).toBeGreaterThan(1);
    expect(uploaded.shares.at(-1)).toBe(1);
    expect(uploaded.shares).toEqual(uploaded.shares.toSorted((a, b) => a - b));
  });

  test('continues an upload when its listener throws, reports the error, and stops when it is aborted', async () => {
    const { page, problems } = await browser.newPage();
    await page.goto(site);
    const upload = (listener: string): string =>
      withApp(
        `const controller = new AbortController();
        const file = new File([new Uint8Array(3_000_000)], 'zeros.bin', { type: 'application/zip' });
        const { signal } = controller;
        const done = await app.files.upload(file, { signal, onProgress: () => { ${listener} } }).catch((error) => error);
        return [done.code, typeof done.url];`,
        project.secretKey,
      );
    expect(await page.evaluate(upload("throw new Error('mine')"))).toEqual([undefined, 'string']);
    expect(new Set(problems)).toEqual(new Set(['mine']));
    expect(await page.evaluate(upload('controller.abort()'))).toEqual(['ABORTED', 'undefined']);
  });
});
