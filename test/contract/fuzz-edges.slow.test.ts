import fc from 'fast-check';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { type Answer, call } from '../support/clients/client.ts';
import { deliver, eventOf } from '../support/clients/webhook.ts';
import { changed, dotted, limitMs, runs, seed, strange, text, valuesWith } from '../support/data/fuzz-values.ts';
import { publicCases, type RouteCase, sampleBodies, sampleParameters } from '../support/data/route-cases.ts';
import { requireSound } from '../support/data/sound-answer.ts';
import { todos } from '../support/fixtures/collections.ts';
import { newMailProject } from '../support/fixtures/mail-project.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';
import { newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

let project: UsersProject;
let other: TestProject;
let user: Awaited<ReturnType<UsersProject['newUser']>>;

beforeAll(async () => {
  project = await newUsersProject();
  await project.addCollection(todos);
  await project.addCollection({ name: 'notes' });
  user = await project.newUser();
  other = await newProject([todos, { name: 'notes' }], project.developer);
  await Promise.all(
    Array.from({ length: 5 }, (_, n) =>
      project.api('POST', '/api/data/todos', { body: { task: `${n}`, userId: user.userId } }),
    ),
  );
  await project.api('POST', '/api/data/notes/bulk', { body: Array.from({ length: 5 }, (_, n) => ({ n })) });
});

const { value, object } = valuesWith(fc.constant('f'.repeat(24)));

/** Sends one request and checks its duration and its response. */
const sound = async <Body>(ask: () => Promise<Answer<Body>>): Promise<Answer<Body>> => {
  const start = performance.now();
  const answer = await ask();
  requireSound(answer as unknown as Answer, performance.now() - start);
  return answer;
};

const hold = <T>(arbitrary: fc.Arbitrary<T>, act: (of: T) => Promise<unknown>): Promise<void> =>
  fc.assert(
    fc.asyncProperty(fc.array(arbitrary, { minLength: 3, maxLength: 6 }), async (all) => {
      await Promise.all(all.map(act));
    }),
    { seed, numRuns: runs, endOnFailure: false },
  ) as Promise<void>;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Returns a text with one character replaced, removed or inserted, or the text cut or doubled. */
const damaged = (whole: () => string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(10_000), fc.constantFrom('replace', 'remove', 'insert', 'cut', 'double'), fc.nat(alphabet.length - 1))
    .map(([place, how, letter]) => {
      const given = whole();
      const at = place % given.length;
      const put = alphabet[letter] ?? 'A';
      if (how === 'replace') return given.slice(0, at) + put + given.slice(at + 1);
      if (how === 'remove') return given.slice(0, at) + given.slice(at + 1);
      if (how === 'insert') return given.slice(0, at) + put + given.slice(at);
      return how === 'cut' ? given.slice(0, at) : given + given;
    });

/** Returns the bytes of a token. Two spellings of the same bytes are the same token. */
const bytesOf = (token: string): string =>
  token
    .split('.')
    .map((part) => Buffer.from(part, 'base64url').toString('hex'))
    .join('.');

describe('responses to any input at the edges are valid and below 500', () => {
  test(
    'files and mails: any body, path and query for every route',
    async () => {
      const mailing = await newMailProject('pro');
      const rows = publicCases.filter(({ route: { path } }) => /^\/api\/(storage|mail)\/(?!webhook)/.test(path));
      const bodyOf = (row: RouteCase): fc.Arbitrary<unknown> =>
        fc.oneof(changed(sampleBodies[row.id], value, object), value);
      const request = fc.oneof(
        ...rows.map((row) =>
          fc.record({
            row: fc.constant(row),
            body: row.route.body ? bodyOf(row) : fc.constant(undefined),
            parameters: fc.record(
              Object.fromEntries(row.parameters.map((name) => [name, fc.oneof(text, dotted, fc.constant('none'))])),
            ),
            query: fc.dictionary(fc.constantFrom('limit', 'page', 'status', 'cursor', 'x'), text, { maxKeys: 3 }),
            ofWhom: fc.constantFrom<TestProject>(mailing, other),
          }),
        ),
      );
      await hold(request, ({ row, body, parameters, query, ofWhom }) => {
        const named = Object.entries(parameters).map(([name, of]) => [name, of.toWellFormed()] as const);
        const wellFormed = Object.entries(query).map(([name, of]) => [name, of.toWellFormed()] as [string, string]);
        const path = row.pathWith({ ...sampleParameters, ...Object.fromEntries(named) });
        const asked = row.method === 'GET' ? `${path}?${new URLSearchParams(wellFormed)}` : path;
        return sound(() => ofWhom.api(row.method, asked, body === undefined ? {} : { body: JSON.stringify(body) }));
      });
    },
    limitMs,
  );

  test(
    'correctly signed events of the mail provider: any body',
    async () => {
      const type = fc.oneof(
        fc.constantFrom('email.sent', 'email.delivered', 'email.bounced', 'email.complained', 'email.failed', 'x'),
        text,
      );
      const event = fc.oneof(
        fc.tuple(type, object).map(([of, data]) => eventOf(of, data)),
        fc
          .tuple(type, value)
          .map(([of, tags]) => eventOf(of, { email_id: 'none', to: ['a@example.com'], created_at: 5, tags })),
        fc.record({ type, created_at: value, data: value }),
        value.map((of) => JSON.stringify(of) ?? ''),
        fc.uint8Array({ maxLength: 30 }).map((bytes) => new Uint8Array(bytes)),
      );
      await hold(event, (of) => sound(() => deliver(of)));
    },
    limitMs,
  );
});

describe('file names', () => {
  const part = fc.oneof(
    fc.constantFrom(
      '..',
      '../',
      '/',
      '\\',
      '%2e%2e%2f',
      '\0',
      '\r\n',
      '.',
      'a',
      '.svg',
      '.html',
      'é',
      '\u202e',
      '~',
      ';',
    ),
    strange,
    fc.string({ unit: 'binary', maxLength: 20 }),
  );
  const filename = fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));

  test(
    '200 with a path of plain characters in the project, or 400',
    async () => {
      await hold(filename, async (name) => {
        const body = { filename: name, contentType: 'text/plain', size: 1 };
        const answer = await sound(() =>
          project.api<{ filePath: string; signedUrl: string }>('POST', '/api/storage/upload-request', { body }),
        );
        expect([200, 400]).toContain(answer.status);
        if (answer.status !== 200) return;
        const { filePath, signedUrl } = answer.body;
        expect(filePath).toMatch(new RegExp(`^${project.id}/[0-9a-f-]{36}_[A-Za-z0-9._-]{1,100}$`));
        expect(filePath).not.toContain('..');
        expect(decodeURIComponent(new URL(signedUrl).pathname)).toMatch(new RegExp(`/pending/${filePath}$`));
      });
    },
    limitMs,
  );

  test(
    '404 for every path that the project did not get from an upload request',
    async () => {
      const path = fc.oneof(
        filename.map((name) => `${project.id}/${name}`),
        filename.map((name) => `${other.id}/00000000-0000-7000-8000-000000000000_${name}`),
        filename,
      );
      await hold(path, async (filePath) => {
        for (const [method, where, body] of [
          ['POST', 'upload-confirm', { filePath, size: 1 }],
          ['DELETE', 'file', { path: filePath }],
        ] as const) {
          const { status } = await sound(() => project.api(method, `/api/storage/${where}`, { body }));
          expect(filePath === '' ? [400] : [400, 404]).toContain(status);
        }
      });
    },
    limitMs,
  );
});

