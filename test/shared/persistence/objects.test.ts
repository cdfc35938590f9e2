import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { closeObjects, getObject, putObject } from '../../../shared/persistence/objects.ts';

let service: Server;
let connections: number;
let status: number;

/** Larger than a connection buffers, so an unread response blocks the connection. */
const answer = 'x'.repeat(1_000_000);

/** A request can start just before the connection of the previous one is free. */
const most = 2;

beforeEach(async () => {
  connections = 0;
  service = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end(answer));
  });
  service.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('AWS_ENDPOINT_URL_S3', `http://127.0.0.1:${(service.address() as AddressInfo).port}`);
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  vi.stubEnv('FILES_BUCKET', 'files');
  vi.stubEnv('FILES_URL', 'http://127.0.0.1/files');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  closeObjects();
  service.closeAllConnections();
  await new Promise((resolve) => service.close(resolve));
});

describe('a connection is reused after', () => {
  test.each([
    ['200', 200, getObject, answer],
    ['404', 404, getObject, undefined],
    ['200 to a text', 200, (key: string) => putObject(key, 'text'), undefined],
  ])('%s', async (_what, code, act, expected) => {
    status = code;
    for (let n = 0; n < 5; n++) expect(await act('key')).toBe(expected);
    expect(connections).toBeLessThanOrEqual(most);
  });

  test.each([
    ['500', 500],
    ['403', 403],
    ['404 when the bucket is missing', 404],
  ])('503 for %s', async (_what, code) => {
    status = code;
    for (let n = 0; n < 5; n++) {
      await expect(putObject('key', 'text')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    }
    expect(connections).toBeLessThanOrEqual(most);
  });
});
