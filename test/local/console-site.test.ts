import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { loadDevFile } from '../../infra/local/state-files.ts';
import { docsPolicy } from '../../shared/http/console-headers.ts';
import { freePorts } from '../support/clients/free-ports.ts';
import { type LocalStart, localStart } from '../support/clients/local-start.ts';

const html = { accept: 'text/html,application/xhtml+xml' };
const ask = (place: string, headers: Readonly<Record<string, string>> = html) =>
  fetch(`${inject('stack').dashboardUrl}${place}`, { headers });

describe('console site', () => {
  test.each(['/', '/sign-in?to=%2F', '/projects/6743f0c2a91b5d0012ab34cd/documents/posts'])(
    '200 with the page at %s, under a policy that lets nothing but its own files run',
    async (place) => {
      const answer = await ask(place);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(answer.headers.get('cache-control')).toBe('no-cache');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      const policy = answer.headers.get('content-security-policy')?.split('; ');
      expect(policy).toEqual(
        expect.arrayContaining(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]),
      );
      expect(policy?.join()).not.toMatch(/unsafe|nonce|sha256/);
      expect(await answer.text()).not.toMatch(/<script(?![^>]* src=)|style=|javascript:/);
    },
  );

  test('200 with immutable caching when the name of a file has a content hash', async () => {
    const page = await (await ask('/')).text();
    const files = [...page.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, file = '']) => file);
    expect(files).toHaveLength(2);
    for (const file of files) {
      const answer = await ask(file, {});
      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  test('200 with the page that an error links to, under the policy of the documents', async () => {
    const missing = await ask('/api/projects', {});
    const { docUrl } = (await missing.json()) as { readonly docUrl: string };
    expect(docUrl).toBe(`${inject('stack').dashboardUrl}/docs/reference/errors#token_missing`);
    const answer = await fetch(docUrl);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-security-policy')).toBe(docsPolicy);
    expect(await answer.text()).toContain('TOKEN_MISSING');
  });

  test.each(['/docs/nothing', '/docs/assets/nothing.js', '/docs/..%2f..%2fpackage.json'])(
    '404 for %s',
    async (place) => {
      expect((await ask(place, {})).status).toBe(404);
    },
  );

  test.each(['/api', '/api/', '/api/nothing', '/api/projects'])('%s is served by the API', async (place) => {
    const answer = await ask(place);
    expect(answer.status).toBeGreaterThanOrEqual(401);
    expect(answer.headers.get('content-type')).toContain('application/json');
  });

  test('404 of the API when the request accepts no HTML or the file does not exist', async () => {
    expect((await ask('/nothing', { accept: '*/*' })).status).toBe(404);
    expect((await ask('/assets/main-AAAAAAAA.js', {})).status).toBe(404);
    expect((await ask('/assets/..%2f..%2fpackage.json', {})).status).toBe(404);
  });
});

describe('sign-in link of npm start', () => {
  let directory: string;
  let local: LocalStart;
  let dashboardUrl: string;

  const trade = (token: string) =>
    fetch(`${dashboardUrl}/api/auth/link`, { method: 'POST', body: JSON.stringify({ token }) });

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'basalt-console-'));
    local = localStart({ BASALT_DIR: directory, PORT: String(await freePorts()) });
    await local.ready();
    dashboardUrl = (await loadDevFile(directory))?.dashboardUrl ?? '';
  });

  afterAll(async () => {
    local.child.kill('SIGTERM');
    await local.ended;
    await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });

  test('404 when the token is wrong or used; of 50 concurrent uses exactly one signs in', async () => {
    expect((await trade('x'.repeat(43))).status).toBe(404);
    const token = /#link=([\w-]{43})/.exec(local.output())?.[1] ?? '';
    const answers = await Promise.all(Array.from({ length: 50 }, () => trade(token)));
    const signedIn = answers.filter(({ status }) => status === 200);
    expect(signedIn).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(49);
    expect(signedIn[0]?.headers.get('set-cookie')).toContain('dashboard_refresh=');
    expect(await signedIn[0]?.json()).toMatchObject({ data: { developer: { email: 'demo@basalt.local' } } });
  });
});
