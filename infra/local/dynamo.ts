import { createRequire } from 'node:module';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { startSupervised } from './child.ts';
import { startUntilUp } from './helper-process.ts';
import type { LocalService, LocalServiceOptions } from './local-service.ts';
import { originAt, probePort } from './ports.ts';
import { StartProblem } from './problem.ts';
import { naming, refusedOperation, requireOperations } from './table-operations.ts';

const binary = (): string => {
  try {
    return createRequire(import.meta.url).resolve('@dynoxide/linux-x64/dynoxide');
  } catch (cause) {
    throw new StartProblem(
      'The DynamoDB that comes with Basalt is made for Linux on x64 only.\n' +
        'Start another one, for example with\n' +
        '  docker run -d -p 8000:8000 amazon/dynamodb-local\n' +
        'and name it:\n' +
        '  AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000 npm start',
      { cause },
    );
  }
};

const launch = async (file: string, { onExit }: LocalServiceOptions): Promise<LocalService> => {
  const port = await probePort(0);
  const address = originAt(port);
  const args = ['--host', '127.0.0.1', '--port', String(port), '--db-path', file];
  const { stop } = await startUntilUp(
    { name: 'DynamoDB', command: binary(), args, onExit },
    (line) => line.includes(address) || undefined,
    startSupervised,
  );
  return { address, stop };
};

/** What the one table is made with, but its name; its keys are those of the deployment. */
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

/** Makes the one table where it is missing, with the TTL of the deployment. */
const ensureTable = async (client: DynamoDBClient, TableName: string): Promise<void> => {
  try {
    await client.send(new CreateTableCommand({ TableName, ...tableDefinition })).catch((error: unknown) => {
      if (error instanceof ResourceInUseException) throw error;
      naming('CreateTable')(error);
    });
    const TimeToLiveSpecification = { AttributeName: 'expiresAt', Enabled: true };
    const request = new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification });
    await client.send(request).catch(naming('UpdateTimeToLive'));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
};

/** What is wrong with a DynamoDB of the operator's own: one that refuses an operation does answer. */
const reasonOf = (error: unknown): string => {
  const refused = refusedOperation(error);
  return refused === undefined
    ? 'The DynamoDB that AWS_ENDPOINT_URL_DYNAMODB names does not answer. Is it running, and the address right?'
    : `The DynamoDB that AWS_ENDPOINT_URL_DYNAMODB names refused ${refused}. Use one that has this operation.`;
};

interface DynamoOptions extends LocalServiceOptions {
  /** SQLite file that holds the data. */
  readonly file: string;
  /** Another DynamoDB to use instead. */
  readonly endpoint: string | undefined;
  readonly table: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Starts DynamoDB on a file, or takes the one at `endpoint`, and makes the table where it is missing. */
export const startDynamo = async (options: DynamoOptions): Promise<LocalService> => {
  const { file, endpoint, table, region, credentials } = options;
  const part = endpoint ? { address: endpoint, stop: async () => undefined } : await launch(file, options);
  const client = new DynamoDBClient({ endpoint: part.address, region, credentials, maxAttempts: 2 });
  try {
    await ensureTable(client, table);
    if (endpoint) await requireOperations(client, table);
  } catch (cause) {
    await part.stop();
    throw endpoint ? new StartProblem(reasonOf(cause), { cause }) : cause;
  } finally {
    client.destroy();
  }
  return part;
};
