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

class RefusedOperation extends Error {}

/** Names the operation of a refusal; what is no answer of DynamoDB stays as it is. */
export const naming =
  (operation: string) =>
  (error: unknown): never => {
    if (!(error instanceof DynamoDBServiceException)) throw error;
    throw new RefusedOperation(`${operation} (${error.name})`, { cause: error });
  };

/** What a DynamoDB refuses to do, such as `TransactWriteItems (UnknownOperationException)`; `undefined` if it is none. */
export const refusedOperation = (error: unknown): string | undefined =>
  error instanceof RefusedOperation ? error.message : undefined;

/** A DynamoDB that knows the operation finds the request empty, and does nothing. */
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

/** Throws unless a DynamoDB has every operation that the service asks of its table; `refusedOperation` names it. */
export const requireOperations = async (client: DynamoDBClient, table: string): Promise<void> => {
  for (const [operation, ask] of Object.entries(emptyRequests(client, table))) {
    await ask().catch((error: unknown) => {
      if (!(error instanceof Error) || error.name !== 'ValidationException') naming(operation)(error);
    });
  }
};
