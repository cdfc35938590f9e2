import { describe, expect, test } from 'vitest';
import { compileRoutes, malformed } from '../../infra/local/router.ts';

const find = compileRoutes(
  [
    { name: 'list', method: 'GET', path: '/api/data/{collectionName}' },
    { name: 'create', method: 'POST', path: '/api/data/{collectionName}' },
    { name: 'get', method: 'GET', path: '/api/data/{collectionName}/{id}' },
    { name: 'aggregate', method: 'POST', path: '/api/data/{collectionName}/aggregate' },
    { name: 'schema', method: 'GET', path: '/api/data/{collectionName}/schema' },
    { name: 'recover', method: 'PATCH', path: '/api/data/{name}/{id}/recover' },
    { name: 'me', method: 'GET', path: '/api/auth/me' },
  ],
  'unknown',
);

const cases: readonly [title: string, method: string, path: string, name: string, parameters?: object][] = [
  ['a parameter takes one segment', 'GET', '/api/data/posts', 'list', { collectionName: 'posts' }],
  ['the method decides between routes of one path', 'POST', '/api/data/posts', 'create', { collectionName: 'posts' }],
  ['several parameters keep their places', 'GET', '/api/data/a/b', 'get', { collectionName: 'a', id: 'b' }],
  ['a literal wins over a parameter', 'GET', '/api/data/posts/schema', 'schema', { collectionName: 'posts' }],
  [
    'a literal of another method does not',
    'GET',
    '/api/data/a/aggregate',
    'get',
    { collectionName: 'a', id: 'aggregate' },
  ],
  ['a literal may follow parameters', 'PATCH', '/api/data/a/b/recover', 'recover', { name: 'a', id: 'b' }],
  ['a path may be all literals', 'GET', '/api/auth/me', 'me'],
  ['parameters are decoded', 'GET', '/api/data/%75sers', 'list', { collectionName: 'users' }],
  ['parameters are decoded once', 'GET', '/api/data/%2575sers', 'list', { collectionName: '%75sers' }],
  ['an escaped slash stays in its segment', 'GET', '/api/data/users%2Fx', 'list', { collectionName: 'users/x' }],
  ['escaped bytes are UTF-8', 'GET', '/api/data/%C3%A9', 'list', { collectionName: 'é' }],
  ['__proto__ is a value like any other', 'GET', '/api/data/__proto__', 'list', { collectionName: '__proto__' }],
  ['a trailing slash is another path', 'GET', '/api/data/posts/', 'unknown'],
  ['an empty segment is no value', 'GET', '/api/data//x', 'unknown'],
  ['a doubled slash is another path', 'GET', '//api/data/posts', 'unknown'],
  ['a longer path is another path', 'GET', '/api/data/a/b/c', 'unknown'],
  ['a shorter path is another path', 'GET', '/api/data', 'unknown'],
  ['the root is no route', 'GET', '/', 'unknown'],
  ['an unknown method has no route', 'TRACE', '/api/data/posts', 'unknown'],
  ['HEAD is not GET', 'HEAD', '/api/data/posts', 'unknown'],
  ['case matters', 'GET', '/API/data/posts', 'unknown'],
  ['a full URL is no path', 'GET', 'http://x/api/data/posts', 'unknown'],
];

describe('router', () => {
  test.for(cases)('%s', ([, method, path, name, pathParameters]) => {
    expect(find(method, path)).toMatchObject({ name, pathParameters });
  });

  test.for(['/api/data/%', '/api/data/%zz', '/api/data/%C3', '/api/data/%ff', '/%E0%A4%A'])('400 %s', (path) => {
    expect(find('GET', path)).toBe(malformed);
  });

  test('returns the route key of API Gateway', () => {
    expect(find('GET', '/api/data/a/b')).toMatchObject({ routeKey: 'GET /api/data/{collectionName}/{id}' });
    expect(find('GET', '/nowhere')).toMatchObject({ routeKey: '$default' });
  });

  test('throws when two routes have the same method and path', () => {
    const twice = [
      { name: 'a', method: 'GET', path: '/x/{a}' },
      { name: 'b', method: 'GET', path: '/x/{b}' },
    ];
    expect(() => compileRoutes(twice, 'unknown')).toThrow('GET /x/{b} is routed twice');
  });
});
