import { connect } from 'node:net';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call, type RequestOptions } from '../support/clients/client.ts';
import { send } from '../support/clients/local-gateway.ts';
import {
  accountCases,
  dashboardCases,
  publicCases,
  type RouteCase,
  sampleBodies,
  sampleParameters,
} from '../support/data/route-cases.ts';
import { newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

let project: UsersProject;
/** The project of the dashboard requests. It is separate, because valid bodies change its settings. */
let managed: UsersProject;
let id: string;
let user: Awaited<ReturnType<UsersProject['newUser']>>;
/** Already has the email address of the samples, so concurrent updates do not compete for it. */
let sampleUserId: string;
let managedDocumentId: string;

beforeAll(async () => {
  project = await newUsersProject({
    settings: { signIn: { emailCode: true, anonymous: true, passkey: true, secondFactor: 'optional' } },
  });
  await project.addCollection({ name: 'notes' });
  await project.addCollection({ name: 'posts', schema: [{ key: 'text', type: 'String' }] });
  user = await project.newUser();
  managed = await newUsersProject({ owner: project.developer });
  await managed.addCollection({ name: 'notes' });
  await managed.addCollection({ name: 'posts' });
  const sample = await managed.signUp({ email: 'sample@example.com', password: 'sample-password' });
  sampleUserId = sample.body.userId;
  managedDocumentId = (await managed.api<{ _id: string }>('POST', '/api/data/notes', { body: { a: 1 } })).body._id;
  id = (await project.api<{ _id: string }>('POST', '/api/data/notes', { body: { a: 1, nested: {} } })).body._id;
});

type Doc = Record<string, unknown> & { readonly _id: string };

/** Returns requests that send a JSON value in every place of a document. */
const inEveryPlace = (json: string): readonly (readonly [string, string, string])[] => [
  ['POST', '/api/data/notes', `{"v":${json}}`],
  ['POST', '/api/data/notes', `{"a":{"b":[[${json}]]}}`],
  ['POST', '/api/data/notes/bulk', `[{"v":1},{"v":${json}}]`],
  ['PATCH', `/api/data/notes/${id}`, `{"v":${json}}`],
  ['PATCH', `/api/data/notes/${id}`, `{"nested.v":${json}}`],
];

/** Name, JSON as sent, and JSON as returned if it differs. */
const sent: readonly (readonly [string, string, string?])[] = [
  ['NUL in text', '"a\\u0000b"'],
  ['NUL alone', '"\\u0000"'],
  ['U+2028 and U+2029', '"a\u2028b\u2029c"'],
  ['a byte order mark', '"\ufeff"'],
  ['non-characters', '"\ufffe\uffff\ufdd0"'],
  ['private use', '"\ue000\u{10ffff}"'],
  [
    'every control character',
    JSON.stringify(String.fromCharCode(...Array.from({ length: 32 }, (_, n) => n), 127, 159)),
  ],
  ['an escaped pair', '"\\ud83d\\ude00"', '"😀"'],
  ['composed and decomposed letters', '"\u00e9e\u0301"'],
  ['bidirectional controls', '"\u202eabc\u2066"'],
  ['text that looks like something else', '["null","true","1","{}","[]","$ne","$$ROOT","__proto__","2026-01-01"]'],
  ['the empty text', '""'],
  ['-0', '-0', '0'],
  ['-0.0', '[-0.0]', '[0]'],
  ['the largest integer', '9007199254740991'],
  ['the least integer', '-9007199254740991'],
  ['numbers around 2^31', '[2147483647,2147483648,-2147483648,-2147483649,4294967296]'],
  ['an integer written with an exponent', '1e3', '1000'],
  ['a large number written with an exponent', '1e21'],
  ['the largest double', '1.7976931348623157e308', '1.7976931348623157e+308'],
  ['the least double', '5e-324'],
  ['less than the least double', '1e-400', '0'],
  ['a fraction with more digits than a double has', '0.1000000000000000055511151231257827', '0.1'],
  ['2^53+1 with a fraction', '9007199254740993.0', '9007199254740992'],
  ['an integer in text', '"9007199254740993"'],
  [
    'Extended JSON',
    '[{"$oid":"aaaaaaaaaaaaaaaaaaaaaaaa"},{"$date":"2026-01-01"},{"$numberLong":"5"},{"$undefined":true}]',
  ],
  ['operators', '{"$ne":null,"$set":{"$gt":""},"$where":"1"}'],
  ['database references', '[{"$ref":"a","$id":"b"},{"$ref":"a","$id":1,"d":2,"$db":"c"},{"$id":5},{"$ref":"a.b"}]'],
  [
    'names of JavaScript properties',
    '{"constructor":{"x":1},"prototype":{"x":1},"toString":"x","hasOwnProperty":1,"toJSON":{},"toBSON":1}',
  ],
  ['names of unusual characters', '{" ":1,"é":2,"😀":3,"\u2028":4,"\ufeff":5,"a b":6,"0":7,"-1":8,"\\"":9,"\\\\":10}'],
  ['nulls and empty things', '[null,{},[],[[]],[{}],{"a":null}]'],
  ['a name given twice', '{"a":1,"a":2}', '{"a":2}'],
  ['a name given twice, once as an escape', '{"a":1,"\\u0061":{"b":1,"b":2}}', '{"a":{"b":2}}'],
];

const kept = sent.map(([what, json, back = json]): [string, string, string] => [what, json, back]);

describe('a value is returned as it was sent', () => {
  test.each(kept)('%s', async (_what, json, back) => {
    const expected = JSON.parse(back) as unknown;
    const made = await project.api<Doc>('POST', '/api/data/notes', { body: `{"v":${json},"w":{"x":[${json}]}}` });
    expect(made.status).toBe(201);
    const own = `/api/data/notes/${made.body._id}`;
    const read = await project.api<Doc>('GET', own);
    const list = await project.api<{ data: { items: Doc[] } }>('GET', `/api/data/notes?_id=${made.body._id}`);
    const pipeline = [{ $match: { _id: made.body._id } }];
    const found = await project.api<{ data: Doc[] }>('POST', '/api/data/notes/aggregate', { body: { pipeline } });
    const changed = await project.api<{ data: Doc }>('PATCH', own, { body: `{"v":${json},"w.x.0":${json}}` });
    expect(changed.status).toBe(200);
    for (const document of [made.body, read.body, list.body.data.items[0], found.body.data[0], changed.body.data]) {
      expect(document).toMatchObject({ _id: made.body._id });
      expect(JSON.stringify(document?.v)).toBe(JSON.stringify(expected));
      expect(document?.w).toEqual({ x: [expected] });
    }
  });

  test.each(kept.filter(([, json]) => json.startsWith('"') && json !== '""'))(
    'is found by a filter and passed by a cursor: %s',
    async (_what, _json, back) => {
      const value = JSON.parse(back) as string;
      for (const collection of ['notes', 'posts']) {
        for (const text of [value, `${value}2`]) {
          await project.api('POST', `/api/data/${collection}`, { body: { text, mark: value } });
        }
        const path = `/api/data/${collection}?text=${encodeURIComponent(value)}`;
        const answer = await project.api<{ data: { items: Doc[] } }>('GET', path);
        expect(answer.status).toBe(200);
        expect(answer.body.data.items.map(({ text }) => text)).toContain(value);
        const page = `/api/data/${collection}?mark=${encodeURIComponent(value)}&sort=text&limit=1&cursor=`;
        const first = await project.api<{ data: { nextCursor: string; items: Doc[] } }>('GET', page);
        const second = await project.api<{ data: { items: Doc[] } }>('GET', page + first.body.data.nextCursor);
        expect([first, second].map(({ body }) => body.data.items[0]?.text)).toEqual([value, `${value}2`]);
      }
    },
  );
});

const lone = ['"\\ud800"', '"a\\udfff"', '"\\ude00\\ud83d"', '"\\ud83d \\ude00"', '"\ufeff\\udbff"'];

describe('400 for a value that cannot be stored exactly', () => {
  test.each<[string, string, string]>([
    ...lone.map((json): [string, string, string] => ['a lone surrogate', json, 'INVALID_BODY']),
    ['1e400', '1e400', 'INVALID_BODY'],
    ['-1e400', '-1e400', 'INVALID_BODY'],
    ['a number of 400 digits', '9'.repeat(400), 'NUMBER_NOT_EXACT'],
    ['2^53', '9007199254740992', 'NUMBER_NOT_EXACT'],
    ['2^53+1', '9007199254740993', 'NUMBER_NOT_EXACT'],
    ['-(2^53+1)', '-9007199254740993', 'NUMBER_NOT_EXACT'],
    ['2^64', '18446744073709551616', 'NUMBER_NOT_EXACT'],
    ['NaN', 'NaN', 'INVALID_JSON'],
    ['Infinity', 'Infinity', 'INVALID_JSON'],
    ['undefined', 'undefined', 'INVALID_JSON'],
    ['a hexadecimal number', '0x10', 'INVALID_JSON'],
    ['a number with a leading zero', '01', 'INVALID_JSON'],
    ['a number with a plus', '+1', 'INVALID_JSON'],
    ['a raw control character', '"\u0001"', 'INVALID_JSON'],
    ['a raw NUL', '"\u0000"', 'INVALID_JSON'],
    ['a raw line break', '"a\nb"', 'INVALID_JSON'],
    ['a bad escape', '"\\x41"', 'INVALID_JSON'],
    ['a comment', '1/* */', 'INVALID_JSON'],
    ['a comma at the end', '[1,]', 'INVALID_JSON'],
    ['single quotes', "'a'", 'INVALID_JSON'],
    ['an empty name', '{"":1}', 'INVALID_BODY'],
    ['a name with NUL', '{"a\\u0000b":1}', 'INVALID_BODY'],
    ['a name that is NUL', '{"\\u0000":1}', 'INVALID_BODY'],
    ['a name with a lone surrogate', '{"\\ud800":1}', 'INVALID_BODY'],
    ['a name with a dot', '{"a.b":1}', 'INVALID_BODY'],
    ['__proto__', '{"__proto__":1}', 'INVALID_BODY'],
    ['__proto__ in escapes', '{"\\u005f\\u005fproto\\u005f\\u005f":{"x":1}}', 'INVALID_BODY'],
    ['_bsontype', '{"_bsontype":"ObjectId"}', 'INVALID_BODY'],
    ['a database reference with a dot', '{"$ref":"a.b","$id":1}', 'INVALID_BODY'],
  ])('%s', async (_what, json, code) => {
    for (const [method, path, body] of inEveryPlace(json)) {
      expect(await project.api(method, path, { body }), body).toMatchObject({ status: 400, body: { code } });
    }
  });

  test.each(
    lone.concat('"\\u0000"', '1e400', '9007199254740993', '{"__proto__":1}', '{"a\\u0000":1}', '{"\\ud800":1}'),
  )('or 200 in a pipeline: %s', async (json) => {
    for (const stage of [
      `{"$match":{"v":${json}}}`,
      `{"$set":{"v":{"$literal":${json}}}}`,
      `{"$unionWith":${json}}`,
      `{"$unionWith":{"coll":${json}}}`,
      `{"$group":{"_id":${json}}}`,
      `{"$unwind":${json}}`,
      `{"$count":${json}}`,
      `{"$sort":{"a":${json}}}`,
      `{"$lookup":{"from":"notes","as":${json},"pipeline":[]}}`,
      `{"$limit":${json}}`,
    ]) {
      const body = `{"pipeline":[${stage}]}`;
      const answer = await project.api('POST', '/api/data/notes/aggregate', { body });
      expect([200, 400, 404], stage).toContain(answer.status);
    }
  });
});

/** Calls a route with the permissions that it needs. `collectionName` is the collection in its path. */
const ask = ({ api, method, route, pathWith }: RouteCase, collectionName: string, options: RequestOptions) => {
  const names = { ...sampleParameters, collectionName, projectId: managed.id };
  if (api === 'dashboard') {
    const named = route.path.includes('/documents/') ? managedDocumentId : sampleUserId;
    return call(inject('stack').dashboardUrl, method, pathWith({ ...names, id: named }), {
      token: project.developer.token,
      ...options,
    });
  }
  const ofAccounts = route.access === 'publishableKey' || route.access === 'user';
  const rights = ofAccounts ? { key: project.publishableKey, token: user.token } : {};
  return project.api(method, pathWith({ ...names, id }), { ...rights, ...options });
};

/** Bytes that are not UTF-8, or another encoding. */
const rawBodies: readonly (readonly [string, Buffer])[] = [
  ['a byte that never occurs', Buffer.from('{"a":"\xff"}', 'latin1')],
  ['a sequence that is cut', Buffer.from('{"a":"\xe2\x80"}', 'latin1')],
  ['an overlong form', Buffer.from('{"a":"\xc0\x80"}', 'latin1')],
  ['a surrogate', Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1')],
  ['beyond U+10FFFF', Buffer.from('{"a":"\xf4\x90\x80\x80"}', 'latin1')],
  ['a bad name', Buffer.from('{"\xff\xfe":1}', 'latin1')],
  ['UTF-16', Buffer.from('{"a":"b"}', 'utf16le')],
  ['a byte order mark', Buffer.from('\ufeff{"a":"b"}')],
  ['zeros', Buffer.alloc(64)],
  ['noise', Buffer.from(Array.from({ length: 256 }, (_, n) => n))],
  ['gzip', Buffer.from('H4sIAAAAAAAAA6tWSlSyUkpSqgUAcWXoVQkAAAA=', 'base64')],
  ['BSON', Buffer.from('EAAAABBhAAEAAAAIYgABAA==', 'base64')],
];
const contentTypes = [
  'application/json',
  'application/octet-stream',
  'text/plain; charset=utf-16',
  'multipart/form-data',
  '',
];

describe('bytes that are not JSON in UTF-8', () => {
  const writing = [...publicCases, ...dashboardCases].filter(({ route }) => route.body);

  test.each(rawBodies)('never cause a 500 for %s on any route', async (_what, body) => {
    await Promise.all(
      writing.map(async (route) => {
        for (const type of contentTypes) {
          const answer = await ask(route, 'notes', { body, headers: { 'content-type': type } });
          expect([200, 201, 400], `${route.method} ${route.id} ${type}`).toContain(answer.status);
          if (answer.status === 400) expect(answer.body).toMatchObject({ success: false });
        }
      }),
    );
  });

  test.each(contentTypes)('201 for valid JSON under the content type %j', async (type) => {
    const body = Buffer.from('{"a":"\u2028é😀"}');
    const made = await project.api('POST', '/api/data/notes', { body, headers: { 'content-type': type } });
    expect(made).toMatchObject({ status: 201, body: { a: '\u2028é😀' } });
  });
});

const strangeTexts = [
  'a\u0000b',
  '\u2028',
  '\ufeff',
  '\uffff',
  '😀',
  '\u202e',
  'é\u0301',
  '\u0001',
  '%00',
  '\r\nx-a: b',
  '\\',
  '"',
];

describe('unusual text in the fields of the dashboard and of user accounts', () => {
  const withBody = [...dashboardCases, ...accountCases].filter(({ route }) => route.body);
  /** These routes create an account, so each call needs an unused email address. */
  const makes = new Set(['sign-up-developer', 'create-user', 'sign-up']);
  let calls = 0;

  test.each(withBody)('never causes a 500 from $method $id', async (route) => {
    // The tests have no language model, so `propose-schema` can return 501.
    const answered = [200, 201, 400, 401, 403, 404, 409, 429, ...(route.id === 'propose-schema' ? [501] : [])];
    const sample = JSON.stringify(sampleBodies[route.id]);
    const texts = [...new Set(sample.match(/(?<=:|\[)"[^"]*"/g))];
    const send = (body: string) => {
      const address = `sample-${++calls}@example.com`;
      const own = makes.has(route.id) ? body.replace('"sample@example.com"', JSON.stringify(address)) : body;
      return ask(route, 'posts', { body: own });
    };
    await Promise.all(
      texts.flatMap((text) => [
        ...strangeTexts.map(async (strange) => {
          const answer = await send(sample.replace(text, () => JSON.stringify(strange)));
          expect(answered, strange).toContain(answer.status);
        }),
        ...lone.map(async (strange) => {
          const answer = await send(sample.replace(text, () => strange));
          expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_BODY' } });
        }),
      ]),
    );
  });
});

const escapes = [
  '%00',
  '%FF',
  '%ED%A0%80',
  '%C0%80',
  '%E2%80%A8',
  '%EF%BB%BF',
  '%0D%0A',
  '%2e%2e',
  '%5C',
  '%25',
  '+',
  '%F0%9F%98%80',
];

describe('unusual bytes in queries', () => {
  test.each([...escapes, '%', '%zz', '%u0041', '&&&', '=', '==', '=x', '&=', '[]', '[$ne]=1', '?', '#', ';a=1'])(
    '200 or 400 for %s in every parameter',
    async (text) => {
      for (const name of [
        'a',
        'text',
        '_id',
        'page',
        'limit',
        'skip',
        'sort',
        'cursor',
        'fields',
        'populate',
        'count',
        'meta',
        'include_deleted',
        'a_regex',
        'a_in',
        'a_exists',
        text,
      ]) {
        for (const collection of ['notes', 'posts']) {
          const answer = await project.api('GET', `/api/data/${collection}?${name}=${text}`);
          expect([200, 400], `${name}=${text}`).toContain(answer.status);
          expect(answer.body).toHaveProperty('message');
        }
      }
      for (const [method, path] of [
        ['GET', `/api/data/notes/${id}?include_deleted=${text}`],
        ['DELETE', `/api/data/notes/${'f'.repeat(24)}?permanent=${text}`],
        ['POST', `/api/data/notes/aggregate?include_deleted=${text}`],
      ] as const) {
        const answer = await project.api(
          method,
          path,
          method === 'POST' ? { body: { pipeline: [{ $limit: 1 }] } } : {},
        );
        expect([200, 400, 404], path).toContain(answer.status);
      }
      for (const path of [
        `/api/userAuth/social/github/start?x-api-key=${text}`,
        `/api/userAuth/social/github/start?key=${text}`,
        `/api/userAuth/social/github/callback?state=${text}&code=${text}&error=${text}`,
      ]) {
        const answer = await call(inject('stack').baseUrl, 'GET', path);
        expect([400, 401], path).toContain(answer.status);
        expect(answer.body).toHaveProperty('message');
      }
      for (const path of ['users', `users/${user.userId}/sessions`]) {
        for (const name of ['page', 'limit', text]) {
          const ofProject = `/api/projects/${project.id}/${path}?${name}=${text}`;
          const answer = await project.developer.dashboard('GET', ofProject);
          expect([200, 400], ofProject).toContain(answer.status);
        }
      }
    },
  );
});

describe('unusual bytes in paths', () => {
  test.each([...escapes, '%', '%zz', '%u0041', '..', '%2F', '%3F', 'notes%00', 'notes%20', 'notes%2F..', '%6eotes.'])(
    '400, 403 or 404 for %s',
    async (text) => {
      const port = Number(new URL(inject('stack').baseUrl).port);
      for (const path of [
        `/api/data/${text}`,
        `/api/data/notes/${text}`,
        `/api/data/${text}/${id}`,
        `/api/schemas/${text}`,
        `/${text}`,
      ]) {
        const answer = await send(port, { path, headers: ['x-api-key', project.secretKey] });
        expect([400, 403, 404], path).toContain(answer.status);
        expect(JSON.parse(answer.body)).toHaveProperty('message');
      }
      for (const [method, path] of [
        ['GET', `/api/userAuth/public/${text}`],
        ['GET', `/api/userAuth/social/${text}/start`],
        ['GET', `/api/userAuth/social/${text}/callback`],
        ['GET', `/api/userAuth/jwks/${text}`],
        ['DELETE', `/api/userAuth/sessions/${text}`],
      ] as const) {
        const headers = ['x-api-key', project.publishableKey, 'authorization', `Bearer ${user.token}`];
        const answer = await send(port, { path, headers, method });
        expect([400, 404], path).toContain(answer.status);
        expect(JSON.parse(answer.body)).toHaveProperty('message');
      }
      const dashboard = Number(new URL(inject('stack').dashboardUrl).port);
      for (const path of [
        `/api/projects/${text}`,
        `/api/projects/${project.id}/collections/${text}`,
        `/api/projects/${project.id}/collections/notes/indexes/${text}`,
        `/api/projects/${project.id}/users/${text}`,
        `/api/projects/${project.id}/users/${text}/sessions`,
        `/api/projects/${project.id}/users/${user.userId}/sessions/${text}`,
      ]) {
        const headers = ['authorization', `Bearer ${project.developer.token}`];
        const answer = await send(dashboard, { path, headers, method: text === '..' ? 'GET' : 'DELETE' });
        expect([400, 404], path).toContain(answer.status);
      }
    },
  );

  test('200 for a name in escapes, because it is the same name', async () => {
    expect((await project.api('GET', '/api/data/%6eotes')).status).toBe(200);
    expect((await project.api('GET', `/api/data/notes/%${id.charCodeAt(0).toString(16)}${id.slice(1)}`)).status).toBe(
      200,
    );
  });
});

/** Sends one request as bytes and returns the raw response. */
const raw = (bytes: Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(inject('stack').baseUrl).port), '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.setTimeout(60_000, () => socket.destroy(new Error(`No answer: ${text}`)));
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });

describe('unusual bytes in headers and request lines', () => {
  const head = (line: string, ...headers: string[]) =>
    Buffer.from([line, 'host: localhost', 'connection: close', ...headers, '', ''].join('\r\n'), 'latin1');

  test.each<[string, () => Buffer, RegExp]>([
    ['a key of high bytes', () => head('GET /api/data/notes HTTP/1.1', `x-api-key: \xff\xfe\x80`), /^HTTP\/1.1 401 /],
    [
      'a key with a NUL',
      () => head('GET /api/data/notes HTTP/1.1', `x-api-key: ${project.secretKey}\0`),
      /^HTTP\/1.1 400 /,
    ],
    [
      'a key given twice',
      () => head('GET /api/data/notes HTTP/1.1', `x-api-key: ${project.secretKey}`, `x-api-key: ${project.secretKey}`),
      /^HTTP\/1.1 400 /,
    ],
    [
      'a token of high bytes',
      () => head('GET /api/data/notes HTTP/1.1', `x-api-key: ${project.secretKey}`, 'authorization: Bearer \xff\xfe'),
      /^HTTP\/1.1 200 /,
    ],
    [
      'an origin of high bytes',
      () => head('GET /api/data/notes HTTP/1.1', `x-api-key: ${project.secretKey}`, 'origin: \xff'),
      /^HTTP\/1.1 200 /,
    ],
    [
      'headers named like prototypes',
      () => head('GET /api/data/notes HTTP/1.1', `x-api-key: ${project.secretKey}`, '__proto__: x', 'constructor: y'),
      /^HTTP\/1.1 200 /,
    ],
    [
      'a path of high bytes',
      () => head('GET /api/data/\xff\xfe HTTP/1.1', `x-api-key: ${project.secretKey}`),
      /^HTTP\/1.1 40[04] /,
    ],
    ['a method nobody knows', () => head('BREW /api/data/notes HTTP/1.1'), /^HTTP\/1.1 400 /],
    ['TRACE', () => head('TRACE /api/data/notes HTTP/1.1'), /^HTTP\/1.1 404 /],
    ['a whole URL as path', () => head('GET http://127.0.0.1/api/data/notes HTTP/1.1'), /^HTTP\/1.1 404 /],
    ['a path without a slash', () => head('GET * HTTP/1.1'), /^HTTP\/1.1 40[04] /],
    ['no HTTP', () => Buffer.from('\0\x01\x02\r\n\r\n'), /^HTTP\/1.1 400 /],
  ])('%s', async (_what, bytes, expected) => {
    expect(await raw(bytes())).toMatch(expected);
  });
});
