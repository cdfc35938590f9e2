import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { startEngine } from './dynamo-engines.ts';
import { nameOperation, requireOperations, unsupportedOperation } from './dynamo-operations.ts';
import type { LocalService, LocalServiceOptions } from './helper-process.ts';
import { StartProblem } from './problem.ts';

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
  /** The state directory. */
  readonly directory: string;
  /** A DynamoDB of the user's own, which is used instead. */
  readonly endpoint: string | undefined;
  readonly table: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Starts DynamoDB, or uses the one at `endpoint`, and creates the table if it is missing. */
export const startDynamo = async (options: DynamoOptions): Promise<LocalService> => {
  const { endpoint, table, region, credentials, report } = options;
  if (endpoint) report('DynamoDB is the one at AWS_ENDPOINT_URL_DYNAMODB');
  const service = endpoint ? { address: endpoint, stop: async () => undefined } : await startEngine(options);
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
