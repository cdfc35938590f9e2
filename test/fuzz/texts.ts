import assert from 'node:assert/strict';
import fc from 'fast-check';
import { comparableJson, parseJsonValue } from '../../shared/core/json.ts';
import { linearPattern, patternProblem } from '../../shared/core/linear-pattern.ts';
import { parseDatabaseUri, seedText, UnsupportedUri } from '../../shared/customer-database/uri.ts';
import { decodeCursor, encodeCursor } from '../../shared/documents/query/cursor.ts';
import { decodePosition, encodePosition } from '../../shared/documents/store/feed-position.ts';
import { ifMatchOf } from '../../shared/http/preconditions.ts';
import { renderTemplate } from '../../shared/mail/templates/render.ts';
import { RestrictedHost } from '../../shared/outbound/restricted-addresses.ts';
import { parseIdempotencyKey } from '../../shared/persistence/idempotency.ts';
import { text } from '../support/data/fuzz-values.ts';
import { id, json, listOf, mutated, mutatedValue, optional, sequence } from './grammar.ts';
import { parser } from './parser.ts';

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

const headers = parser(
  'preconditions and keys',
  fc.tuple(
    mutated(fc.constantFrom('"1"', 'W/"2"', '*', '"9007199254740993"')),
    mutated(fc.constantFrom('key', 'a,b', 'k'.repeat(255))),
  ),
  ([ifMatch, key]) => [ifMatchOf({ headers: { 'if-match': ifMatch } }), parseIdempotencyKey(key)],
);

export const texts = [jsonBodies, cursors, changedCursors, positions, templates, uris, patterns, headers];
