import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Invocations, startInvocations } from '../../infra/local/invocations.ts';
import { closeLambda, invokeFunction } from '../../shared/persistence/lambda.ts';

let invocations: Invocations;

beforeAll(async () => {
  invocations = await startInvocations(async (name, event) => {
    if (name === 'fails') throw new Error('out of memory');
    if (name === 'hangs') return new Promise(() => undefined);
    return { name, event } as never;
  });
  Object.assign(process.env, invocations.environment);
});

afterAll(async () => {
  closeLambda();
  await invocations.stop();
});

describe('function that calls another one', () => {
  test('gets its result', async () => {
    expect(await invokeFunction('jobs-some', { a: 'ü' }, 5000)).toEqual({ name: 'jobs-some', event: { a: 'ü' } });
  });

  test('gets an error when it fails', async () => {
    await expect(invokeFunction('fails', {}, 5000)).rejects.toThrow('fails failed');
  });

  test('gets its result when the idle connection was closed', async () => {
    let asked = 0;
    const server = createServer((request, response) => {
      asked++;
      if (asked === 1) request.socket.destroy();
      else response.end('"answered"');
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    closeLambda();
    vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    try {
      expect(await invokeFunction('jobs-some', {}, 5000)).toBe('answered');
      expect(asked).toBe(2);
    } finally {
      vi.unstubAllEnvs();
      closeLambda();
      server.close();
    }
  });

  test('stops waiting after its timeout', async () => {
    await expect(invokeFunction('hangs', {}, 300)).rejects.toThrow();
  });
});

test.each([
  ['GET', '/2015-03-31/functions/some/invocations'],
  ['POST', '/2015-03-31/functions/some'],
  ['POST', '/2015-03-31/functions'],
  ['POST', '/'],
])('404 for anything else: %s %s', async (method, path) => {
  const { AWS_ENDPOINT_URL_LAMBDA } = invocations.environment;
  const answer = await fetch(`${AWS_ENDPOINT_URL_LAMBDA}${path}`, { method, ...(method === 'POST' && { body: '{}' }) });
  expect(answer.status).toBe(404);
});
