import { createRequire } from 'node:module';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { startSupervised } from './child.ts';
import { nameOperation, requireOperations, unsupportedOperation } from './dynamo-operations.ts';
import { type LocalService, type LocalServiceOptions, startUntilReady } from './helper-process.ts';
import { originAt, probePort } from './ports.ts';
import { StartProblem } from './problem.ts';

const binary = (): string => {
  try {
    return createRequire(import.meta.url).resolve('@dynoxide/linux-x64/dynoxide');
  } catch (cause) {
    throw new StartProblem(
      'The DynamoDB emulator in the packages only runs on Linux x64.\n' +
        'Start another one, for example:\n' +
        '  docker run -d -p 8000:8000 amazon/dynamodb-local\n' +
        'Then start Basalt with its address:\n' +
        '  AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000 npm start',
      { cause },
    );
  }
};

const launch = async (file: string, { onExit }: LocalServiceOptions): Promise<LocalService> => {
  const port = await probePort(0);
  const address = originAt(port);
  const args = ['--host', '127.0.0.1', '--port', String(port), '--db-path', file];
  const { stop } = await startUntilReady(
    { name: 'DynamoDB', command: binary(), args, onExit },
    (line) => line.includes(address) || undefined,
    startSupervised,
  );
  return { address, stop };
};

/** Keys and billing of the table, as deployed. */
export const tableDefinition = {
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
  ],
  BillingMode: 'PAY_PER_REQUEST',
} satisfies Omit<CreateTableCommandInput, 'TableName'>;

/** Creates the table, with the TTL attribute of a deployment, if it is missing. */
const ensureTable = async (client: DynamoDBClient, TableName: string): Promise<void> => {
  try {
    await client.send(new CreateTableCommand({ TableName, ...tableDefinition })).catch((error: unknown) => {
      if (error instanceof ResourceInUseException) throw error;
      nameOperation('CreateTable')(error);
    });
    const TimeToLiveSpecification = { AttributeName: 'expiresAt', Enabled: true };
    const request = new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification });
    await client.send(request).catch(nameOperation('UpdateTimeToLive'));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
};

const problemOf = (error: unknown): string => {
  const unsupported = unsupportedOperation(error);
  return unsupported === undefined
    ? 'The DynamoDB at AWS_ENDPOINT_URL_DYNAMODB does not respond. Check that it is running and that the address is correct.'
    : `The DynamoDB at AWS_ENDPOINT_URL_DYNAMODB rejected ${unsupported}. Use one that supports this operation.`;
};

interface DynamoOptions extends LocalServiceOptions {
  /** SQLite file with the data. */
  readonly file: string;
  /** A DynamoDB of the user's own, which is used instead. */
  readonly endpoint: string | undefined;
  readonly table: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Starts DynamoDB, or uses the one at `endpoint`, and creates the table if it is missing. */
export const startDynamo = async (options: DynamoOptions): Promise<LocalService> => {
  const { file, endpoint, table, region, credentials } = options;
  const service = endpoint ? { address: endpoint, stop: async () => undefined } : await launch(file, options);
  const client = new DynamoDBClient({ endpoint: service.address, region, credentials, maxAttempts: 2 });
  try {
    await ensureTable(client, table);
    if (endpoint) await requireOperations(client, table);
  } catch (cause) {
    await service.stop();
    throw endpoint ? new StartProblem(problemOf(cause), { cause }) : cause;
  } finally {
    client.destroy();
  }
  return service;
};