describe('credentials with one character changed', () => {
  interface Listed {
    readonly data: { readonly items: readonly unknown[] };
  }

  test(
    'cannot read private documents as an access token',
    async () => {
      const own = await project.api<Listed>('GET', '/api/data/todos', {
        key: project.publishableKey,
        token: user.token,
      });
      expect(own.body.data.items).toHaveLength(5);
      await hold(
        damaged(() => user.token).filter((token) => bytesOf(token) !== bytesOf(user.token)),
        async (token) => {
          const list = await sound(() =>
            project.api<Listed>('GET', '/api/data/todos', { key: project.publishableKey, token }),
          );
          if (list.status === 200) expect(list.body.data.items).toEqual([]);
          else expect([401, 403]).toContain(list.status);
          const me = await sound(() => project.auth('GET', 'me', { token }));
          expect(me.status).toBe(401);
        },
      );
    },
    limitMs,
  );

  test(
    '401 as a refresh token, and the original token stays valid',
    async () => {
      const { refreshToken } = await project.newUser();
      await hold(
        damaged(() => refreshToken).filter((token) => bytesOf(token) !== bytesOf(refreshToken)),
        async (token) => {
          const headers = { 'x-refresh-token-mode': 'header', 'x-refresh-token': token };
          expect((await sound(() => project.auth('POST', 'refresh-token', { headers }))).status).toBe(401);
        },
      );
      expect((await project.refresh(refreshToken)).status).toBe(200);
    },
    limitMs,
  );

  test(
    '401 as a secret or publishable key',
    async () => {
      for (const whole of [project.secretKey, project.publishableKey]) {
        await hold(
          damaged(() => whole).filter((key) => key !== whole),
          async (key) => {
            const headers = { 'x-api-key': key };
            const answer = await sound(() =>
              call<Record<string, unknown>>(inject('stack').baseUrl, 'GET', '/api/data/notes', { headers }),
            );
            expect(answer.status).toBe(401);
          },
        );
      }
    },
    limitMs,
  );

  test(
    '401 as a dashboard token',
    async () => {
      const { token: whole } = project.developer;
      await hold(
        damaged(() => whole).filter((token) => bytesOf(token) !== bytesOf(whole)),
        async (token) => {
          const answer = await sound(() => call(inject('stack').dashboardUrl, 'GET', '/api/projects', { token }));
          expect(answer.status).toBe(401);
        },
      );
    },
    limitMs,
  );
});

test(
  '200 or 400 for cursors with one character changed, and never a document of another project',
  async () => {
    interface Page {
      readonly data: { readonly items: readonly { readonly n: number }[]; readonly nextCursor: string };
    }
    const list = (cursor: string) =>
      project.api<Page>('GET', `/api/data/notes?sort=-n&limit=2&cursor=${encodeURIComponent(cursor)}`);
    await other.api('POST', '/api/data/notes', { body: { n: 99 } });
    const { nextCursor } = (await list('')).body.data;
    await hold(
      damaged(() => nextCursor),
      async (cursor) => {
        const { status, body } = await sound(() => list(cursor));
        expect([200, 400]).toContain(status);
        if (status === 200) for (const { n } of body.data.items) expect([0, 1, 2, 3, 4]).toContain(n);
      },
    );
  },
  limitMs,
);
