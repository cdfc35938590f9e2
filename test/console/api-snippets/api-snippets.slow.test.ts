import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publicRoutes } from '../../../functions/routes.ts';
import type { RouteTable } from '../../../shared/http/route.ts';
import { openChromium } from '../../support/clients/chromium.ts';
import { openAs } from '../../support/clients/console-page.ts';
import { pythonTools } from '../../support/clients/python-tools.ts';
import { put } from '../../support/fixtures/files.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

// Runs every snippet of the API page as copied. Only the placeholders in capitals are filled in.

const ada = { email: 'ada@example.com', password: 'correct horse battery' };
const github = { enabled: true, clientId: 'Iv1.8a61f9b3a7aba766', clientSecret: 'a-client-secret' };

let browser: Awaited<ReturnType<typeof openChromium>>;
let folder: string;

beforeAll(async () => {
  browser = await openChromium();
  folder = await mkdtemp(path.join(tmpdir(), 'basalt-snippets-'));
  // Adds the status to what curl prints.
  await writeFile(path.join(folder, '.curlrc'), 'silent\nwrite-out = "\\n%{http_code}"\n');
});

afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
});

/** A project with a collection, a user, a file and an identity provider. */
const demoProject = async (): Promise<UsersProject> => {
  const project = await newUsersProject({
    settings: {
      signIn: { emailCode: true, anonymous: true, passkey: true, secondFactor: 'optional' },
      directory: { read: true, fields: ['username'] },
      providerApiKey: 're_8Hq2mWcY_5sKd8uEfGzLiNo',
      providerFromEmail: 'Shop <news@example.com>',
      socialProviders: { github },
    },
  });
  await project.addCollection({
    name: 'posts',
    schema: [
      { key: 'title', type: 'String', required: true },
      { key: 'views', type: 'Number' },
      { key: 'paid', type: 'Boolean' },
      { key: 'note', type: 'String' },
    ],
    changes: true,
  });
  const document = { title: "It's 5 o'clock", views: 7, paid: true, note: null };
  expect((await project.api('POST', '/api/data/posts', { body: document })).status).toBe(201);
  const file = { filename: 'report.txt', contentType: 'text/plain', size: 5 };
  const { body } = await project.api<{ signedUrl: string; filePath: string }>('POST', '/api/storage/upload-request', {
    body: file,
  });
  await put(body.signedUrl, 'hello');
  const confirmed = { filePath: body.filePath, size: 5 };
  expect((await project.api('POST', '/api/storage/upload-confirm', { body: confirmed })).status).toBe(200);
  return project;
};

/** The code of each route, as the page shows it. */
const copied = async (project: UsersProject, language: string): Promise<ReadonlyMap<string, string>> => {
  const { page, problems } = await openAs(
    browser,
    project.developer,
    `/projects/${project.id}/api?in=${language}&collection=posts`,
  );
  const routes = page.getByRole('navigation', { name: 'Routes by area' }).getByRole('link');
  await routes.first().waitFor();
  const codes = new Map<string, string>();
  for (const link of await routes.all()) {
    await link.click();
    const id = new URL(page.url()).searchParams.get('open') ?? '';
    const summary = (await link.locator('span').last().textContent()) ?? '';
    const code = page.locator('.api-call').filter({ hasText: summary }).locator('.snippet pre');
    await expect.poll(() => link.getAttribute('aria-current')).toBe('page');
    codes.set(id, (await code.textContent()) ?? '');
  }
  expect(problems).toEqual([]);
  await page.context().close();
  return codes;
};

const runners: Readonly<Record<string, (code: string) => readonly [string, readonly string[]]>> = {
  curl: (code) => ['sh', ['-c', code]],
  javascript: (code) => [process.execPath, ['--input-type=module', '-e', code]],
  python: (code) => ['python3', ['-c', code]],
};

interface Printed {
  readonly status: number;
  readonly text: string;
}

const run = (language: string, code: string, bin: string): Promise<Printed> =>
  new Promise((resolve, reject) => {
    const [command, args] = runners[language]?.(code) ?? ['', []];
    const env = { ...process.env, CURL_HOME: folder, PATH: `${bin}${path.delimiter}${process.env.PATH}` };
    execFile(command, args, { env, maxBuffer: 1 << 24 }, (error, stdout) => {
      if (error) return reject(error);
      const text = stdout.trim();
      const [, status] = (language === 'curl' ? /(\d{3})$/ : /^(\d{3}) /).exec(text) ?? [];
      return resolve({ status: Number(status), text });
    });
  });

/** Run last, in this order: they delete what others need, or end the session. */
const late = [
  ...['delete-documents', 'delete-file', 'delete-contact', 'delete-audience'],
  ...['refresh-token', 'sign-out', 'delete-account', 'change-password'],
];

const rank = (id: string): number => (id === 'sign-up' ? -1 : late.indexOf(id) + 1);

