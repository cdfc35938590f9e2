import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { startDynamo } from '../../infra/local/dynamo.ts';
import { examine } from '../../infra/operate/doctor/check.ts';
import { storeChecks } from '../../infra/operate/doctor/stores.ts';

const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const setup: readonly (string | undefined)[] = ['CreateTable', 'UpdateTimeToLive'];

/** A DynamoDB that lacks an operation and rejects all item requests as invalid. */
const lacking = async (operation: string | undefined): Promise<string> => {
  const server = createServer((request, response) => {
    const asked = String(request.headers['x-amz-target']).split('.').at(-1);
    const refusal = asked === operation ? 'UnknownOperationException' : 'ValidationException';
    const isRefused = asked === operation || !setup.includes(asked);
    response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(isRefused ? JSON.stringify({ __type: refusal, message: '' }) : '{}');
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
const start = async (operation?: string) => {
  const endpoint = await lacking(operation);
  const quiet = { report: () => undefined, onExit: () => undefined };
  return startDynamo({ ...quiet, endpoint, directory: '', table: 'basalt', region: 'eu-west-1', credentials });
};

describe("DynamoDB of the user's own", () => {
  test.each([
    ...['CreateTable', 'UpdateTimeToLive', 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query'],
    ...['BatchWriteItem', 'TransactGetItems', 'TransactWriteItems'],
  ])('is rejected with the operation when it lacks %s', async (operation) => {
    await expect(start(operation)).rejects.toThrow(`rejected ${operation} (UnknownOperationException)`);
  });

  test('is accepted when it has all operations', async () => {
    expect(await start()).toHaveProperty('address');
  });
});

test.each([
  ['TransactWriteItems', 'failed', 'DynamoDB rejected TransactWriteItems (UnknownOperationException)'],
  [undefined, 'ok', 'DynamoDB supports every operation that Basalt uses'],
])('doctor checks the table operations when DynamoDB lacks %s', async (operation, level, detail) => {
  const aws = { region: 'eu-west-1', credentials, endpoint: await lacking(operation) };
  const target = { local: true, deployment: '', environment: { TABLE_NAME: 'basalt' }, functions: [], aws };
  const check = storeChecks.find(({ name }) => name === 'table operations');
  const findings = [];
  for await (const finding of examine(target, check ? [check] : [])) findings.push(finding);
  expect(findings).toMatchObject([{ level, detail }]);
});
