import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { newCode, newLinkToken, parseCode, parseLinkToken } from '../../shared/accounts/email-tokens.ts';
import { newRefreshToken, parseRefreshToken } from '../../shared/accounts/sessions.ts';
import { issueDashboardToken, verifyDashboardToken } from '../../shared/accounts/tokens.ts';
import { comparableJson, JsonText, parseJsonValue } from '../../shared/core/json.ts';
import { linearPattern, patternProblem } from '../../shared/core/linear-pattern.ts';
import { parseDatabaseUri, seedText, UnsupportedUri } from '../../shared/customer-database/uri.ts';
import { decodeCursor, encodeCursor } from '../../shared/documents/query/cursor.ts';
import { decodePosition, encodePosition } from '../../shared/documents/store/feed-position.ts';
import { requireDeclaredType } from '../../shared/files/confirm-upload.ts';
import { isPathOf, newFilePath, toDisplayName } from '../../shared/files/file-items.ts';
import { draw } from '../../shared/files/images/draw-picture.ts';
import { parseVariantName, variantQuery } from '../../shared/files/images/variant.ts';
import { isSigned as isSignedLink, signedAddress } from '../../shared/files/signed-links.ts';
import { cookie, getCookie } from '../../shared/http/cookies.ts';
import { ifMatchOf } from '../../shared/http/preconditions.ts';
import { isSigned, parseSecrets, sign } from '../../shared/mail/event-signature.ts';
import { renderTemplate } from '../../shared/mail/templates/render.ts';
import { RestrictedHost } from '../../shared/outbound/restricted-addresses.ts';
import { parseIdempotencyKey } from '../../shared/persistence/idempotency.ts';
import { UnreadableFile } from '../../shared/transfers/csv-format.ts';
import { csvLines } from '../../shared/transfers/csv-lines.ts';
import { csvHeader, csvRow } from '../../shared/transfers/csv-rows.ts';
import { everything, schemaFree } from '../shared/documents/collections.ts';
import { text } from '../support/data/fuzz-values.ts';
import { json, listOf, mutated, mutatedValue, optional, sequence } from './grammar.ts';
import { parser } from './parser.ts';

const id = fc.constantFrom('a'.repeat(24), 'f'.repeat(24), '0123456789abcdef01234567');
const now = 1_800_000_000;

const jsonBodies = parser('JSON', mutated(json), (sent) => {
  const value = parseJsonValue(sent);
  const printed = JSON.stringify(value);
  assert.equal(JSON.stringify(parseJsonValue(printed)), printed);
  assert.equal(comparableJson(comparableJson(sent)), comparableJson(sent));
  return value;
});

const keys = fc.array(
  fc.oneof(
    fc.constantFrom<unknown>(null, 1, -0.5, 'a', true, undefined),
    fc.date({ noInvalidDate: true }),
    fc.constant([1]),
  ),
  { maxLength: 3 },
);
const cursors = parser('cursors', fc.tuple(keys, id, fc.nat(), mutated(fc.constant('x'))), ([values, last]) => {
  const all = [...values, last];
  const cursor = encodeCursor('f', all);
  assert.deepEqual(decodeCursor('f', all.length, cursor), { values: all });
  return cursor;
});
const changedCursors = parser(
  'changed cursors',
  mutated(fc.tuple(keys, id).map(([values, last]) => encodeCursor('f', [...values, last]))),
  (sent) => decodeCursor('f', 2, sent),
);

const positions = parser(
  'positions',
  fc.record({
    after: fc.bigInt({ min: 0n, max: 2n ** 63n }),
    gaps: fc.array(fc.bigInt({ min: 1n, max: 2n ** 40n }), { maxLength: 5 }),
    change: fc.option(fc.nat(200)),
  }),
  async ({ after, gaps, change }) => {
    let last = after;
    const shown = gaps.map((gap) => (last += gap)).filter((at) => at < 2n ** 64n);
    const sent = await encodePosition('view', { after, shown });
    if (change === null) {
      assert.deepEqual(await decodePosition('view', sent, new Date(0)), { after, shown });
      return undefined;
    }
    const at = change % sent.length;
    const other = `${sent.slice(0, at)}${sent[at] === 'A' ? 'B' : 'A'}${sent.slice(at + 1)}`;
    const isSame = Buffer.from(other, 'base64url').equals(Buffer.from(sent, 'base64url'));
    const found = await decodePosition('view', other, new Date(0));
    assert.ok(isSame, 'A changed position was accepted');
    return found;
  },
);

