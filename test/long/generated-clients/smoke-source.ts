/** Uses the generated types of the public API. The test compiles and runs it next to `public.d.ts`. */
export const smokeSource = `
import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { paths } from './public.d.ts';
import type { paths as dashboard } from './dashboard.d.ts';

const [, , baseUrl = '', secretKey = '', publishableKey = ''] = process.argv;
const server = createClient<paths>({ baseUrl, headers: { 'x-api-key': secretKey } });
const app = createClient<paths>({ baseUrl, headers: { 'x-api-key': publishableKey } });
const path = { collectionName: 'notes' };

const made = await server.POST('/api/data/{collectionName}', { params: { path }, body: { text: 'from TypeScript' } });
const id: unknown = made.data?._id;
const list = await server.GET('/api/data/{collectionName}', { params: { path, query: { limit: 5, fields: 'text' } } });
const page = list.data?.data;
assert(page && 'items' in page);
const total: number = page.total;
const capped: boolean | undefined = page.totalCapped;
assert.equal(total, 1);
assert.equal(capped, undefined);
assert.equal(page.items[0]?._id, id);
const refused = await app.POST('/api/data/{collectionName}', { params: { path }, body: {} });
assert.equal(refused.error?.code, 'RLS_REQUIRED');
const signedUp = await app.POST('/api/userAuth/signup', { body: { email: 'typescript@example.com', password: 'correct horse' } });
const token: string | undefined = signedUp.data?.accessToken;
assert(token);
// @ts-expect-error a parameter of the wrong type
await server.GET('/api/data/{collectionName}', { params: { path, query: { limit: 'five' } } }).catch(() => undefined);
// @ts-expect-error there is no such route
type Nothing = dashboard['/api/nothing'];
type Kinds = dashboard['/api/projects/{projectId}/collections/{collectionName}/indexes']['post']['requestBody'];
const body: Kinds = { content: { 'application/json': { keys: { a: 1, b: -1, c: 'text' } } } } as const;
assert(body);
console.log('smoke ok');
`;
