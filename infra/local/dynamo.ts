import {
  BatchWriteItemCommand,
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteItemCommand,
  DynamoDBClient,
  DynamoDBServiceException,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ResourceInUseException,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { startEngine } from './dynamo-engines.ts';
import type { LocalService, LocalServiceOptions } from './helper-process.ts';
import { StartProblem } from './problem.ts';

class UnsupportedOperation extends Error {}

/** Adds the operation's name to an error response of DynamoDB; other errors pass unchanged. */
const nameOperation =
  (operation: string) =>
  (error: unknown): never => {
    if (!(error instanceof DynamoDBServiceException)) throw error;
    throw new UnsupportedOperation(`${operation} (${error.name})`, { cause: error });
  };

/** The operation that a DynamoDB rejected, such as `TransactWriteItems (UnknownOperationException)`. */
export const unsupportedOperation = (error: unknown): string | undefined =>
  error instanceof UnsupportedOperation ? error.message : undefined;

/** Empty requests. A DynamoDB that supports the operation rejects them as invalid and changes nothing. */
const emptyRequests = (
  client: DynamoDBClient,
  TableName: string,
): Readonly<Record<string, () => Promise<unknown>>> => ({
  GetItem: () => client.send(new GetItemCommand({ TableName, Key: {} })),
  PutItem: () => client.send(new PutItemCommand({ TableName, Item: {} })),
  UpdateItem: () => client.send(new UpdateItemCommand({ TableName, Key: {} })),
  DeleteItem: () => client.send(new DeleteItemCommand({ TableName, Key: {} })),
  Query: () => client.send(new QueryCommand({ TableName })),
  BatchWriteItem: () => client.send(new BatchWriteItemCommand({ RequestItems: {} })),
  TransactGetItems: () => client.send(new TransactGetItemsCommand({ TransactItems: [] })),
  TransactWriteItems: () => client.send(new TransactWriteItemsCommand({ TransactItems: [] })),
});

/** Throws unless the DynamoDB supports every operation that Basalt uses. */
export const requireOperations = async (client: DynamoDBClient, table: string): Promise<void> => {
  for (const [operation, send] of Object.entries(emptyRequests(client, table))) {
    await send().catch((error: unknown) => {
      if (!(error instanceof Error) || error.name !== 'ValidationException') nameOperation(operation)(error);
    });
  }
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