const variables = mutatedValue(
  fc.record(
    {
      name: text,
      a: fc.record({ b: text, c: fc.constantFrom<unknown>('<script>', '"', 1, null, [1], {}) }),
      link: text,
    },
    { requiredKeys: [] },
  ),
);
const piece = fc.constantFrom(
  'Hi ',
  '{{name}}',
  '{{ a.b }}',
  '{{a.c}}',
  '{{a}}',
  '{{__proto__}}',
  '{{constructor.name}}',
  '{{a.__proto__.x}}',
  '{{',
  '}}',
  '{ {name}}',
  '{{toString}}',
  '{{{name}',
);
const templates = parser(
  'mail templates',
  fc.tuple(mutated(listOf(piece, ' ', 8)), variables),
  ([template, values]) => {
    const html = template.replaceAll(/[<>"']/g, '').replaceAll('{{{', '{{');
    const given = typeof values === 'object' && values !== null && !Array.isArray(values) ? values : {};
    const made = renderTemplate(
      { name: 'Any', siteName: 'Site', subject: template, html, text: template },
      given as Record<string, unknown>,
    );
    assert.doesNotMatch(made.html ?? '', /[<>"']/, 'A value of a template is not escaped');
    assert.doesNotMatch(made.subject, /[\r\n]/, 'A subject has several lines');
    assert.doesNotMatch(`${made.html}`, /native code/, 'A template reads what an object inherits');
    return made;
  },
);

const linesOf = async (csv: string, collection = everything): Promise<unknown[]> => {
  const bytes = Buffer.from(csv);
  const lines: unknown[] = [];
  const open = async function* (from: number) {
    yield bytes.subarray(from);
  };
  for await (const line of csvLines(open, { line: 0, bytes: 0 }, collection)) lines.push(line);
  return lines;
};
const isUnreadable = (error: unknown): boolean => error instanceof UnreadableFile;
const cell = fc.oneof(
  fc.constantFrom(
    'a',
    '"a ""b"""',
    '1,5',
    '=1+1',
    "'=1",
    '',
    '[1,2]',
    '{"__proto__":{}}',
    '"a\nb"',
    ' ',
    '"',
    '2026-01-01',
  ),
  text,
);
const header = fc.constantFrom(
  'title',
  'views',
  'meta.score',
  'tags',
  'x',
  'meta',
  '"title"',
  '__proto__',
  'constructor.x',
  'a..b',
  '',
  'sep=;',
);
const csv = fc
  .constantFrom(',', ';', '\t', '|')
  .chain((by) =>
    sequence(
      optional(fc.constantFrom('\ufeff', `sep=${by}\n`)),
      listOf(header, by),
      '\n',
      listOf(listOf(cell, by), '\r\n'),
    ),
  );
const csvFiles = parser('CSV', mutated(csv), (sent) => linesOf(sent), isUnreadable);

const texts = fc
  .string({ minLength: 1, unit: 'grapheme' })
  .filter((one) => one.isWellFormed() && !one.includes('\0') && one.trim() !== '' && !one.startsWith('\ufeff'));
const rows = fc.array(
  fc.record({
    a: texts,
    b: fc.oneof(texts, fc.constantFrom("'", "''=x", '=1', '-', '@x', 'a,b', '"', 'a"b', 'x\r\ny', ';;', '\t|')),
  }),
  { minLength: 1, maxLength: 4 },
);
const csvRoundTrip = parser('CSV of an export', rows, async (documents) => {
  const printed = [
    csvHeader(['a', 'b']),
    ...documents.map((one) => csvRow(['a', 'b'], new JsonText(JSON.stringify(one)))),
  ].join('\r\n');
  const read = (await linesOf(`${printed}\r\n`, schemaFree)) as { readonly body: unknown }[];
  assert.deepEqual(
    read.map(({ body }) => ({ ...(body as object) })),
    documents.map((one) => ({ ...one })),
  );
  return read;
});

const host = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('db.example.com', 'DB.example.com:27018', '8.8.8.8') },
  fc.constantFrom('[2606:4700::1]:1', '127.0.0.1', 'a', '[::1]', 'db.example.com.', '0x7f.1', '%6c'),
);
const option = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'replicaSet=rs0',
      'authSource=admin',
      'tls=true',
      'SSL=true',
      'w=majority',
      'readPreference=nearest',
      'appName=%2e',
      'maxPoolSize=x',
    ),
  },
  sequence(fc.constantFrom('directConnection', 'x', 'authMechanism', 'w'), '=', fc.constantFrom('true', '0', '%2', '')),
);
const uri = sequence(
  fc.constantFrom('mongodb://', 'mongodb+srv://'),
  optional(sequence(fc.constantFrom('u', '%40', 'u:p', 'u:p%3a'), '@')),
  listOf(host, ',', 3),
  optional(sequence('/', fc.constantFrom('', 'shop', 'admin', 'local', '%2e'))),
  optional(sequence('?', listOf(option, '&'))),
);
const uris = parser(
  'database URIs',
  mutated(uri),
  (sent) => {
    const found = parseDatabaseUri(sent);
    const printed = `${found.srv ? 'mongodb+srv' : 'mongodb'}://${found.seeds.map((seed) => (found.srv ? seed.host : seedText(seed))).join(',')}`;
    assert.deepEqual(parseDatabaseUri(printed).seeds, found.seeds);
    return found;
  },
  (error) => error instanceof UnsupportedUri || error instanceof RestrictedHost,
);

