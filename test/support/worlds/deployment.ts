import { type AttributeValue, DynamoDBClient, paginateQuery, paginateScan } from '@aws-sdk/client-dynamodb';
import { paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import { type Document, MongoClient } from 'mongodb';
import { localAccount } from '../../../infra/local/aws-account.ts';

export type Item = Readonly<Record<string, AttributeValue>>;

/** All that a deployment keeps, read past the service. */
export interface Deployment {
  readonly mongo: MongoClient;
  /** The records of a collection of the control database. */
  readonly control: (collection: string, filter?: Document) => Promise<Document[]>;
  /** The items of a partition. */
  readonly items: (partition: string) => Promise<Item[]>;
  readonly allItems: () => Promise<Item[]>;
  /** Key → bytes of the objects below a prefix. */
  readonly objects: (prefix: string) => Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

/** Opens what functions with this environment use. */
export const openDeployment = (env: Readonly<Record<string, string | undefined>>): Deployment => {
  const mongo = new MongoClient(env.MONGODB_URI ?? '', { maxPoolSize: 3 });
  const dynamo = new DynamoDBClient({ ...localAccount, endpoint: env.AWS_ENDPOINT_URL_DYNAMODB ?? '' });
  const credentials = { accessKeyId: env.AWS_ACCESS_KEY_ID ?? '', secretAccessKey: env.AWS_SECRET_ACCESS_KEY ?? '' };
  const place = { region: localAccount.region, endpoint: env.AWS_ENDPOINT_URL_S3 ?? '', forcePathStyle: true };
  const s3 = new S3Client({ ...place, credentials });
  const TableName = env.TABLE_NAME ?? 'basalt';
  const Bucket = env.FILES_BUCKET ?? 'basalt-files';
  return {
    mongo,
    control: (collection, filter = {}) =>
      mongo
        .db(env.CONTROL_DATABASE ?? 'control')
        .collection(collection)
        .find(filter)
        .toArray(),
    items: async (partition) => {
      const found: Item[] = [];
      const query = {
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: partition } },
      };
      for await (const { Items = [] } of paginateQuery({ client: dynamo }, query)) found.push(...Items);
      return found;
    },
    allItems: async () => {
      const found: Item[] = [];
      const scan = { TableName, ConsistentRead: true };
      for await (const { Items = [] } of paginateScan({ client: dynamo }, scan)) found.push(...Items);
      return found;
    },
    objects: async (prefix) => {
      const found = new Map<string, number>();
      for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket, Prefix: prefix })) {
        for (const { Key = '', Size = 0 } of Contents) found.set(Key, Size);
      }
      return found;
    },
    close: async () => {
      dynamo.destroy();
      s3.destroy();
      await mongo.close();
    },
  };
};