/** The placeholder that is filled in from the id in a response. */
const shownIds: Readonly<Record<string, string>> = { 'create-audience': 'AUDIENCE_ID', 'create-contact': 'CONTACT_ID' };

/** Responses to values that no test of a page can have: an emailed code, a passkey, a signature. All others succeed. */
const rejected: Readonly<Record<string, string>> = {
  'change-email': '400 INVALID_EMAIL_TOKEN',
  'send-user-invitation': '403 EMAIL_NOT_VERIFIED',
  'accept-user-invitation': '404 INVITATION_NOT_FOUND',
  'delete-user-invitation': '404 INVITATION_NOT_FOUND',
  'reset-password': '400 INVALID_EMAIL_TOKEN',
  'verify-email': '400 INVALID_EMAIL_TOKEN',
  'sign-in-by-code': '400 INVALID_CODE',
  'upgrade-anonymous': '409 NOT_ANONYMOUS',
  'confirm-totp': '401 INVALID_SECOND_FACTOR',
  'remove-totp': '404 SECOND_FACTOR_NOT_FOUND',
  'create-recovery-codes': '404 SECOND_FACTOR_NOT_FOUND',
  'sign-in-with-factor': '401 INVALID_SECOND_FACTOR',
  'register-passkey': '400 INVALID_PASSKEY',
  'sign-in-with-passkey': '401 INVALID_CREDENTIALS',
  'rename-passkey': '404 PASSKEY_NOT_FOUND',
  'delete-passkey': '404 PASSKEY_NOT_FOUND',
  'finish-sign-in': '400 SOCIAL_SIGN_IN_FAILED',
  'exchange-code': '400 INVALID_EXCHANGE_CODE',
  'unlink-provider': '404 PROVIDER_NOT_LINKED',
  'revoke-session': '404 SESSION_NOT_FOUND',
  // Only the project's own storage takes parts.
  'request-parts': '400 VALIDATION_FAILED',
  'get-mail-log': '404 MAIL_LOG_NOT_FOUND',
  'send-broadcast': '404 MAIL_PROVIDER_NOT_FOUND',
  'get-broadcast': '404 MAIL_PROVIDER_NOT_FOUND',
  'delete-broadcast': '404 MAIL_PROVIDER_NOT_FOUND',
  'receive-webhook': '400 INVALID_SIGNATURE',
  'receive-project-webhook': '400 INVALID_SIGNATURE',
};

test.each(['curl', 'javascript', 'python'])('every snippet in %s runs as copied', async (language) => {
  const tools =
    language === 'python' ? await pythonTools(path.join(import.meta.dirname, 'requirements.txt')) : { bin: '' };
  if ('missing' in tools) throw new Error(`The Python snippets cannot run: ${tools.missing}`);
  const project = await demoProject();
  const codes = await copied(project, language);
  const words: Record<string, string> = { SECRET_KEY: project.secretKey };
  const signIn = async (answer: Awaited<ReturnType<typeof project.logIn>>) => {
    expect(answer.body).toMatchObject({ success: true });
    words.ACCESS_TOKEN = answer.body.accessToken;
    words.REFRESH_TOKEN = answer.body.refreshToken ?? '';
  };
  const inHeader = { 'x-refresh-token-mode': 'header' };
  const before: Readonly<Record<string, () => Promise<void>>> = {
    'refresh-token': async () => signIn(await project.logIn(ada, inHeader)),
    'sign-out': async () => signIn(await project.logIn(ada, inHeader)),
    'delete-account': async () => signIn(await project.logIn(ada, inHeader)),
    'change-password': async () => signIn(await project.signUp(ada, inHeader)),
  };
  const wrong: string[] = [];
  for (const [id, code] of [...codes].toSorted(([one], [other]) => rank(one) - rank(other))) {
    await before[id]?.();
    const filled = Object.entries(words).reduce((text, [word, value]) => text.replaceAll(word, value), code);
    const { status, text } = await run(language, filled, tools.bin);
    const [, errorCode = ''] = status < 400 ? [] : (/["']?code["']?: ?["'](\w+)["']/.exec(text) ?? []);
    const result = `${status} ${errorCode}`.trim();
    if (rejected[id] === undefined ? !/^(?:20[012]|30[23])$/.test(result) : result !== rejected[id])
      wrong.push(`${id}: ${result}\n${code}\n${text.slice(0, 500)}`);
    const shown = shownIds[id];
    if (shown) words[shown] = /["']?id["']?: ?["']([\w-]+)["']/.exec(text)?.[1] ?? '';
    if (id !== 'sign-up') continue;
    const signedIn = await project.logIn(ada, inHeader);
    await signIn(signedIn);
    const own = `/api/projects/${project.id}/users/${signedIn.body.userId}`;
    expect((await project.developer.dashboard('PATCH', own, { username: 'ada' })).status).toBe(200);
  }
  expect(wrong).toEqual([]);
  expect(codes.size).toBe(Object.values<RouteTable>(publicRoutes).flatMap((area) => Object.keys(area)).length);
});