const eventOf = (cookies: readonly string[]) =>
  ({ cookies, headers: {}, requestContext: { domainName: 'api.example.com' } }) as never;
const cookies = parser(
  'cookies',
  fc.tuple(
    fc.array(mutated(fc.constantFrom('rt=1', 'x=2', 'r=rt=3', 'rt', '=rt=')), { maxLength: 3 }),
    fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/),
  ),
  ([others, value]) => {
    const [pair = ''] = cookie(eventOf([]), 'rt', value, { path: '/', sameSite: 'Lax', maxAge: 1 }).split('; ');
    assert.equal(getCookie(eventOf([pair, ...others]), 'rt'), value);
    return getCookie(eventOf(others), 'rt');
  },
);

const amr = fc.array(fc.constantFrom('pwd', 'otp', 'social:github'), { maxLength: 3 });
const tokens = parser(
  'refresh tokens and codes',
  fc.tuple(id, id, amr, mutated(id)),
  ([userId, sessionId, methods, other]) => {
    const { token, hash } = newRefreshToken(userId, sessionId, methods);
    const { amr: read = [], ...rest } = parseRefreshToken(token) ?? {};
    assert.deepEqual([{ ...rest }, read], [{ userId, sessionId, hash }, methods]);
    const link = newLinkToken('AAAAAAAAAAAAAAAAAAAAAA');
    assert.deepEqual(parseLinkToken(` ${link.token}\u200b`), { addressKey: 'AAAAAAAAAAAAAAAAAAAAAA', hash: link.hash });
    const code = newCode();
    assert.equal(parseCode(code.toLowerCase().replace('-', ' – ')), code.replace('-', ''));
    return [other, token + other, other + token].map((sent) => [
      parseRefreshToken(sent),
      parseLinkToken(sent),
      parseCode(sent),
    ]);
  },
);
const part = fc
  .constantFrom(
    '{"alg":"none"}',
    '{"alg":"HS256","typ":"dashboard+jwt"}',
    '{"sub":"a"}',
    '{"exp":1e99}',
    '',
    '[]',
    'null',
    '{"__proto__":{}}',
  )
  .map((each) => Buffer.from(each).toString('base64url'));
const madeTokens = parser(
  'access tokens',
  fc.tuple(mutated(sequence(part, '.', part, '.', optional(part))), fc.option(fc.nat())),
  async ([forged, change]) => {
    if (change === null) return verifyDashboardToken(forged);
    const { accessToken } = await issueDashboardToken({ userId: 'a'.repeat(24), sessionId: 'b'.repeat(24) });
    const at = change % accessToken.lastIndexOf('.');
    const other = `${accessToken.slice(0, at)}${accessToken[at] === 'A' ? 'B' : 'A'}${accessToken.slice(at + 1)}`;
    const found = await verifyDashboardToken(other);
    assert.fail(`A changed token was accepted: ${JSON.stringify(found)}`);
  },
);

const [secret] = parseSecrets(`whsec_${Buffer.alloc(24, 7).toString('base64')}`) as [Buffer];
const signed = sign(secret, 'm', String(now), 'body');
const signatures = parser(
  'signatures of events',
  fc.record({
    signature: mutated(listOf(fc.constantFrom(signed, 'v1,x', 'v2,y', 'v1a,'), ' ')),
    timestamp: mutated(fc.constant(String(now))),
    id: mutated(fc.constant('m')),
    body: mutated(fc.constant('body')),
  }),
  ({ body, ...sent }) => {
    const isAccepted = isSigned({ ...sent, body: Buffer.from(body) }, [secret], now);
    const isRight =
      sent.signature
        .split(/[\s,]v1,|[\s,]+(?=v1)/)
        .join(' ')
        .includes(signed.slice(3)) &&
      sent.id === 'm' &&
      sent.timestamp === String(now) &&
      body === 'body';
    assert.ok(!isAccepted || isRight, 'A forged event was accepted');
    return isAccepted;
  },
);

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const linkKeys = new Map([['K', publicKey]]);
const address = fc.constantFrom('https://files.example.com/private/a', 'https://files.example.com/private/a?w=64');
const links = parser(
  'signed links',
  fc
    .tuple(address, fc.nat(3))
    .chain(([place, size]) =>
      fc.tuple(
        fc.constant(signedAddress(place, now + size, { id: 'K', privateKey } as never)),
        fc.nat(10_000),
        fc.boolean(),
      ),
    ),
  ([link, at, isChanged]) => {
    if (!isChanged) assert.ok(isSignedLink(link, linkKeys, 1000 * (now - 1)), 'A signed link was rejected');
    const place = at % link.length;
    const other = `${link.slice(0, place)}${link[place] === 'A' ? 'B' : 'A'}${link.slice(place + 1)}`;
    assert.ok(!isSignedLink(other, linkKeys, 1000 * (now - 1)), 'A changed link was accepted');
    return isSignedLink(`${link}&${other}`, linkKeys, now);
  },
);

