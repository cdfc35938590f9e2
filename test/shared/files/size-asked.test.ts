import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import type { EdgeEvent } from '../../../infra/stacks/edge/size-request.ts';
import { sizeRequestFunction } from '../../../infra/stacks/size-requests.ts';
import { parseVariantName, variantQuery } from '../../../shared/files/images/variant.ts';
import { type QueryParameter, routeFileRequest } from '../../../shared/files/images/variant-url.ts';

const file = `/${'a'.repeat(24)}/${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}_cat.jpg`;

const parametersOf = (query: string): QueryParameter[] =>
  query === '' ? [] : query.split('&').map((part) => part.split('=', 2) as [string, string]);

const code = sizeRequestFunction();

/** Response of the edge function. */
const atEdge = (uri: string, query: string) => {
  const querystring: Record<string, { value: string; multiValue?: { value: string }[] }> = {};
  for (const [name, value] of parametersOf(query)) {
    const values = [...(querystring[name]?.multiValue ?? (querystring[name] ? [querystring[name]] : [])), { value }];
    querystring[name] = values.length > 1 ? { value, multiValue: values } : { value };
  }
  const event: EdgeEvent = { context: { requestId: 'r' }, request: { uri, querystring } };
  return runInNewContext(`${code}; handler(event)`, { event }) as {
    readonly uri?: string;
    readonly statusCode?: number;
    readonly body?: { readonly data: string };
  };
};

const local = (uri: string, query: string) => routeFileRequest(uri, parametersOf(query), 'r');

const led = [
  ['', ''],
  ['v=3&width=640', ''],
  ['fit=cover', ''],
  ['w=640', '/w640'],
  ['utm=1&w=640&x', '/w640'],
  ['format=webp&w=640', '/w640_webp'],
  ['h=64&fit=contain', '/h64'],
  ['h=480&w=2048&fit=cover', '/w2048_h480'],
  ['fit=contain&h=480&w=640&format=png', '/w640_h480_contain_png'],
  ['format=avif', '/avif'],
] as const;

const refused = [
  ['w=639', 'The nearest is 640'],
  ['w=0', 'The nearest is 64.'],
  ['h=99999', 'The nearest is 2048'],
  ['w=064', 'The nearest is 64.'],
  ['w=-64', 'w must be one of 64, 128'],
  ['w=6e2', 'w must be one of'],
  ['w=', 'w must be one of'],
  ['w=640.0', 'w must be one of'],
  ['w=%36%34', 'w must be one of'],
  ['w=64&w=64', 'w is sent 2 times'],
  ['fit=fill', 'fit must be one of cover, contain'],
  ['format=gif', 'format must be one of webp, avif, jpeg, png'],
  ['w=640&format=WEBP', 'format must be one of'],
] as const;

describe.each([
  ['the rule', (uri: string, query: string) => local(uri, query)],
  [
    'the same at the edge',
    (uri: string, query: string) => {
      const { uri: path = '', statusCode: status = 200, body } = atEdge(uri, query);
      return { path, status, body: body?.data ?? '' };
    },
  ],
] as const)('%s', (_name, lead) => {
  test.each(led)('?%s maps to %j of the file', (query, name) => {
    expect(lead(file, query)).toMatchObject({ status: 200, path: `${file}${name}` });
    expect(lead(`/private${file}`, query)).toMatchObject({ status: 200, path: `/private${file}${name}` });
  });

  test.each(refused)('400 INVALID_SIZE for ?%s', (query, words) => {
    const { status, body } = lead(file, query);
    expect([status, JSON.parse(body)]).toMatchObject([400, { success: false, code: 'INVALID_SIZE', requestId: 'r' }]);
    expect(body).toContain(words);
  });

  test.each([`${file}/w640`, `/private${file}/w640`, `${file}/`, `${file}//w640`, `${file}/w640/x`])(
    '404 FILE_NOT_FOUND for the internal address of a variant: %s',
    (path) => {
      expect(lead(path, '').status).toBe(404);
      expect(lead(path, 'w=64').status).toBe(404);
    },
  );

  test.each(['/x', '/', '/favicon.ico', `/other${file}`, file.slice(0, 20), `${file}%2fw640`])(
    '404 FILE_NOT_FOUND for a path that is no file, without a call to the origin: %s',
    (path) => {
      const { status, body } = lead(path, '');
      expect([status, JSON.parse(body)]).toMatchObject([404, { code: 'FILE_NOT_FOUND' }]);
    },
  );
});

test('fits the size limit of CloudFront functions', () => {
  expect(code.length).toBeLessThan(10_000);
  expect(code).not.toMatch(/^(?:import|export)/m);
});

test('a variant name is parsed as its variant; other texts are rejected', () => {
  for (const [query, name] of led.filter(([, path]) => path !== '')) {
    const size = parseVariantName(name.slice(1));
    expect(local(file, variantQuery(size ?? {}).slice(1)).path, query).toBe(`${file}${name}`);
  }
  for (const name of [
    '',
    'w63',
    'w640_',
    '_w640',
    'w640h480',
    'contain',
    'w640_contain',
    'gif',
    'w640_cover',
    'w064',
  ]) {
    expect(parseVariantName(name), name).toBeUndefined();
  }
});
