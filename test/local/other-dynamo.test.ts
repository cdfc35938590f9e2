import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { startDynamo } from '../../infra/local/dynamo.ts';

test("a DynamoDB of one's own is refused with the operation that it lacks", async () => {
  const server = createServer((request, response) => {
    const lacking = request.headers['x-amz-target']?.includes('UpdateTimeToLive');
    response.writeHead(lacking ? 400 : 200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(lacking ? '{"__type":"UnknownOperationException"}' : '{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const options = { endpoint: `http://127.0.0.1:${port}`, file: '', table: 'basalt', region: 'eu-west-1' };
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  await expect(startDynamo({ ...options, credentials } as Parameters<typeof startDynamo>[0])).rejects.toThrow(
    'refused UpdateTimeToLive (UnknownOperationException)',
  );
  server.close();
});
