import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { handler as connectStorage } from '../../../functions/dashboard/storage/connect-storage.ts';
import { permitAddresses } from '../../../infra/local/permit-addresses.ts';
import { listen } from '../../../infra/local/ports.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { promisedMs } from '../../support/samples/promised.ts';
import { newProject, type TestProject } from '../../support/worlds/project.ts';

let project: TestProject;
const servers: Server[] = [];

beforeAll(async () => {
  project = await newProject();
});

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** An endpoint on loopback that may be connected to; what it was asked, as `METHOD path`. */
const endpointOf = async (
  answer: RequestListener,
): Promise<{ readonly endpoint: string; readonly asked: string[] }> => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url?.split('?')[0]?.split('/').slice(0, 3).join('/')}`);
    request.resume();
    answer(request, response);
  });
  servers.push(server);
  const port = await listen(server, 0);
  permitAddresses(`127.0.0.1:${port}`);
  return { endpoint: `http://127.0.0.1:${port}`, asked };
};

const connect = (endpoint: string) =>
  invoke(connectStorage, {
    method: 'PUT',
    token: project.developer.token,
    params: { projectId: project.id },
    body: { endpoint, region: 'auto', bucket: 'bucket', accessKeyId: 'key', secretAccessKey: 'secret-of-the-test' },
  });

const xml = (response: ServerResponse, status: number, code: string): void => {
  response
    .writeHead(status, { 'content-type': 'application/xml' })
    .end(`<Error><Code>${code}</Code><Message>Said by the storage: secret-of-the-test</Message></Error>`);
};

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

test('400 where nothing listens', async () => {
  const { endpoint } = await endpointOf(() => undefined);
  servers[0]?.closeAllConnections();
  await new Promise((resolve) => servers.splice(0)[0]?.close(resolve));
  await expectRefused(endpoint, 'endpoint', 'could not be reached');
});

test('400 within 5 seconds where nothing answers', async () => {
  const { endpoint } = await endpointOf(() => undefined);
  await expectRefused(endpoint, 'endpoint', 'could not be reached');
});

test('400 where every connection is cut', async () => {
  const { endpoint } = await endpointOf((request) => request.socket.destroy());
  await expectRefused(endpoint, 'endpoint', 'could not be reached');
});

test('400 of a redirect, which is not followed', async () => {
  const inside = await endpointOf((_request, response) => response.end('inside'));
  const { endpoint } = await endpointOf((_request, response) =>
    response.writeHead(307, { location: inside.endpoint }).end(),
  );
  await expectRefused(endpoint, undefined, 'failed to write');
  expect(inside.asked).toEqual([]);
});

test('400 of a server that says yes to everything and keeps nothing', async () => {
  const { endpoint } = await endpointOf((_request, response) => response.end('fine'));
  await expectRefused(endpoint, 'endpoint', 'no S3-compatible storage');
});

test.each<[string, number, string, string | undefined, string]>([
  ['does not know the key', 403, 'InvalidAccessKeyId', 'accessKeyId', 'refused accessKeyId'],
  ['finds the signature wrong', 403, 'SignatureDoesNotMatch', 'accessKeyId', 'refused accessKeyId'],
  ['lets the key do nothing', 403, 'AccessDenied', 'accessKeyId', 'does not let this access key write'],
  ['has no such bucket', 404, 'NoSuchBucket', 'bucket', 'bucket does not exist'],
  ['is in another region', 400, 'AuthorizationHeaderMalformed', 'region', 'region is not'],
  ['fails', 500, 'InternalError', undefined, 'it answered 500'],
])('400 of a storage that %s', async (_what, status, code, field, message) => {
  const { endpoint } = await endpointOf((_request, response) => xml(response, status, code));
  await expectRefused(endpoint, field, message);
});

test.each<[string, string, string | undefined, string]>([
  ['HEAD', 'AccessDenied', 'accessKeyId', 'read objects'],
  ['COPY', 'AccessDenied', 'accessKeyId', 'copy objects'],
  ['DELETE', 'AccessDenied', 'accessKeyId', 'delete objects'],
])('400 of a storage that allows all but %s, and nothing is left there', async (refused, code, field, message) => {
  const isCopy = (request: IncomingMessage) => 'x-amz-copy-source' in request.headers;
  const { endpoint, asked } = await endpointOf((request, response) => {
    if (isCopy(request) ? refused === 'COPY' : request.method === refused) xml(response, 403, code);
    else if (request.method === 'HEAD' && request.url?.includes('-copy')) response.writeHead(404).end();
    else if (request.method === 'HEAD') response.writeHead(200, { 'content-length': 45, etag: '"1"' }).end();
    else if (isCopy(request)) response.end('<CopyObjectResult><ETag>"1"</ETag></CopyObjectResult>');
    else response.end();
  });
  await expectRefused(endpoint, field, message);
  expect(asked.filter((one) => one.startsWith('DELETE')).length).toBeGreaterThanOrEqual(2);
});

test('400 of a storage that still has what was deleted', async () => {
  const { endpoint } = await endpointOf((request, response) => {
    if (request.method === 'HEAD' && request.url?.includes('-copy')) response.writeHead(404).end();
    else if (request.method === 'HEAD') response.writeHead(200, { 'content-length': 45, etag: '"1"' }).end();
    else if ('x-amz-copy-source' in request.headers)
      response.end('<CopyObjectResult><ETag>"1"</ETag></CopyObjectResult>');
    else response.end();
  });
  await expectRefused(endpoint, 'endpoint', 'still has what was deleted');
});

test('400 of an answer that has no end', async () => {
  const { endpoint } = await endpointOf((_request, response) => {
    response.writeHead(403, { 'content-type': 'application/xml' });
    const more = setInterval(() => response.write('<Error>'.repeat(10_000)), 5);
    response.on('close', () => clearInterval(more));
  });
  await expectRefused(endpoint, 'accessKeyId', 'does not let this access key');
});

test('400 of a name that leads inside once it has been checked', async () => {
  const inside = await endpointOf((_request, response) => response.end('inside'));
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
