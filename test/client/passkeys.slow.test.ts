import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { buildClient } from '../../infra/build/client.ts';
import { listen } from '../../infra/local/ports.ts';
import { openChromium } from '../support/clients/chromium.ts';
import { plugAuthenticator } from '../support/clients/virtual-authenticator.ts';
import { newCredentials, newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

let folder: string;
let server: Server;
let site: string;
let project: UsersProject;
let browser: Awaited<ReturnType<typeof openChromium>>;

const form = '<!doctype html><title>App</title><link rel="icon" href="data:,"><input autocomplete="username webauthn">';

/** Serves an app’s own site, whose host the passkeys belong to. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'basalt-passkeys-'));
  await buildClient(folder);
  const script = await readFile(join(folder, 'dist/index.js'));
  server = createServer(({ url }, response) => {
    const isScript = url === '/client.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    response.end(isScript ? script : form);
  });
  site = `http://localhost:${await listen(server, 0)}`;
  const settings = { siteUrl: site, allowedDomains: [site], signIn: { passkey: true } };
  [project, browser] = await Promise.all([newUsersProject({ settings }), openChromium()]);
});

afterAll(async () => {
  await browser.close();
  await new Promise((done) => server.close(done));
  await rm(folder, { recursive: true, force: true });
});

const withApp = (lines: string): string => `(async () => {
  const { basalt } = await import('/client.js');
  const app = basalt(${JSON.stringify(inject('stack').baseUrl)}, ${JSON.stringify(project.publishableKey)});
  ${lines}
})()`;

/** Opens a page with an authenticator. */
const openPage = async () => {
  const { page, problems } = await browser.newPage();
  const device = await plugAuthenticator(page);
  await page.goto(site);
  return { page, problems, device };
};

const signUp = () => `await app.auth.signup(${JSON.stringify(newCredentials())});`;

test('passkey is created, renamed, signs its user in, and stops working when it is deleted', async () => {
  const { page, problems } = await openPage();
  const seen = await page.evaluate(
    withApp(`${signUp()}
      const me = await app.auth.me();
      const added = await app.auth.addPasskey('Laptop');
      await app.auth.logout();
      const { userId } = await app.auth.loginByPasskey();
      const again = await app.auth.addPasskey().catch(({ name }) => name);
      const listed = await app.auth.passkeys();
      await app.auth.updatePasskey(added._id, { name: 'Phone' });
      const [renamed] = await app.auth.passkeys();
      await app.auth.deletePasskey(added._id);
      const refused = await app.auth.loginByPasskey().catch(({ code }) => code);
      return { isSame: me._id === userId, again, listed, renamed, refused };`),
  );
  expect(seen).toMatchObject({
    isSame: true,
    again: 'InvalidStateError',
    listed: [{ name: 'Laptop', locked: false, lastUsedAt: expect.any(String) }],
    renamed: { name: 'Phone' },
    refused: 'INVALID_CREDENTIALS',
  });
  expect(problems.filter((problem) => !problem.includes('401'))).toEqual([]);
});

test('passkey chosen in a form field signs its user in', async () => {
  const { page } = await openPage();
  const userId = await page.evaluate(
    withApp(`${signUp()}
      const { _id } = await app.auth.me();
      await app.auth.addPasskey();
      await app.auth.logout();
      return _id;`),
  );
  await page.reload();
  const taken = await page.evaluate(
    withApp(`const { userId } = await app.auth.loginByPasskey({ mediation: 'conditional' });
      return userId;`),
  );
  expect(taken).toBe(userId);
});

test('passkey is not created when the device does not verify its user', async () => {
  const { page, device } = await openPage();
  await device.verifies(false);
  const refused = await page.evaluate(withApp(`${signUp()} return app.auth.addPasskey().catch(({ name }) => name);`));
  expect(refused).toBe('NotAllowedError');
});