const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '{,2}', '*?');
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'pattern' },
    fc.constantFrom('a', '.', '\\d', '[a-z]', '[^\\n]', 'é', '\\u{1f600}', '^', '$', '\\b', '\\x41'),
    sequence('(', tie('pattern'), ')', quantifier),
    sequence(tie('pattern'), '|', tie('pattern')),
    sequence(tie('pattern'), tie('pattern'), quantifier),
  ),
}));
const patterns = parser(
  'patterns',
  fc.tuple(mutated(pattern), mutated(fc.constantFrom('a', 'aab', 'é', ''))),
  ([source, sent]) => {
    if (patternProblem(source) !== undefined) return undefined;
    const { pcre, test } = { pcre: linearPattern(source).pcre, test: linearPattern(source).test(sent) };
    if (sent.length < 50) assert.equal(test, new RegExp(source, 'u').test(sent));
    return pcre;
  },
);

const sizes = parser(
  'sizes of pictures',
  mutated(
    sequence(
      optional(fc.constantFrom('w64', 'w65', 'w2048')),
      optional(fc.constantFrom('_h64', 'h128')),
      optional(fc.constantFrom('_contain', '_cover')),
      optional(fc.constantFrom('_webp', '_gif', 'avif')),
    ),
  ),
  (sent) => {
    const size = parseVariantName(sent);
    if (size) assert.match(variantQuery(size), /^\?/);
    return size;
  },
);
const names = parser(
  'names of files',
  mutated(
    fc.constantFrom('a.png', '../a', 'a\u202eb.exe', '..', 'a'.repeat(300), 'e\u0301.txt', '.a', 'a/b\\c'),
  ).filter((one) => one !== ''),
  (sent) => {
    const shown = toDisplayName(sent);
    assert.equal(toDisplayName(shown), shown);
    assert.ok(isPathOf('a'.repeat(24), newFilePath('a'.repeat(24), sent)), 'A path of ours is not valid');
    return shown;
  },
);
const headers = parser(
  'preconditions and keys',
  fc.tuple(
    mutated(fc.constantFrom('"1"', 'W/"2"', '*', '"9007199254740993"')),
    mutated(fc.constantFrom('key', 'a,b', 'k'.repeat(255))),
  ),
  ([ifMatch, key]) => [ifMatchOf({ headers: { 'if-match': ifMatch } }), parseIdempotencyKey(key)],
);

/** Starts of pictures, with wrong sizes and cut off; none is larger than 1 KB. */
const magic = [
  '89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489',
  '474946383961010001008000000000',
  'ffd8ffe000104a46494600010100000100010000ffdb',
  '524946462600000057454250565038200000',
  '0000001c667479706176696600000000',
  '424d46000000000000003600',
  '3c737667',
  '49492a0008000000',
  '25504446',
];
const picture = fc
  .tuple(
    fc.constantFrom(...magic),
    fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 6 }),
    fc.uint8Array({ maxLength: 300 }),
  )
  .map(([start, changes, rest]) => {
    const bytes = Buffer.concat([Buffer.from(start, 'hex'), rest]);
    for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
    return bytes;
  });
const pictures = parser(
  'headers of pictures',
  fc.tuple(picture, fc.constantFrom('image/png', 'text/plain', 'application/zip', 'image/webp')),
  async ([bytes, type]) => {
    const made = await draw({ bytes, usual: 'png', size: { width: 64, fit: 'cover' } });
    assert.ok('refused' in made || made.drawn.bytes.length > 0);
    await requireDeclaredType(type, bytes);
    return 'refused' in made ? made.refused : undefined;
  },
);

export const textParsers = [
  jsonBodies,
  cursors,
  changedCursors,
  positions,
  templates,
  csvFiles,
  csvRoundTrip,
  uris,
  cookies,
  tokens,
  madeTokens,
  signatures,
  links,
  patterns,
  sizes,
  names,
  headers,
  pictures,
];
