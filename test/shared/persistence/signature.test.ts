import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Sha256 } from '../../../infra/local/files/signature.ts';
import { signedHeaders } from '../../../shared/persistence/aws-client.ts';
import { seed } from '../../support/data/fuzz-values.ts';

const text = fc.string({ minLength: 1, maxLength: 40, unit: fc.constantFrom(...'abcXYZ019+/=') });

const cases = fc.record({
  service: fc.constantFrom('dynamodb', 'secretsmanager'),
  region: fc.constantFrom('eu-central-1', 'us-east-1', 'cn-north-1'),
  host: fc.constantFrom('dynamodb.eu-central-1.amazonaws.com', '127.0.0.1:8000'),
  contentType: fc.constantFrom('application/x-amz-json-1.0', 'application/x-amz-json-1.1'),
  target: fc.constantFrom('DynamoDB_20120810.UpdateItem', 'secretsmanager.GetSecretValue'),
  accessKeyId: text,
  secretAccessKey: text,
  sessionToken: fc.option(text, { nil: undefined }),
  body: fc.oneof(fc.json(), fc.string({ unit: 'grapheme' })),
  now: fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
});

test('requests are signed as the signer of the SDK does, 500 of them', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async ({ accessKeyId, secretAccessKey, sessionToken, body, now, ...destination }) => {
      const { service, region, host, contentType, target } = destination;
      const credentials = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
      const { authorization, ...ours } = signedHeaders(destination, credentials, body, now.getTime());
      const signer = new SignatureV4({ service, region, credentials, sha256: Sha256, applyChecksum: false });
      const request = {
        method: 'POST',
        protocol: 'https:',
        hostname: host,
        path: '/',
        headers: { host, 'content-type': contentType, 'x-amz-target': target },
        body,
      };
      const { headers } = await signer.sign(request, { signingDate: now });
      expect({ ...ours, authorization }).toEqual(headers);
    }),
    { seed, numRuns: 500 },
  );
});

const objectCases = fc.record({
  method: fc.constantFrom('GET' as const, 'PUT' as const),
  region: fc.constantFrom('eu-central-1', 'us-east-1'),
  host: fc.constantFrom('s3.eu-central-1.amazonaws.com', '127.0.0.1:9000'),
  path: fc.constantFrom('/bucket/key', '/bucket/answers/0123abcd/part-1.json'),
  accessKeyId: text,
  secretAccessKey: text,
  sessionToken: fc.option(text, { nil: undefined }),
  body: fc.string({ unit: 'grapheme' }),
  now: fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
});

test('requests for objects are signed with the hash of their body, as the signer of the SDK does', async () => {
  await fc.assert(
    fc.asyncProperty(objectCases, async ({ accessKeyId, secretAccessKey, sessionToken, body, now, ...request }) => {
      const { method, region, host, path } = request;
      const credentials = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
      const ours = signedHeaders({ service: 's3', ...request }, credentials, body, now.getTime());
      const signer = new SignatureV4({ service: 's3', region, credentials, sha256: Sha256, uriEscapePath: false });
      const asked = { method, protocol: 'https:', hostname: host, path, headers: { host }, body };
      const { headers } = await signer.sign(asked, { signingDate: now });
      expect(ours).toEqual(headers);
    }),
    { seed, numRuns: 200 },
  );
});
