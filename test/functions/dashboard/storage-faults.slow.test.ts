import { afterEach, beforeAll, expect, test } from 'vitest';
import { handler as connectStorage } from '../../../functions/dashboard/storage/connect-storage.ts';
import { permitAddresses } from '../../../infra/local/permit-addresses.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { promisedMs } from '../../support/data/promised.ts';
import type { Reply } from '../../support/faults/fault.ts';
import { HttpProxy, type HttpRequest } from '../../support/faults/http-proxy.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

let project: TestProject;
const servers: HttpProxy[] = [];

beforeAll(async () => {
  project = await newProject();
});

afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

/** A loopback endpoint that the service may connect to. */
const endpointOf = async (
  fault: Parameters<HttpProxy['meet']>[0],
): Promise<{ readonly endpoint: string; readonly server: HttpProxy }> => {
  const server = await HttpProxy.start();
  server.meet(fault);
  servers.push(server);
  permitAddresses(new URL(server.url).host);
  return { endpoint: server.url, server };
};

const connect = (endpoint: string) =>
  invoke(connectStorage, {
    method: 'PUT',
    token: project.developer.token,
    params: { projectId: project.id },
    body: { endpoint, region: 'auto', bucket: 'bucket', accessKeyId: 'key', secretAccessKey: 'secret-of-the-test' },
  });

const xml = (status: number, code: string): Reply => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: `<Error><Code>${code}</Code><Message>Said by the storage: secret-of-the-test</Message></Error>`,
});

const isCopy = ({ headers }: HttpRequest): boolean => 'x-amz-copy-source' in headers;
const there: Reply = { headers: { 'content-length': '45', etag: '"1"' } };
const copied: Reply = { body: '<CopyObjectResult><ETag>"1"</ETag></CopyObjectResult>' };

const expectRefused = async (endpoint: string, field: string | undefined, message: string): Promise<void> => {
  const begin = performance.now();
  const { status, body } = await connect(endpoint);
  expect({ status, code: body.code, message: body.message }).toEqual({
    status: 400,
    code: 'INVALID_STORAGE',
    message: expect.stringContaining(message),
  });
  expect(body.errors).toEqual(field && [{ field, message: body.message }]);
  expect(JSON.stringify(body)).not.toContain('secret-of-the-test');
  expect(performance.now() - begin).toBeLessThan(promisedMs);
};

test('400 when no server listens', async () => {
  const { endpoint } = await endpointOf('cut');
  await servers.pop()?.close();
  await expectRefused(endpoint, 'endpoint', 'could not be reached');
});

test('400 within 5 seconds when the server does not respond', async () => {
  const { endpoint } = await endpointOf('hang');
  await expectRefused(endpoint, 'endpoint', 'could not be reached');
});

test('400 when every connection is cut', async () => {
  const { endpoint } = await endpointOf('cut');
  await expectRefused(endpoint, 'endpoint', 'could not be reached');
});

test('400 for a redirect, which is not followed', async () => {
  const inside = await endpointOf({ body: 'inside' });
  const { endpoint } = await endpointOf({ status: 307, headers: { location: inside.endpoint } });
  await expectRefused(endpoint, undefined, 'failed to write');
  expect(inside.server.asked).toEqual([]);
});

test('400 when a server accepts everything and stores nothing', async () => {
  const { endpoint } = await endpointOf({ body: 'fine' });
  await expectRefused(endpoint, 'endpoint', 'not an S3-compatible storage');
});

test.each<[string, number, string, string | undefined, string]>([
  ['does not know the key', 403, 'InvalidAccessKeyId', 'accessKeyId', 'rejected accessKeyId'],
  ['finds the signature wrong', 403, 'SignatureDoesNotMatch', 'accessKeyId', 'rejected accessKeyId'],
  ['lets the key do nothing', 403, 'AccessDenied', 'accessKeyId', 'does not let this access key write'],
  ['has no such bucket', 404, 'NoSuchBucket', 'bucket', 'bucket does not exist'],
  ['is in another region', 400, 'AuthorizationHeaderMalformed', 'region', 'region is not'],
  ['fails', 500, 'InternalError', undefined, 'it returned 500'],
])('400 when a storage %s', async (_what, status, code, field, message) => {
  const { endpoint } = await endpointOf(xml(status, code));
  await expectRefused(endpoint, field, message);
});

test.each<[string, string, string | undefined, string]>([
  ['HEAD', 'AccessDenied', 'accessKeyId', 'read objects'],
  ['COPY', 'AccessDenied', 'accessKeyId', 'copy objects'],
  ['DELETE', 'AccessDenied', 'accessKeyId', 'delete objects'],
])(
  '400 when a storage allows everything except %s; no test file stays there',
  async (refused, code, field, message) => {
    const { endpoint, server } = await endpointOf((request) => {
      const { method, path } = request;
      if (isCopy(request) ? refused === 'COPY' : method === refused) return xml(403, code);
      if (method === 'HEAD') return path.includes('-copy') ? { status: 404 } : there;
      return isCopy(request) ? copied : {};
    });
    await expectRefused(endpoint, field, message);
    expect(server.asked.filter(({ method }) => method === 'DELETE').length).toBeGreaterThanOrEqual(2);
  },
);

test('400 when a storage still has a deleted file', async () => {
  const { endpoint } = await endpointOf((request) => {
    if (request.method === 'HEAD') return request.path.includes('-copy') ? { status: 404 } : there;
    return isCopy(request) ? copied : {};
  });
  await expectRefused(endpoint, 'endpoint', 'still has what was deleted');
});

test('400 for a response without an end', async () => {
  const { endpoint } = await endpointOf({
    status: 403,
    headers: { 'content-type': 'application/xml' },
    body: '<Error>',
    endless: 'fast',
  });
  await expectRefused(endpoint, 'accessKeyId', 'does not let this access key');
});

test('400 when a host name resolves to an internal address after its check', async () => {
  const inside = await endpointOf({ body: 'inside' });
  const { port } = new URL(inside.endpoint);
  const resolver = Symbol.for('basalt.resolver');
  const answers = ['93.184.216.34'];
  permitAddresses();
  Reflect.set(globalThis, resolver, {
    addresses: async () => [{ address: answers.shift() ?? '127.0.0.1', family: 4 }],
  });
  try {
    await expectRefused(`https://s3.example.com:${port}`, 'endpoint', 'private or reserved');
    expect(answers).toEqual([]);
  } finally {
    Reflect.deleteProperty(globalThis, resolver);
  }
});
