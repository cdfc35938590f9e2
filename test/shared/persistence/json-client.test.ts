import { crc32 } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { JsonClient, ServiceError } from '../../../shared/persistence/aws-client.ts';
import { shortTries } from '../../../shared/persistence/service-client.ts';
import type { Reply } from '../../support/faults/fault.ts';
import { HttpProxy } from '../../support/faults/http-proxy.ts';

interface Operations {
  readonly GetItem: { input: { readonly Key?: string }; output: { readonly Item?: string } };
}

let service: HttpProxy;
let client: JsonClient<Operations>;

beforeAll(async () => {
  service = await HttpProxy.start();
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', service.url);
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'the secret');
});

beforeEach(() => {
  service.asked.length = 0;
  client = new JsonClient({ service: 'dynamodb', target: 'V1', json: '1.0', ...shortTries });
  // Retries wait a random time.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});

afterEach(() => {
  client.destroy();
  service.heal();
  vi.restoreAllMocks();
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await service.close();
});

const found: Reply = { body: { Item: 'found' } };
const refusing = (code: string, more: object = {}, status = 400): Reply => ({
  status,
  headers: { 'x-amzn-requestid': 'REQUEST' },
  body: { __type: `com.amazonaws.dynamodb.v20120810#${code}`, ...more },
});
const ask = () => client.send('GetItem', { Key: 'k' });
/** The error of a failed call. */
const failed = (): Promise<unknown> =>
  ask().then(
    () => expect.fail('It was answered'),
    (error: unknown) => error,
  );

describe('a call', () => {
  test('is one signed POST of JSON', async () => {
    service.next(found);
    expect(await ask()).toEqual({ Item: 'found' });
    expect(service.asked).toMatchObject([
      {
        method: 'POST',
        path: '/',
        body: { Key: 'k' },
        headers: {
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': 'V1.GetItem',
          authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=key\/\d{8}\/eu-central-1\/dynamodb\//),
        },
      },
    ]);
  });

  test('is signed with the current credentials', async () => {
    service.meet(found);
    await ask();
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'next');
    vi.stubEnv('AWS_SESSION_TOKEN', 'token');
    await ask();
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
    vi.stubEnv('AWS_SESSION_TOKEN', undefined);
    const [before, after] = service.asked;
    expect(before?.headers).not.toHaveProperty('x-amz-security-token');
    expect(after?.headers).toMatchObject({
      'x-amz-security-token': 'token',
      authorization: expect.stringContaining('Credential=next/'),
    });
  });
});

describe('a call is retried one time', () => {
  test.each<readonly [string, Reply | 'cut']>([
    ['its connection ends', 'cut'],
    ['the service fails', refusing('InternalServerError', {}, 500)],
    ['the service is unavailable', { status: 503, body: '<html>' }],
    ['it was signed too long ago', refusing('InvalidSignatureException', { message: 'Signature expired: 1 < 2' })],
    ['there are too many', refusing('ThrottlingException')],
    ['a table is too busy', refusing('ProvisionedThroughputExceededException')],
    ['the same transaction is running', refusing('TransactionInProgressException')],
    ['its response was damaged', { ...found, headers: { 'x-amz-crc32': '1' } }],
    ['its response is not JSON', { body: '{"Item":' }],
  ])('when %s', async (_why, fault) => {
    service.next(fault, found);
    expect(await ask()).toEqual({ Item: 'found' });
    const [first, second] = service.asked;
    expect(second?.bytes).toEqual(first?.bytes);
  });

  test('when no response arrives in time', async () => {
    service.next('hang', found);
    expect(await ask()).toEqual({ Item: 'found' });
  });

  test('and then fails', async () => {
    service.meet('cut');
    expect(await failed()).toMatchObject({ code: 'ECONNRESET' });
    expect(service.asked).toHaveLength(2);
  });

  test('unless too many calls have failed recently', async () => {
    service.meet(refusing('InternalServerError', {}, 500), { times: 110 });
    const triesOf = async () => {
      const before = service.asked.length;
      await ask().catch(() => undefined);
      return service.asked.length - before;
    };
    for (let call = 0; call < 35; call++) expect(await triesOf()).toBe(2);
    for (let call = 0; call < 40; call++) expect(await triesOf()).toBe(1);
    service.heal();
    service.meet(found, { times: 20 });
    for (let call = 0; call < 20; call++) await ask();
    service.next('cut', found);
    expect(await triesOf()).toBe(2);
  });
});

describe('a call fails without a retry', () => {
  test('when the service rejects it; the error has its code and message', async () => {
    service.meet(refusing('ConditionalCheckFailedException', { message: 'No.', Item: { n: { N: '1' } } }));
    const error = await failed();
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      name: 'ConditionalCheckFailedException',
      $metadata: { httpStatusCode: 400 },
      message: 'GetItem, 400, REQUEST: No.',
      answer: { Item: { n: { N: '1' } } },
    });
    expect(service.asked).toHaveLength(1);
  });

  test('with a message that omits the signed text', async () => {
    const message = 'The signature does not match.\n\nThe Canonical String was\nPOST\nx-amz-security-token:token';
    service.meet(refusing('InvalidSignatureException', { message }));
    expect(await failed()).toMatchObject({
      message: 'GetItem, 400, REQUEST: The signature does not match.',
    });
  });

  test('when the response is endless, which is not read to the end', async () => {
    service.meet({ body: 'x', endless: 'fast' });
    expect(await failed()).toMatchObject({ code: 'EMSGSIZE' });
    expect(service.asked).toHaveLength(1);
  });

  test('when credentials are missing', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', '');
    expect(await failed()).toMatchObject({ message: 'Settings of AWS: AWS_ACCESS_KEY_ID is not set' });
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
    expect(service.asked).toEqual([]);
  });
});

test('a response with the right checksum is accepted with any characters', async () => {
  const body = JSON.stringify({ Item: 'Zoë 🦊' });
  service.meet({ body, headers: { 'x-amz-crc32': String(crc32(body)) } });
  expect(await ask()).toEqual({ Item: 'Zoë 🦊' });
});
