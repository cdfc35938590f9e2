import {
  BatchWriteItemCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  DynamoDBServiceException,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';

class UnsupportedOperation extends Error {}

/** Adds the operation's name to an error response of DynamoDB; other errors pass unchanged. */
export const nameOperation =
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
